"""The normalisations of timm by name."""

import torch.nn as nn
from timm.layers.norm import GroupNorm, GroupNorm1, LayerNorm, LayerNorm2d

_NORM_MAP = {
    "batchnorm": nn.BatchNorm2d, "batchnorm2d": nn.BatchNorm2d, "batchnorm1d": nn.BatchNorm1d, "groupnorm": GroupNorm,
    "groupnorm1": GroupNorm1, "layernorm": LayerNorm, "layernorm2d": LayerNorm2d,
}  # fmt: skip


def get_norm_layer(norm_layer):
    return _NORM_MAP[norm_layer.replace("_", "").lower()] if isinstance(norm_layer, str) and norm_layer else norm_layer


def create_norm_layer(layer_name, num_features, **kwargs):
    return get_norm_layer(layer_name)(num_features, **kwargs)

"""Normalisations of timm with an activation, by name or by the class without one."""

import functools

from timm.layers.norm_act import BatchNormAct2d, GroupNorm1Act, GroupNormAct, LayerNormAct, LayerNormAct2d

_NORM_ACT_MAP = {
    "batchnorm": BatchNormAct2d, "batchnorm2d": BatchNormAct2d, "groupnorm": GroupNormAct, "groupnorm1": GroupNorm1Act,
    "layernorm": LayerNormAct, "layernorm2d": LayerNormAct2d,
}  # fmt: skip


def get_norm_act_layer(norm_layer, act_layer=None):
    if not norm_layer:
        return None
    options = {}
    if isinstance(norm_layer, functools.partial):
        options.update(norm_layer.keywords)
        norm_layer = norm_layer.func
    if isinstance(norm_layer, str):
        norm_layer = _NORM_ACT_MAP[norm_layer.replace("_", "").lower().split("-")[0]]
    elif isinstance(norm_layer, type) and norm_layer not in _NORM_ACT_MAP.values():
        norm_layer = _NORM_ACT_MAP[norm_layer.__name__.lower()]
    if norm_layer in _NORM_ACT_MAP.values():
        options.setdefault("act_layer", act_layer)
    return functools.partial(norm_layer, **options) if options else norm_layer


def create_norm_act_layer(layer_name, num_features, act_layer=None, apply_act=True, jit=False, **kwargs):
    return get_norm_act_layer(layer_name, act_layer=act_layer)(num_features, apply_act=apply_act, **kwargs)

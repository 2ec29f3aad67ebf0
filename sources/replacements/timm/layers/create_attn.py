"""The attention layers of timm that its networks are built with most, by name."""

import torch.nn as nn
from timm.layers.eca import EcaModule
from timm.layers.squeeze_excite import EffectiveSEModule, SEModule


def get_attn(attn_type):
    if not isinstance(attn_type, (str, bool)) or not attn_type:
        return attn_type or None
    return {"se": SEModule, "ese": EffectiveSEModule, "eca": EcaModule}[
        "se" if attn_type is True else attn_type.lower()
    ]


def create_attn(attn_type, channels, **kwargs):
    kind = get_attn(attn_type)
    return kind if kind is None or isinstance(kind, nn.Module) else kind(channels, **kwargs)

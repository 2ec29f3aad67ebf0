"""The activations of timm by name."""

import functools

import torch.nn as nn
import torch.nn.functional as F

_LAYERS = {
    "silu": nn.SiLU, "swish": nn.SiLU, "mish": nn.Mish, "relu": nn.ReLU, "relu6": nn.ReLU6, "leaky_relu": nn.LeakyReLU,
    "elu": nn.ELU, "prelu": nn.PReLU, "celu": nn.CELU, "selu": nn.SELU, "gelu": nn.GELU,
    "gelu_tanh": functools.partial(nn.GELU, approximate="tanh"),
    "sigmoid": nn.Sigmoid, "tanh": nn.Tanh, "hard_sigmoid": nn.Hardsigmoid, "hardsigmoid": nn.Hardsigmoid,
    "hard_swish": nn.Hardswish, "hardswish": nn.Hardswish, "identity": nn.Identity,
}  # fmt: skip
_FUNCTIONS = {
    "silu": F.silu, "swish": F.silu, "mish": F.mish, "relu": F.relu, "relu6": F.relu6, "leaky_relu": F.leaky_relu, "elu": F.elu,
    "gelu": F.gelu, "sigmoid": F.sigmoid, "tanh": F.tanh, "hard_sigmoid": F.hardsigmoid, "hardsigmoid": F.hardsigmoid,
    "hard_swish": F.hardswish, "hardswish": F.hardswish,
}  # fmt: skip


def get_act_fn(name="relu"):
    return _FUNCTIONS[name.lower()] if isinstance(name, str) and name else name or None


def get_act_layer(name="relu"):
    return _LAYERS[name.lower()] if isinstance(name, str) and name else name or None


def create_act_layer(name, inplace=None, **kwargs):
    kind = get_act_layer(name)
    if kind is None or inplace is None:
        return None if kind is None else kind(**kwargs)
    try:
        return kind(inplace=inplace, **kwargs)
    except TypeError:
        return kind(**kwargs)

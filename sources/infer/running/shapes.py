"""Shapes without data, at once: what torch computes in Python on its ``meta`` device takes it milliseconds there.

A normalisation takes a hundred times what it takes with data, on few of them.

Only calls that surely succeed are answered here.  All others, and with them all errors, are torch's own.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from sources.infer.running.progress import RECURRENT

_LIKE = frozenset([
    "relu", "relu6", "gelu", "leaky_relu", "elu", "selu", "celu", "mish", "softplus", "softsign", "hardswish",
    "hardtanh", "hardsigmoid", "logsigmoid", "tanhshrink", "exp", "log", "abs", "neg", "sqrt", "rsqrt", "sin", "cos",
])  # fmt: skip
_PAIRED = frozenset(["add", "sub", "mul", "div", "true_divide", "pow", "__rsub__", "__rdiv__", "maximum", "minimum"])
_RANKS = {"linear": 3, "bilinear": 4, "bicubic": 4, "trilinear": 5}  # of what each mode resizes
_AFFINE = ("weight", "bias")
_RUNNING = ("running_mean", "running_var")


class Shapes(TorchFunctionMode):
    """While active, torch functions on tensors without data answer with a shape, where there is no doubt of it."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given: dict[str, Any] = kwargs or {}
        name = getattr(function, "__name__", "")
        with torch._C.DisableTorchFunction():  # of modes around this one, which each size that is read would pass
            result = _answer(name, args, given) if args else None
        return function(*args, **given) if result is None else result


def _answer(name: str, args: Sequence[Any], given: Mapping[str, Any]) -> Any:
    """The result of a function, None where torch is to tell."""
    if name in RECURRENT:
        return _recurrent(args)
    x = args[0]
    if not isinstance(x, torch.Tensor) or not x.is_meta or x.layout is not torch.strided:
        return None
    if name in _LIKE:
        return x.new_empty(x.shape) if x.is_floating_point() else None
    if name.removesuffix("_") in _PAIRED and len(args) == 2 and not given:
        return _paired(x, args[1], name)
    rule = _RULES.get(name)
    if rule is None or not x.is_floating_point():
        return None
    names, answer = rule
    return answer(x, {**dict(zip(names, args[1:], strict=False)), **given})


def _recurrent(args: Sequence[Any]) -> Any:
    """Of sequences of one length, which have their weights third: the layer's own class has looked at the shapes."""
    if len(args) <= 7 or not isinstance(args[2], list | tuple):
        return None
    states: Any = args[1] if isinstance(args[1], list | tuple) else (args[1],)
    width = states[0].shape[-1] * (2 if args[7] else 1)
    return args[0].new_empty((*args[0].shape[:-1], width)), *(torch.empty_like(s) for s in states)


def _paired(x: torch.Tensor, y: Any, name: str) -> torch.Tensor | None:
    """An operation on two tensors of one dtype, or on a tensor and a number."""
    inplace = name.endswith("_") and not name.startswith("_")
    if type(y) in (int, float):
        fits = x.is_floating_point() or name in ("add_", "mul_") and type(y) is int and x.dtype == torch.int64
        return (x if inplace else x.new_empty(x.shape)) if fits else None
    if not isinstance(y, torch.Tensor) or y.dtype != x.dtype or not y.is_meta or not x.is_floating_point():
        return None
    shape = x.shape if x.shape == y.shape else _broadcast(x.shape, y.shape)
    if shape is None or inplace and shape != x.shape:
        return None
    return x if inplace else x.new_empty(shape)


def _broadcast(one: torch.Size, other: torch.Size) -> torch.Size | None:
    pairs = [*itertools.zip_longest(reversed(one), reversed(other), fillvalue=1)]
    if any(a != b and 1 not in (a, b) for a, b in pairs):
        return None
    return torch.Size(b if a == 1 else a for a, b in reversed(pairs))


def _fit(x: torch.Tensor, shape: Sequence[int], given: Mapping[str, Any], names: Sequence[str]) -> bool:
    """Whether the tensors of these names, as far as they are given, are of a shape, and of the dtype of x."""
    tensors = [t for t in map(given.get, names) if t is not None]
    return all(isinstance(t, torch.Tensor) and t.shape == (*shape,) and t.dtype == x.dtype for t in tensors)


def _batch_norm(x: torch.Tensor, given: Mapping[str, Any]) -> torch.Tensor | None:
    several = x.dim() > 1 and x.numel() > x.shape[1]  # one value a channel is refused in training
    known = all(given.get(name) is not None for name in _RUNNING) or given.get("training") is True
    fits = several and known and _fit(x, x.shape[1:2], given, (*_RUNNING, *_AFFINE))
    return x.new_empty(x.shape) if fits else None


def _instance_norm(x: torch.Tensor, given: Mapping[str, Any]) -> torch.Tensor | None:
    several = x.dim() > 2 and x.numel() > x.shape[0] * x.shape[1]
    fits = (
        several and given.get("use_input_stats", True) is True and _fit(x, x.shape[1:2], given, (*_RUNNING, *_AFFINE))
    )
    return x.new_empty(x.shape) if fits else None


def _group_norm(x: torch.Tensor, given: Mapping[str, Any]) -> torch.Tensor | None:
    groups = given.get("num_groups")
    several = x.dim() > 1 and type(groups) is int and 0 < groups < x.numel() and x.shape[1] % groups == 0
    return x.new_empty(x.shape) if several and _fit(x, x.shape[1:2], given, _AFFINE) else None


def _layer_norm(x: torch.Tensor, given: Mapping[str, Any]) -> torch.Tensor | None:
    normalized = given.get("normalized_shape")
    if not isinstance(normalized, list | tuple) or not normalized or x.shape[-len(normalized) :] != (*normalized,):
        return None
    return x.new_empty(x.shape) if _fit(x, normalized, given, _AFFINE) else None


def _dropout(x: torch.Tensor, given: Mapping[str, Any]) -> torch.Tensor | None:
    p = given.get("p", 0.5)
    return x.new_empty(x.shape) if type(p) in (int, float) and 0 <= p <= 1 else None


def _linear(x: torch.Tensor, given: Mapping[str, Any]) -> torch.Tensor | None:
    weight = given.get("weight")
    if not isinstance(weight, torch.Tensor) or weight.dim() != 2 or not x.dim() or weight.dtype != x.dtype:
        return None
    fits = x.shape[-1] == weight.shape[1] and _fit(x, weight.shape[:1], given, ("bias",))
    return x.new_empty((*x.shape[:-1], weight.shape[0])) if fits else None


def _attention(query: torch.Tensor, given: Mapping[str, Any]) -> torch.Tensor | None:
    key, value, mask = (given.get(name) for name in ("key", "value", "attn_mask"))
    if not isinstance(key, torch.Tensor) or not isinstance(value, torch.Tensor) or query.dim() < 3:
        return None
    same = query.dtype == key.dtype == value.dtype and query.shape[:-2] == key.shape[:-2] == value.shape[:-2]
    fits = same and query.shape[-1] == key.shape[-1] and key.shape[-2] == value.shape[-2]
    plain = mask is None and not given.get("enable_gqa")
    return query.new_empty((*query.shape[:-1], value.shape[-1])) if fits and plain else None


def _interpolate(x: torch.Tensor, given: Mapping[str, Any]) -> torch.Tensor | None:
    mode, rank = given.get("mode", "nearest"), x.dim()
    plain = mode == "nearest" and 2 < rank < 6 and given.get("align_corners") is None
    size, factor = given.get("size"), given.get("scale_factor")
    if not (plain or _RANKS.get(mode) == rank) or (size is None) == (factor is None):
        return None
    asked: Any = size if factor is None else factor
    each = [*asked] if isinstance(asked, list | tuple) else [asked] * (rank - 2)
    if len(each) != rank - 2 or not all(type(e) in (int, float) and e > 0 for e in each):
        return None
    if factor is not None:
        each = [math.floor(float(n) * e) for n, e in zip(x.shape[2:], each, strict=True)]
    fits = all(type(n) is int and n > 0 for n in each) and x.numel() > 0
    return x.new_empty((*x.shape[:2], *each)) if fits else None


# The names of a function's parameters after the first, and what answers for it.
_RULES: dict[str, tuple[tuple[str, ...], Callable[[torch.Tensor, Mapping[str, Any]], torch.Tensor | None]]] = {
    "batch_norm": ((*_RUNNING, *_AFFINE, "training"), _batch_norm),
    "instance_norm": ((*_RUNNING, *_AFFINE, "use_input_stats"), _instance_norm),
    "group_norm": (("num_groups", *_AFFINE), _group_norm),
    "layer_norm": (("normalized_shape", *_AFFINE), _layer_norm),
    "rms_norm": (("normalized_shape", "weight"), _layer_norm),
    "dropout": (("p",), _dropout),
    "linear": (_AFFINE, _linear),
    "scaled_dot_product_attention": (("key", "value", "attn_mask"), _attention),
    "interpolate": (("size", "scale_factor", "mode", "align_corners"), _interpolate),
    "upsample": (("size", "scale_factor", "mode", "align_corners"), _interpolate),
}

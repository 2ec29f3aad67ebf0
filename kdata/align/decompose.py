"""Operators said in views, elementwise operators, reductions and matmuls, so that Inductor writes Triton for them.

Inductor calls ATen for convolution, some poolings and attention.  Most convolutions and poolings are kept whole, as
kernels of their own (see ``kdata.align.windowed``); the others, as windows (strided views) and a matmul or a reduction,
fuse with what stands around them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch._decomp import decomposition_table
from torch._inductor.decomposition import select_decomp_table
from torch.nn import functional

from kdata.align import windowed
from kdata.align.pooling import POOLINGS, windows

aten = torch.ops.aten


@cache
def decompositions() -> dict[Any, Callable[..., Any]]:
    """Inductor's table for inference, with ours over it."""
    flash = aten._scaled_dot_product_flash_attention_for_cpu.default  # what a task may choose for itself
    return {**select_decomp_table(), flash: decomposition_table[flash], **OURS}


def convolution(
    x: Tensor, weight: Tensor, bias: Tensor | None, stride: list[int], padding: list[int], dilation: list[int],
    transposed: bool, output_padding: list[int], groups: int,
) -> Any:  # fmt: skip
    """``aten.convolution`` in 1 to 3 dimensions: kept whole, or as padding, windows and one batched matmul."""
    batched = x.dim() == weight.dim()
    if not batched:
        x = x.unsqueeze(0)
    whole = windowed.convolution(x, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
    if whole is not NotImplemented:
        return whole if batched else whole.squeeze(0)
    if transposed:
        x, weight = _as_plain_convolution(x, weight, stride, padding, dilation, output_padding, groups)
        stride = [1] * len(stride)
    else:
        x = functional.pad(x, [p for amount in reversed(padding) for p in (amount, amount)])
    y = _windows_times_weight(x, weight, stride, dilation, groups)
    if bias is not None:
        y = y + bias.reshape(1, -1, *[1] * (y.dim() - 2))
    return y if batched else y.squeeze(0)


def _as_plain_convolution(
    x: Tensor, weight: Tensor, stride: list[int], padding: list[int], dilation: list[int],
    output_padding: list[int], groups: int,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """A transposed convolution's input, stretched by zeros and padded, and its weight, flipped: stride is 1 then."""
    dims = len(stride)
    for axis in range(dims):
        if stride[axis] > 1:
            zeros = (0, 0) * (dims - 1 - axis) + (0, stride[axis] - 1)
            x = functional.pad(x.unsqueeze(3 + axis), zeros).flatten(2 + axis, 3 + axis)
    pad: list[int] = []
    for axis in reversed(range(dims)):
        reach = dilation[axis] * (weight.shape[2 + axis] - 1) - padding[axis]
        pad += [reach, reach + output_padding[axis] - (stride[axis] - 1)]
    c_in, c_out_group, *kernel = weight.shape
    weight = weight.flip(list(range(2, 2 + dims))).reshape(groups, c_in // groups, c_out_group, *kernel)
    return functional.pad(x, pad), weight.transpose(1, 2).reshape(groups * c_out_group, c_in // groups, *kernel)


def _windows_times_weight(x: Tensor, weight: Tensor, stride: list[int], dilation: list[int], groups: int) -> Tensor:
    """Convolution of a padded input ``[N, C, *spatial]`` and ``[C_out, C / groups, *kernel]``: ``[N, C_out, *out]``."""
    dims = x.dim() - 2
    (n, c_in), (c_out, _, *kernel) = x.shape[:2], weight.shape
    fields = windows(x, kernel, stride, dilation)
    out = list(fields.shape[2 : 2 + dims])
    fields = fields.reshape(n, groups, c_in // groups, *out, *kernel)
    spatial, taps = list(range(3, 3 + dims)), list(range(3 + dims, 3 + 2 * dims))
    a = fields.permute(1, 0, *spatial, 2, *taps).reshape(groups, -1, c_in // groups * weight[0, 0].numel())
    b = weight.reshape(groups, c_out // groups, -1).transpose(1, 2)
    if c_out == groups:  # depthwise: one column a group is a reduction, not a matmul
        y = (a * b.transpose(1, 2)).sum(-1, keepdim=True)
    else:
        y = a @ b if groups > 1 else (a[0] @ b[0])[None]
    y = y.reshape(groups, n, *out, c_out // groups)
    return y.permute(1, 0, 2 + dims, *range(2, 2 + dims)).reshape(n, c_out, *out)


def var_mean(
    x: Tensor, dim: list[int] | None = None, *, correction: float | None = None, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    """Two passes, mean then squared distance: as accurate as Welford's recurrence and two plain reductions."""
    axes = list(range(x.dim())) if dim is None else [d % x.dim() for d in dim]
    mean = x.mean(axes, keepdim=True)
    count = math.prod(x.shape[d] for d in axes) - (1 if correction is None else correction)
    variance = (x - mean).square().sum(axes, keepdim=keepdim) / count
    return variance, mean if keepdim else mean.reshape(variance.shape)


def var(x: Tensor, dim: list[int] | None = None, *, correction: float | None = None, keepdim: bool = False) -> Tensor:
    """``aten.var.correction``."""
    return var_mean(x, dim, correction=correction, keepdim=keepdim)[0]


def group_norm(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, n: int, c: int, positions: int, group: int, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """``aten.native_group_norm``: one program a group, weight and bias included."""
    parts = x.reshape(n, group, c // group, positions)
    wide = parts.to(torch.float32) if parts.dtype in (torch.float16, torch.bfloat16) else parts
    variance, mean = var_mean(wide, [2, 3], correction=0, keepdim=True)
    rstd = torch.rsqrt(variance + eps)
    out = (wide - mean) * rstd
    if weight is not None:
        out = out * weight.reshape(group, c // group, 1)
    if bias is not None:
        out = out + bias.reshape(group, c // group, 1)
    told = (mean.reshape(n, group).to(x.dtype), rstd.reshape(n, group).to(x.dtype))
    out = out.to(x.dtype)
    # Of symbols it is not known that groups of channels are all channels, and a view that is not known copies.
    strides = [math.prod(x.shape[axis + 1 :]) for axis in range(x.dim())]
    return out.reshape(x.shape) if isinstance(c, int) else out.contiguous().as_strided(x.shape, strides), *told


def mm(a: Tensor, b: Tensor) -> Any:
    """A product with a single row or column is a reduction; NotImplemented leaves the rest to ``tl.dot``."""
    if _is_one(a.shape[-1]):
        return a * b
    if _is_one(a.shape[-2]) or _is_one(b.shape[-1]) or a.dtype in (torch.float64, torch.int64):
        return (a.unsqueeze(-1) * b.unsqueeze(-3)).sum(-2)
    return NotImplemented


def addmm(bias: Tensor, a: Tensor, b: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """``beta * bias + alpha * a @ b``."""
    product = a @ b if alpha == 1 else alpha * (a @ b)
    total: Tensor = product + (bias if beta == 1 else beta * bias)
    return total


def logical_not(x: Tensor) -> Tensor:
    """``aten.logical_not``; torch's own reference says ``~x``, which asks for a real device."""
    return x.bitwise_not() if x.dtype is torch.bool else x == 0


def _is_one(size: Any) -> bool:
    return isinstance(size, int) and size == 1


def trilinear(
    a: Tensor, b: Tensor, c: Tensor, expand_a: list[int], expand_b: list[int], expand_c: list[int], sums: list[int],
    unroll_dim: int = 1,
) -> Tensor:  # fmt: skip
    """``aten._trilinear``, which ``nn.Bilinear`` is made of."""
    for axes in (expand_a, expand_b, expand_c):
        x, a, b = a, b, c
        for axis in sorted(axes):
            x = x.unsqueeze(axis)
        c = x
    return (a * b * c).sum(sums)


def embedding_bag(
    weight: Tensor, indices: Tensor, offsets: Tensor, scale_grad_by_freq: bool = False, mode: int = 0,
    sparse: bool = False, per_sample_weights: Tensor | None = None, include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """``aten._embedding_bag``: for every bag the sum (0), mean (1) or maximum (2) of its rows.

    The other results are for the gradient, which nothing here asks for.
    """
    count = indices.shape[0]
    place = torch.arange(count, device=indices.device)
    starts = offsets[:-1] if include_last_offset else offsets
    ends = offsets[1:] if include_last_offset else torch.cat([offsets[1:], torch.zeros_like(offsets[:1]) + count])
    inside = (place >= starts.unsqueeze(1)) & (place < ends.unsqueeze(1)) & (indices != padding_idx)
    rows = weight[indices] if per_sample_weights is None else weight[indices] * per_sample_weights.unsqueeze(1)
    member = inside.unsqueeze(-1)
    if mode == 2:
        best = torch.where(member, rows, float("-inf")).amax(1)
        bags = torch.where(inside.any(1, keepdim=True), best, 0.0)
    else:
        bags = torch.where(member, rows, 0.0).sum(1)
        bags = bags / inside.sum(1, keepdim=True).clamp_min(1) if mode == 1 else bags
    unused = offsets.new_empty(0)
    return bags, unused, unused, unused


def cdist(a: Tensor, b: Tensor, p: float, compute_mode: int | None = None) -> Tensor:
    """``aten._cdist_forward``: the p-norm of every difference of rows."""
    distance = (a.unsqueeze(-2) - b.unsqueeze(-3)).abs()
    if p == float("inf"):
        return distance.amax(-1)
    if p == 2:
        return distance.square().sum(-1).sqrt()
    return distance.sum(-1) if p == 1 else distance.pow(p).sum(-1).pow(1 / p)


OURS: dict[Any, Callable[..., Any]] = {
    aten.convolution.default: convolution,
    aten.var_mean.correction: var_mean,
    aten.var.correction: var,
    aten.native_group_norm.default: group_norm,
    aten.mm.default: mm,
    aten.bmm.default: mm,
    aten.addmm.default: addmm,
    aten.logical_not.default: logical_not,
    aten._cdist_forward.default: cdist,
    aten._trilinear.default: trilinear,
    aten._embedding_bag.default: embedding_bag,
    aten._embedding_bag_forward_only.default: embedding_bag,
    **POOLINGS,
}

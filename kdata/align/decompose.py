"""Operators said in views, elementwise operators, reductions and matmuls, so that Inductor writes Triton for them.

Inductor calls ATen for convolution, some poolings and attention.  Decomposed into windows (strided views) and a matmul
or a reduction they fuse with what stands around them into one kernel: implicit GEMM, nothing is materialised.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch._inductor.decomposition import select_decomp_table
from torch.nn import functional

aten = torch.ops.aten
LARGEST_UNROLLED_WINDOW = 25  # Inductor unrolls max pooling up to here


@cache
def decompositions() -> dict[Any, Callable[..., Any]]:
    """Inductor's table for inference, with ours over it."""
    return {**select_decomp_table(), **OURS}


def windows(x: Tensor, kernel: list[int], stride: list[int], dilation: list[int]) -> Tensor:
    """View ``[N, C, *spatial]`` as ``[N, C, *out, *kernel]``: the receptive field of every output."""
    for axis, (k, s, d) in enumerate(zip(kernel, stride, dilation, strict=True)):
        x = x.unfold(2 + axis, d * (k - 1) + 1, s)[..., ::d]
    return x


def convolution(
    x: Tensor, weight: Tensor, bias: Tensor | None, stride: list[int], padding: list[int], dilation: list[int],
    transposed: bool, output_padding: list[int], groups: int,
) -> Tensor:  # fmt: skip
    """``aten.convolution`` in 1 to 3 dimensions, as padding, windows and one batched matmul."""
    batched = x.dim() == weight.dim()
    if not batched:
        x = x.unsqueeze(0)
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


def _per_axis(value: list[int] | int, dims: int, default: list[int] | None = None) -> list[int]:
    given = [value] if isinstance(value, int) else list(value)
    given = given or default or [1]
    return given * dims if len(given) == 1 else given


def _pooled_windows(
    x: Tensor, kernel: list[int], stride: list[int], padding: list[int], ceil: bool, fill: float
) -> Tensor:
    """Windows of a padded input, with the last partial window where ``ceil`` asks for it."""
    pads: list[int] = []
    for axis in reversed(range(len(kernel))):
        k, s, p = kernel[axis], stride[axis], padding[axis]
        size = x.shape[x.dim() - len(kernel) + axis]
        extra = 0
        if ceil:
            steps = (size + 2 * p - k + s - 1) // s
            steps = steps - 1 if steps * s >= size + p else steps
            extra = max(0, steps * s + k - size - 2 * p)
        pads += [p, p + extra]
    if any(not isinstance(p, int) or p for p in pads):
        x = functional.pad(x, pads, value=fill)
    return windows(x, kernel, stride, [1] * len(kernel))


def _avg_pool(dims: int) -> Callable[..., Tensor]:
    def avg_pool(
        x: Tensor, kernel_size: list[int], stride: list[int] = [], padding: list[int] = [0], ceil_mode: bool = False,  # noqa: B006
        count_include_pad: bool = True, divisor_override: int | None = None,
    ) -> Tensor:  # fmt: skip
        """``aten.avg_pool{1,2,3}d``."""
        kernel = _per_axis(kernel_size, dims)
        steps, pad = _per_axis(stride, dims, kernel), _per_axis(padding, dims)
        batched = x if x.dim() == dims + 2 else x.unsqueeze(0)
        taps = list(range(-dims, 0))
        total = _pooled_windows(batched, kernel, steps, pad, ceil_mode, 0.0).sum(taps)
        if divisor_override or ((count_include_pad or not any(pad)) and not ceil_mode):
            pooled = total / (divisor_override or math.prod(kernel))
        else:
            ones = torch.ones_like(batched[:1, :1])
            inside = functional.pad(
                ones, [p for amount in reversed(pad) for p in (amount, amount)], value=float(count_include_pad)
            )
            pooled = total / _pooled_windows(inside, kernel, steps, [0] * dims, ceil_mode, 0.0).sum(taps)
        return pooled if x.dim() == dims + 2 else pooled.squeeze(0)

    return avg_pool


def _max_pool(dims: int) -> Callable[..., Any]:
    def max_pool(
        x: Tensor, kernel_size: list[int], stride: list[int] = [], padding: list[int] = [0], dilation: list[int] = [1],  # noqa: B006
        ceil_mode: bool = False,
    ) -> Any:  # fmt: skip
        """``aten.max_pool{2,3}d_with_indices`` for windows too large to unroll, whose indices nothing reads."""
        kernel = _per_axis(kernel_size, dims)
        steps, pad = _per_axis(stride, dims, kernel), _per_axis(padding, dims)
        if dims == 2 and math.prod(kernel) <= LARGEST_UNROLLED_WINDOW and all(d == 1 for d in dilation):
            return NotImplemented
        batched = x if x.dim() == dims + 2 else x.unsqueeze(0)
        gaps = _per_axis(dilation, dims)
        reach = [g * (k - 1) + 1 for g, k in zip(gaps, kernel, strict=True)]
        pooled = _pooled_windows(batched, reach, steps, pad, ceil_mode, float("-inf"))
        for axis, gap in zip(range(-dims, 0), gaps, strict=True):
            pooled = aten.slice(pooled, axis, 0, None, gap) if gap != 1 else pooled
        pooled = pooled.amax(list(range(-dims, 0)))
        pooled = pooled if x.dim() == dims + 2 else pooled.squeeze(0)
        return pooled, torch.full_like(pooled, -1, dtype=torch.int64)

    return max_pool


def _membership(size: Any, bins: int, like: Tensor) -> Tensor:
    """``[size, bins]``: whether an element belongs to a bin of adaptive pooling."""
    element = torch.arange(size, device=like.device).unsqueeze(1)
    index = torch.arange(bins, device=like.device)
    start, end = index * size // bins, ((index + 1) * size + bins - 1) // bins
    inside: Tensor = (element >= start) & (element < end)
    return inside


def adaptive_avg_pool(x: Tensor, output_size: list[int]) -> Tensor:
    """``aten._adaptive_avg_pool{2,3}d``: axis by axis, each a mean over a bin of elements."""
    for axis, bins in zip(range(x.dim() - len(output_size), x.dim()), output_size, strict=True):
        if bins == 1:
            x = x.mean(axis, keepdim=True)
        elif isinstance(x.shape[axis], int) and x.shape[axis] % bins == 0:
            x = x.reshape(*x.shape[:axis], bins, x.shape[axis] // bins, *x.shape[axis + 1 :]).mean(axis + 1)
        else:
            member = _membership(x.shape[axis], bins, x)
            moved = x.movedim(axis, -1).unsqueeze(-1)
            x = (torch.where(member, moved, 0.0).sum(-2) / member.sum(0)).movedim(-1, axis)
    return x


def adaptive_max_pool(x: Tensor, output_size: list[int]) -> tuple[Tensor, Tensor]:
    """``aten.adaptive_max_pool{2,3}d``; nothing reads the indices."""
    for axis, bins in zip(range(x.dim() - len(output_size), x.dim()), output_size, strict=True):
        member = _membership(x.shape[axis], bins, x)
        moved = x.movedim(axis, -1).unsqueeze(-1)
        x = torch.where(member, moved, float("-inf")).amax(-2).movedim(-1, axis)
    return x, torch.full_like(x, -1, dtype=torch.int64)


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
    aten.mm.default: mm,
    aten.bmm.default: mm,
    aten.addmm.default: addmm,
    aten.logical_not.default: logical_not,
    aten.avg_pool1d.default: _avg_pool(1),
    aten.avg_pool2d.default: _avg_pool(2),
    aten.avg_pool3d.default: _avg_pool(3),
    aten.max_pool2d_with_indices.default: _max_pool(2),
    aten.max_pool3d_with_indices.default: _max_pool(3),
    aten._adaptive_avg_pool2d.default: adaptive_avg_pool,
    aten._adaptive_avg_pool3d.default: adaptive_avg_pool,
    aten.adaptive_max_pool2d.default: adaptive_max_pool,
    aten.adaptive_max_pool3d.default: adaptive_max_pool,
    aten._cdist_forward.default: cdist,
}

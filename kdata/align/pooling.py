"""Poolings kept whole, or said in windows (strided views), reductions and masks."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from kdata.align import windowed

aten = torch.ops.aten
LARGEST_UNROLLED_WINDOW = 25  # Inductor unrolls max pooling up to here


def windows(x: Tensor, kernel: list[int], stride: list[int], dilation: list[int]) -> Tensor:
    """View ``[N, C, *spatial]`` as ``[N, C, *out, *kernel]``: the receptive field of every output."""
    for axis, (k, s, d) in enumerate(zip(kernel, stride, dilation, strict=True)):
        x = x.unfold(2 + axis, d * (k - 1) + 1, s)[..., ::d]
    return x


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
    ) -> Any:  # fmt: skip
        """``aten.avg_pool{1,2,3}d``."""
        kernel = _per_axis(kernel_size, dims)
        steps, pad = _per_axis(stride, dims, kernel), _per_axis(padding, dims)
        batched = x if x.dim() == dims + 2 else x.unsqueeze(0)
        if not ceil_mode and divisor_override is None:
            kind = "avg" if count_include_pad or not any(pad) else "avg_inside"
            whole: Any = _whole(batched, kind, kernel, steps, pad, [1] * dims)
            if whole is not NotImplemented:
                return whole if x.dim() == dims + 2 else whole.squeeze(0)
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
        """``aten.max_pool{2,3}d_with_indices`` for windows too large to unroll."""
        kernel = _per_axis(kernel_size, dims)
        steps, pad = _per_axis(stride, dims, kernel), _per_axis(padding, dims)
        gaps = _per_axis(dilation, dims)
        batched = x if x.dim() == dims + 2 else x.unsqueeze(0)
        whole = NotImplemented if ceil_mode else _whole(batched, "max", kernel, steps, pad, gaps)
        unrolled = dims == 2 and math.prod(kernel) <= LARGEST_UNROLLED_WINDOW and all(d == 1 for d in gaps)
        if unrolled and whole is NotImplemented:
            return NotImplemented
        reach = [g * (k - 1) + 1 for g, k in zip(gaps, kernel, strict=True)]
        fields = _pooled_windows(batched, reach, steps, pad, ceil_mode, float("-inf"))
        for axis, gap in zip(range(-dims, 0), gaps, strict=True):
            fields = aten.slice(fields, axis, 0, None, gap) if gap != 1 else fields
        pooled = fields.amax(list(range(-dims, 0))) if whole is NotImplemented else whole
        index = _window_index(batched, fields, kernel, steps, pad, gaps)
        return (pooled, index) if x.dim() == dims + 2 else (pooled.squeeze(0), index.squeeze(0))

    return max_pool


def _whole(x: Tensor, kind: str, kernel: list[int], stride: list[int], padding: list[int], dilation: list[int]) -> Any:
    """The pooling kept whole; over a line where the image is one, as those in one dimension are when traced."""
    numbers = kernel, stride, padding, dilation
    if len(kernel) == 2 and kernel[0] == 1 and padding[0] == 0 and _is_line(x):
        pooled = windowed.pool(x.squeeze(-2), kind, *(n[1:] for n in numbers))
        return pooled if pooled is NotImplemented else pooled.unsqueeze(-2)
    return windowed.pool(x, kind, *numbers)


def _is_line(x: Tensor) -> bool:
    return isinstance(x.shape[-2], int) and x.shape[-2] == 1


def _window_index(
    x: Tensor, fields: Tensor, kernel: list[int], stride: list[int], padding: list[int], dilation: list[int]
) -> Tensor:
    """Where in the flattened image the largest element of every window is."""
    dims = len(kernel)
    tap = fields.flatten(-dims).argmax(-1)
    index = torch.zeros_like(tap)
    for axis in range(dims):
        place = tap // math.prod(kernel[axis + 1 :]) % kernel[axis] * dilation[axis] - padding[axis]
        start = torch.arange(tap.shape[2 + axis], device=x.device) * stride[axis]
        index = index * x.shape[2 + axis] + place + start.reshape(-1, *[1] * (dims - 1 - axis))
    return index


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
    """``aten.adaptive_max_pool{2,3}d``: the last axis first, so that of equal values the first one is found."""
    step: Any = 1
    index: Tensor | None = None
    for axis, bins in reversed(list(zip(range(x.dim() - len(output_size), x.dim()), output_size, strict=True))):
        size = x.shape[axis]
        inside = torch.where(_membership(size, bins, x), x.movedim(axis, -1).unsqueeze(-1), float("-inf"))
        best = inside.argmax(-2).movedim(-1, axis)
        index = best * step if index is None else best * step + index.gather(axis, best)
        x, step = inside.amax(-2).movedim(-1, axis), step * size
    assert index is not None
    return x, index


POOLINGS: dict[Any, Callable[..., Any]] = {
    aten.avg_pool1d.default: _avg_pool(1),
    aten.avg_pool2d.default: _avg_pool(2),
    aten.avg_pool3d.default: _avg_pool(3),
    aten.max_pool2d_with_indices.default: _max_pool(2),
    aten.max_pool3d_with_indices.default: _max_pool(3),
    aten._adaptive_avg_pool2d.default: adaptive_avg_pool,
    aten._adaptive_avg_pool3d.default: adaptive_avg_pool,
    aten.adaptive_max_pool2d.default: adaptive_max_pool,
    aten.adaptive_max_pool3d.default: adaptive_max_pool,
}

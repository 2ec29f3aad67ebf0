"""Reductions and scans of Triton's interpreter, faster and as a GPU has them. In the host's child."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter

Array = np.ndarray[Any, np.dtype[Any]]


def mend() -> Any:
    """Put them in place of the interpreter's own; its class of reductions."""
    names = vars(interpreter)
    reduce, scan = names["ReduceOps"], names["ScanOps"]
    reduce.generic_reduce, scan.generic_scan = _reduce, _scan
    reduce.sum = _sum
    return reduce


def _sum(self: Any, given: Any) -> Any:
    """A sum of integers in their own type, beyond whose ends it wraps as on a GPU; numpy would add in 64 bits."""
    data = given.handle.data
    dtype = data.dtype if data.dtype.kind in "iu" else None
    return self.to_tensor(np.sum(data, axis=self.axis, keepdims=self.keep_dims, dtype=dtype), given.dtype)


def _combine(self: Any, left: list[Array], right: list[Array], dtypes: list[Any]) -> list[Array]:
    """The combine function on two lists of arrays of equal shape."""
    arguments = [
        self.to_tensor(data, dtype) for data, dtype in zip(itertools.chain(left, right), dtypes * 2, strict=True)
    ]
    combine = self.combine_fn
    plain = combine.rewrite() if isinstance(combine, vars(interpreter)["InterpretedFunction"]) else combine.fn
    result = plain(*arguments)  # as compiled, where the interpreter's own calls what was written: ``a or b``
    results = result if isinstance(result, tuple) else (result,)
    shape = left[0].shape
    return [_spread(r, shape, like.dtype) for r, like in zip(results, left, strict=True)]


def _spread(value: Any, shape: tuple[int, ...], dtype: Any) -> Array:
    data = value.handle.data if isinstance(value, tl.core.tensor) else np.asarray(value)
    return np.broadcast_to(data.astype(dtype), shape)


def _reduce(self: Any, given: tuple[Any, ...]) -> list[Any]:
    """Neighbours are combined, then neighbours of these: the order of the elements is kept."""
    rank = len(given[0].handle.data.shape)
    parts, axis = self.unravel(given, self.axis)
    dtypes = [p.dtype for p in parts]
    data = [np.moveaxis(p.handle.data, axis, 0) for p in parts]
    while (count := data[0].shape[0]) > 1:
        even = count // 2 * 2
        rest = [d[even:] for d in data]
        joined = _combine(self, [d[0:even:2] for d in data], [d[1:even:2] for d in data], dtypes)
        data = [np.concatenate([j, r]) for j, r in zip(joined, rest, strict=True)]
    return [self.to_tensor(_reduced(self, d[0], axis, rank), dtype) for d, dtype in zip(data, dtypes, strict=True)]


def _reduced(self: Any, data: Array, axis: int, rank: int) -> Any:
    if self.keep_dims:
        return np.expand_dims(data, axis) if self.axis is not None else data.reshape((1,) * rank)
    return data.item() if data.ndim == 0 else data


def _scan(self: Any, given: tuple[Any, ...]) -> list[Any]:
    """Hillis and Steele's scan: log2(n) steps over whole slices."""
    dtypes = [p.dtype for p in given]
    data = [np.moveaxis(p.handle.data, self.axis, 0).copy() for p in given]
    distance = 1
    while distance < data[0].shape[0]:
        joined = _combine(self, [np.roll(d, distance, axis=0) for d in data], data, dtypes)  # shapes stay powers of two
        data = [np.concatenate([d[:distance], j[distance:]]) for d, j in zip(data, joined, strict=True)]
        distance *= 2
    return [self.to_tensor(np.moveaxis(d, 0, self.axis), dtype) for d, dtype in zip(data, dtypes, strict=True)]

"""Ways to hand a forward the same values that its trials do not: other memory, other switches. In the host's child.

A wrapper may ask about each of them, and do something else there; which it does is seen by ``candidate.arms``.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import torch
from torch import Tensor, from_numpy, nn
from torch.utils._pytree import tree_flatten, tree_map_only, tree_unflatten

from kdata.verify.interpreter import pretence, streams

MOST = 4  # inputs that are handed over so, one after another
SEED = 42
PAGE = 1 << 21  # bytes, the largest that GPUs have
HERE = frozenset({"card", "stream", "paged"})  # told by what stands in for a GPU


class Kind(Tensor):
    """A tensor of another class, as frameworks have them."""


def _strided(tensor: Tensor) -> Tensor:
    return torch.stack([tensor, tensor], -1)[..., 0]


def _offset(tensor: Tensor) -> Tensor:
    room = tensor.new_zeros(tensor.numel() + 2)[1:-1].view(tensor.shape)
    return room.copy_(tensor)


def _transposed(tensor: Tensor) -> Tensor:
    return tensor.mT.contiguous().mT if tensor.ndim > 1 else tensor


def _padded(tensor: Tensor) -> Tensor:
    room = tensor.new_zeros((*tensor.shape[:-1], tensor.shape[-1] + 1))[..., :-1] if tensor.ndim > 1 else tensor
    return room.copy_(tensor) if tensor.ndim > 1 else tensor


def _channels_last(tensor: Tensor) -> Tensor:
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    return tensor.contiguous(memory_format=formats[tensor.ndim]) if tensor.ndim in formats else tensor


def _spread(tensor: Tensor) -> Tensor:
    """Rows, or columns, that are one, with a step of none between them; as it is where they differ."""
    if tensor.ndim > 1 and tensor.numel():
        for dim in (0, tensor.ndim - 1):
            one = tensor.narrow(dim, 0, 1)
            if tensor.shape[dim] > 1 and bool((tensor == one).all()):
                return one.expand_as(tensor)
    return tensor


def windows(numbers: Tensor, shape: Sequence[int]) -> Tensor:
    """Rows that begin one element after another in memory, and so share all but one."""
    steps = [math.prod(shape[dim + 1 : -1]) for dim in range(len(shape) - 1)]
    return numbers.as_strided(shape, (*steps, 1))


def _overlapped(tensor: Tensor) -> Tensor:
    """Such rows, where it is these; as it is where not."""
    if tensor.ndim < 2 or not tensor.numel():
        return tensor
    rows = tensor.reshape(-1, tensor.shape[-1])
    view = windows(torch.cat([rows[:, 0], rows[-1, 1:]]), tensor.shape)
    return view if bool((view == tensor).all()) else tensor


def _derived(tensor: Tensor) -> Tensor:
    return tensor.requires_grad_() * 1 if tensor.is_floating_point() else tensor


def _parameter(tensor: Tensor) -> Tensor:
    if not tensor.is_floating_point():
        return tensor
    parameter = nn.Parameter(tensor)
    parameter.grad = torch.zeros_like(tensor)
    return parameter


def _inferred(tensor: Tensor) -> Tensor:
    with torch.inference_mode():
        return tensor.clone()


def _paged(tensor: Tensor) -> Tensor:
    """In memory that begins where a page does, as large blocks of an allocator do."""
    memory = np.empty(tensor.nbytes + PAGE, np.uint8)
    memory = memory[-memory.ctypes.data % PAGE :][: tensor.nbytes]
    room = from_numpy(memory).view(tensor.dtype).view(tensor.shape)
    return room.copy_(tensor)


CUT, SPREAD, OVERLAPPED = "cut", "spread", "overlapped"
TENSORS: dict[str, Callable[[Tensor], Tensor]] = {
    "strided": _strided, "offset": _offset, "transposed": _transposed, "padded": _padded,
    "channels last": _channels_last, "paged": _paged, SPREAD: _spread, OVERLAPPED: _overlapped,
    "derived": _derived, "parameter": _parameter, "inferred": _inferred, "kind": lambda t: t.as_subclass(Kind),
}  # fmt: skip
DTYPES = ("float64", "float16", "bfloat16")


def count(way: str, inputs: Any) -> int:
    """How many calls a way comes to: one an input, where it is about inputs."""
    tensors = [t for t in tree_flatten(inputs)[0] if isinstance(t, Tensor)]
    if way in HERE and not pretence.is_presented():
        return 0
    return min(len(tensors), MOST) if way in TENSORS else 1


def handed(way: str, number: Any, inputs: Any) -> Any:
    """The inputs, of which one, or all that have a fraction, are handed over so; of a cut ``number`` says which."""
    leaves, form = tree_flatten(inputs)
    places = [n for n, t in enumerate(leaves) if isinstance(t, Tensor)]
    if way in TENSORS:
        place = places[number]
        leaves[place] = TENSORS[way](leaves[place])
    elif way == CUT:
        return cut(inputs, number)
    elif way in DTYPES:
        dtype = getattr(torch, way)
        leaves = [t.to(dtype) if isinstance(t, Tensor) and t.is_floating_point() else t for t in leaves]
    return tree_unflatten(leaves, form)


def cut(inputs: Any, sizes: Sequence[tuple[int, int]]) -> Any:
    """The inputs with fewer elements wherever a dimension has one of these sizes: pairs of a size and how many stay."""
    kept = dict(sizes)

    def some(tensor: Tensor) -> Tensor:
        for dim, size in enumerate(tensor.shape):
            tensor = tensor.narrow(dim, 0, kept.get(size, size))
        return tensor.contiguous()

    return tree_map_only(Tensor, some, inputs)


def plain(way: str, outputs: Any) -> Any:
    """What came back, with tensors of the other class as ordinary ones."""
    return tree_map_only(Kind, lambda t: t.as_subclass(Tensor), outputs) if way == "kind" else outputs


def around(way: str) -> AbstractContextManager[None]:
    """What holds while the forward runs."""
    known = {"autocast": _autocast, "switches": _switched, "card": pretence.on_another_card, "stream": streams.beside}
    return known.get(way, contextlib.nullcontext)()


@contextlib.contextmanager
def _autocast() -> Iterator[None]:
    devices = ("cpu", "cuda")
    before = [(torch.is_autocast_enabled(d), torch.get_autocast_dtype(d)) for d in devices]
    for device in devices:
        torch.set_autocast_enabled(device, True)
        torch.set_autocast_dtype(device, torch.float16)
    try:
        yield
    finally:
        for device, (enabled, dtype) in zip(devices, before, strict=True):
            torch.set_autocast_enabled(device, enabled)
            torch.set_autocast_dtype(device, dtype)
        torch.clear_autocast_cache()


@contextlib.contextmanager
def _switched() -> Iterator[None]:
    before = torch.get_default_dtype(), torch.are_deterministic_algorithms_enabled()
    precision = torch.get_float32_matmul_precision()
    torch.set_default_dtype(torch.float64)
    torch.use_deterministic_algorithms(True)
    torch.set_float32_matmul_precision("high")
    torch.default_generator.manual_seed(SEED)
    try:
        yield
    finally:
        torch.set_default_dtype(before[0])
        torch.use_deterministic_algorithms(before[1])
        torch.set_float32_matmul_precision(precision)

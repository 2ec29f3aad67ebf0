"""Inputs and answers as nested values: copied, moved and compared. In the reference's child."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, TypeGuard

import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map

from kdata.verify.tolerances import BELOW_TF32, ULPS, ULPS_HALF

CALLING = {"off": torch.no_grad, "on": torch.enable_grad, "inference": torch.inference_mode}  # gradients, in a call


BITS = frozenset({"view", "frombuffer", "from_file", "promote_types", "can_cast"})  # which are told of a dtype only


def seed_torch(seed: int) -> None:
    """Seed what draws on the CPU; ``torch.manual_seed`` also notes a stack trace for each kind of absent device."""
    torch.default_generator.manual_seed(seed)


def copied(value: Any) -> Any:
    """The same values in tensors of their own."""
    return tree_map(lambda t: t.detach().clone() if isinstance(t, torch.Tensor) else t, value)


def _of_numbers(value: Any) -> TypeGuard[torch.Tensor]:
    """Whether it is of a dtype that torch computes with: float8 is one that numbers are only kept in."""
    return isinstance(value, torch.Tensor) and value.is_floating_point() and value.itemsize > 1


def computes(value: Any) -> TypeGuard[torch.Tensor]:
    """Whether it is a floating tensor that torch computes with, and not empty."""
    return _of_numbers(value) and value.numel() > 0


def upcast(value: Any) -> Any:
    """A floating tensor as fp64, an empty one, too, and a complex one as two of these."""
    if isinstance(value, torch.Tensor) and value.is_complex():
        return value.to(torch.complex128)
    return value.double() if _of_numbers(value) else value


def kept_in(value: Any) -> Any:
    """What torch does not compute with, float8, as float32, which holds all of its numbers; all else as it is."""
    eight = isinstance(value, torch.Tensor) and value.is_floating_point() and not _of_numbers(value)
    return value.float() if eight else value


def integral(value: Any) -> bool:
    """Whether it is a tensor of integers that holds any."""
    plain = isinstance(value, torch.Tensor) and not (value.is_floating_point() or value.is_complex())
    return plain and value.dtype is not torch.bool and value.numel() > 0


def describe(value: Any) -> str:
    """Arguments as text, tensors by shape, so that two constructions can be told apart."""
    if isinstance(value, torch.Tensor):
        return f"{value.dtype}{list(value.shape)}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(describe(v) for v in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {describe(v)}" for k, v in value.items()) + "}"
    plain = value is None or isinstance(value, bool | int | float | str)
    return repr(value) if plain else type(value).__name__


def sizes_of(values: Any) -> set[int]:
    """The sizes of all dimensions of some tensors."""
    return {size for t in tree_leaves(values) if isinstance(t, torch.Tensor) for size in t.shape}


def ends(leaf: Any, sizes: Collection[int]) -> bool:
    """Whether these are integers up to a size, in order: where each of packed sequences ends, and the first begins."""
    if not integral(leaf) or leaf.ndim != 1 or len(leaf) < 2 or int(leaf[0]) < 0 or int(leaf[-1]) not in sizes:
        return False
    return bool((leaf.diff() >= 0).all())


def by_an_ulp(value: Any, generator: torch.Generator, whole: bool = False, tf32: bool = False) -> Any:
    """A floating tensor with each element moved by up to an ulp of float32 (of its own dtype where that is coarser).

    Of a complex one each part. ``whole``: by all of it. ``tf32``: float32 is cut to tf32, toward zero, as tensor cores
    cut factors of products.
    """
    if isinstance(value, torch.Tensor) and value.is_complex():
        return torch.view_as_complex(by_an_ulp(torch.view_as_real(value.resolve_conj()), generator, whole, tf32))
    if not computes(value):
        return value
    if tf32 and value.dtype is torch.float32:
        return (value.contiguous().view(torch.int32) & ~BELOW_TF32).view(torch.float32)
    noise = 2 * torch.rand(value.shape, generator=generator, device=value.device, dtype=torch.float32) - 1
    return (value * (1 + torch.finfo(value.dtype).eps * (noise.sign() if whole else noise))).to(value.dtype)


def forward(module: torch.nn.Module, inputs: list[Any]) -> Any:
    """A module's answer, without what gradients would need."""
    with torch.no_grad():
        return module(*inputs)


def shifts(values: list[Any]) -> Iterator[list[Any]]:
    """The values with all their floating tensors moved by some ulps: up, down, and every other one the other way.

    And with the largest of each row, or column, moved the other way: what is divided by it is not where it was.
    """
    places = [n for n, v in enumerate(values) if computes(v)]
    for first in (1, -1):
        for second in (first, -first)[: len(places)]:
            moved = list(values)
            for turn, n in enumerate(places):
                moved[n] = _shifted(values[n], second if turn % 2 else first)
            yield moved
        for dim in (-1, -2):
            if any(values[n].ndim >= -dim and values[n].numel() > 1 for n in places):
                yield [_apart(v, first, dim) if n in places else v for n, v in enumerate(values)]


def _apart(tensor: torch.Tensor, sign: int, dim: int) -> torch.Tensor:
    if tensor.ndim < -dim or not tensor.numel():
        return _shifted(tensor, sign)
    size = tensor.abs()
    largest = size == size.amax(dim, keepdim=True)
    return torch.where(largest, _shifted(tensor, -sign), _shifted(tensor, sign))


def _shifted(tensor: torch.Tensor, sign: int) -> torch.Tensor:
    ulps = ULPS if tensor.element_size() > 2 else ULPS_HALF
    return (tensor * (1 + sign * ulps * torch.finfo(tensor.dtype).eps)).to(tensor.dtype)


def span(answers: Iterable[list[Any]]) -> tuple[list[Any], list[Any]]:
    """The least and the largest of some answers' leaves, element by element; plain values are the first one's."""
    remaining = iter(answers)
    low = high = next(remaining)
    for answer in remaining:
        low, high = _each(torch.minimum, low, answer), _each(torch.maximum, high, answer)
    return low, high


def _each(choose: Callable[[Any, Any], Any], one: list[Any], other: list[Any]) -> list[Any]:
    pairs = zip(one, other, strict=True)
    return [choose(kept_in(a), kept_in(b)).to(a.dtype) if isinstance(a, torch.Tensor) else a for a, b in pairs]


@contextmanager
def doubles() -> Iterator[None]:
    """Tensors that the task makes for itself are fp64 too, and so is what it says is to be of single precision."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with _Doubled():
            yield
    finally:
        torch.set_default_dtype(before)


class _Doubled(TorchFunctionMode):
    """``x.float()`` makes fp64, and so does every other call that is told fp32, but such as read bits."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if function is torch.Tensor.float:
            return torch.Tensor.double(*args, **kwargs)
        if getattr(function, "__name__", "") in BITS:
            return function(*args, **kwargs)
        args = tuple(torch.float64 if a is torch.float32 else a for a in args)
        return function(*args, **{k: torch.float64 if v is torch.float32 else v for k, v in kwargs.items()})


class _OwnEpsilon(TorchFunctionMode):
    """See ``own_epsilon``."""

    def __init__(self, epsilon: float) -> None:
        super().__init__()
        self._epsilon = epsilon

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if function in (torch.rms_norm, functional.rms_norm) and len(args) < 4 and kwargs.get("eps") is None:
            kwargs = kwargs | {"eps": self._epsilon}
        return function(*args, **kwargs)


@contextmanager
def own_epsilon(given: Any) -> Iterator[None]:
    """In fp64 the epsilon that ``torch.rms_norm`` takes when it is told none stays that of what was ``given``."""
    dtypes = {t.dtype for t in tree_leaves(given) if isinstance(t, torch.Tensor) and t.is_floating_point()}
    with _OwnEpsilon(torch.finfo(torch.float32).eps) if dtypes == {torch.float32} else nullcontext():
        yield


def state_by(module: torch.nn.Module, names: list[str]) -> dict[str, Any]:
    """Of a module's state what stands by these names."""
    state = module.state_dict()
    return {name: state[name] for name in names}


def equal(one: Any, other: Any) -> bool:
    """Whether two values are equal tensors."""
    return (
        isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor) and torch.equal(kept_in(one), kept_in(other))
    )


def same(one: Any, other: Any) -> bool:
    """Whether two answers are equal; NaN equals NaN."""
    pairs = [(kept_in(a), kept_in(b)) for a, b in zip(tree_leaves(one), tree_leaves(other), strict=True)]
    return all(
        torch.equal(torch.nan_to_num(a), torch.nan_to_num(b)) if isinstance(a, torch.Tensor) else a == b or a != a
        for a, b in pairs
    )  # fmt: skip


def finite(outputs: Any) -> bool:
    """Whether no floating or complex tensor holds NaN or infinity."""
    leaves = [t for t in tree_leaves(outputs) if isinstance(t, torch.Tensor)]
    made = [kept_in(t) for t in leaves if t.is_floating_point() or t.is_complex()]
    return all(bool(torch.isfinite(t).all()) for t in made)


def near(one: Any, other: Any, limit: float) -> bool:
    """Whether two answers differ by less than ``limit`` times their size (integers: not at all)."""
    pairs = [(a, b) for a, b in zip(tree_leaves(one), tree_leaves(other), strict=True) if isinstance(a, torch.Tensor)]
    return all(a.shape == b.shape and _near_tensor(a, b, limit) for a, b in pairs)


def _near_tensor(one: torch.Tensor, other: torch.Tensor, limit: float) -> bool:
    if one.is_complex():
        one, other = (torch.view_as_real(t.resolve_conj()) for t in (one, other))
    if not one.is_floating_point():
        return torch.equal(one, other)
    wide, moved = one.double(), other.double()
    numbers = torch.isfinite(wide) & torch.isfinite(moved)
    if not same(wide[~numbers], moved[~numbers]):
        return False
    return float((wide - moved)[numbers].norm()) <= limit * max(float(wide[numbers].norm()), 1e-30)


def altered(tensor: torch.Tensor) -> torch.Tensor:
    """Other values in the same range."""
    other = (tensor.detach() if computes(tensor) else tensor.detach().float()) * 0.7
    return (other.flip(-1) if tensor.ndim else other).to(tensor.dtype)


def described(inputs: list[Any]) -> str:
    """``float32[4, 7], int64[3]``."""
    tensors = [t for t in tree_leaves(inputs) if isinstance(t, torch.Tensor)]
    return ", ".join(f"{str(t.dtype)[6:]}{list(t.shape)}" for t in tensors)

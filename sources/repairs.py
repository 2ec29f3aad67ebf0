"""A failed call of ``forward`` and what to change about its inputs.

Rules over the operator that failed, its real arguments, and the numbers of its message.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn

from sources.inputs import BATCH, FEATURES, SIDE, TOKENS, Many, Plain, Spec, Specs, Tensor, all_tensors, edited, shaped

SIDES = (32, 64, 28, 16, 128, 224, 8, 256, 48, 4)
SIZES = (64, 16, 4, 32, 128, 8, 256, 196, 49, 1, 3)
MAX_ELEMENTS = 1 << 22
Change = tuple[float, Specs]  # cost and new inputs


@dataclass(slots=True)
class Failure:
    """One failed call: its inputs, the error, and the last torch function that was called."""

    specs: Specs
    message: str  # "ValueError: ..."
    module: nn.Module
    function: str = ""
    arguments: tuple[Any, ...] = ()

    def of_shape(self, tensor: Any) -> Iterator[tuple[tuple[int, ...], Tensor]]:
        """Inputs that have the shape of an operator's argument: most likely they are it."""
        if isinstance(tensor, torch.Tensor):
            yield from ((p, t) for p, t in all_tensors(self.specs) if t.shape == tuple(tensor.shape))

    def with_tensor(self, path: tuple[int, ...], new: Spec, cost: float) -> Change:
        return cost, edited(self.specs, path, new)


def repairs(failure: Failure) -> list[Change]:
    """Inputs to try next, with costs; the cheapest first, none larger than a limit."""
    found = [change for rule in RULES for change in rule(failure)]
    return sorted((c for c in found if _sane(c[1])), key=lambda c: c[0])


def _sane(specs: Specs) -> bool:
    return all(min(t.shape, default=1) > 0 and math.prod(t.shape) <= MAX_ELEMENTS for _, t in all_tensors(specs))


def _layer(f: Failure) -> Iterator[Change]:
    """Convolution, linear, embedding and norm layers say what they want."""
    if len(f.arguments) < 2 or not isinstance(x := f.arguments[0], torch.Tensor):
        return
    weight = f.arguments[1]
    if (match := re.fullmatch(r"conv(_transpose)?(\d)d", f.function)) and isinstance(weight, torch.Tensor):
        groups = f.arguments[6] if len(f.arguments) > 6 and isinstance(f.arguments[6], int) else 1
        channels, spatial = weight.shape[0] if match[1] else weight.shape[1] * groups, int(match[2])
        for path, t in f.of_shape(x):
            sides = (
                t.shape[2:] if len(t.shape) == spatial + 2 else {1: (TOKENS,), 2: (SIDE, SIDE), 3: (8, 16, 16)}[spatial]
            )
            yield f.with_tensor(path, Tensor((BATCH, channels, *sides)), 0.0)
        if x.dim() > 1:
            yield from _wanted(f, x.shape[1], channels)
    elif f.function == "linear" and isinstance(weight, torch.Tensor) and x.dim():
        for path, t in f.of_shape(x):
            yield f.with_tensor(path, Tensor((*t.shape[:-1], weight.shape[1])), 0.0)
        yield from _wanted(f, x.shape[-1], weight.shape[1])
    elif f.function == "embedding" and isinstance(weight, torch.Tensor):
        for path, t in f.of_shape(x):
            yield f.with_tensor(path, Tensor(t.shape[:2], "int", weight.shape[0]), 0.0)
    elif f.function == "layer_norm" and isinstance(weight, list | tuple):
        for path, t in f.of_shape(x):
            lead = t.shape[: -len(weight)] if len(t.shape) > len(weight) else (BATCH, TOKENS)
            yield f.with_tensor(path, Tensor((*lead, *weight)), 0.0)
        yield from _wanted(f, x.shape[-1], int(weight[-1]))
    elif f.function in ("batch_norm", "group_norm", "instance_norm") and x.dim() > 1:
        scale = next((a for a in f.arguments[1:] if isinstance(a, torch.Tensor)), None)
        if scale is not None:
            yield from _wanted(f, x.shape[1], scale.shape[0])


def _wanted(f: Failure, got: int, wanted: int) -> Iterator[Change]:
    """A dimension was ``got`` where the operator needs ``wanted``: inputs may have it as it is, shifted or scaled."""
    if got == wanted:
        return
    for path, t in all_tensors(f.specs):
        for i, size in enumerate(t.shape):
            if size == got:
                yield f.with_tensor(path, t.resized(i, wanted), 0.2)
            if i and size + wanted - got > 0:
                yield f.with_tensor(path, t.resized(i, size + wanted - got), 0.8)
            if i and size * wanted % got == 0:
                yield f.with_tensor(path, t.resized(i, size * wanted // got), 0.7)
        if len(t.shape) >= 3:
            spatial = len(t.shape) - 2
            side = round(t.shape[-1] * (wanted / got) ** (1 / spatial))
            for other in dict.fromkeys([side, side - 1, side + 1]):
                yield f.with_tensor(path, replace(t, shape=(*t.shape[:2], *[other] * spatial)), 0.6)


def _matmul(f: Failure) -> Iterator[Change]:
    match = re.search(r"cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)", f.message)
    if match and f.function != "linear":
        yield from _wanted(f, int(match[2]), int(match[3]))
        yield from _wanted(f, int(match[3]), int(match[2]))


def _numbers(f: Failure) -> Iterator[Change]:
    """Any number of the message that is an input's dimension may have to be any other number of it."""
    numbers = [int(n) for n in re.findall(r"(?<![\w.])\d+(?![\w.])", f.message)]
    numbers = [n for n in dict.fromkeys(numbers) if 0 < n < 20000][:8]
    for path, t in all_tensors(f.specs):
        for got in numbers:
            for wanted in numbers:
                if got == wanted:
                    continue
                for i, size in enumerate(t.shape):
                    if size == got:
                        yield f.with_tensor(path, t.resized(i, wanted), 1.0)
                if len(t.shape) >= 4 and t.shape[-1] == t.shape[-2] == got:
                    yield f.with_tensor(path, replace(t, shape=(*t.shape[:-2], wanted, wanted)), 0.9)


def _view(f: Failure) -> Iterator[Change]:
    """A view whose fixed sizes do not divide the input."""
    match = re.search(r"shape '\[([-\d, ]+)\]' is invalid for input of size (\d+)", f.message)
    if not match:
        return
    wanted = tuple(map(int, match[1].split(",")))
    lead = wanted[: max((i + 1 for i, n in enumerate(wanted) if n > 1), default=1)]
    for path, t in all_tensors(f.specs):
        if len(lead) < min(len(wanted), len(t.shape)) and t.shape[: len(lead)] == lead:
            yield f.with_tensor(path, replace(t, shape=lead), 0.2)  # x.view(n, c, 1, 1): it has two dimensions
    fixed = math.prod(n for n in wanted if n > 0)
    size = int(match[2])
    for path, t in all_tensors(f.specs):
        for i, old in enumerate(t.shape):
            rest = size // old if size % old == 0 else 0
            for times in (1, 2, 4) if rest else ():
                if fixed * times % rest == 0 and fixed * times // rest not in (0, old):
                    yield f.with_tensor(path, t.resized(i, fixed * times // rest), 0.6 + 0.1 * times)


def _rank(f: Failure) -> Iterator[Change]:
    message = f.message
    ranks: list[tuple[int, float]] = []
    unpack = re.search(
        r"not enough values to unpack \(expected (\d)|too many values to unpack \(expected (\d)", message
    )
    if unpack:
        ranks.append((int(unpack[1] or unpack[2]), 0.4))
    ranks += [
        (int(n), 0.8) for n in re.findall(r"(\d)-?\s?[dD](?:imension|\b)|dims?(?:=|:| )+(\d)", message) for n in n if n
    ]
    if re.search(
        r"number of dim|permute|Dimension out of range|too many indices|must be at least|dimension|axes|dims"
        r"|is invalid for input",
        message,
    ):
        ranks += [(r, 1.2 + 0.1 * i) for i, r in enumerate((3, 4, 2, 5))]
    for path, t in all_tensors(f.specs):
        for rank, cost in ranks:
            if 1 <= rank <= 5 and rank != len(t.shape):
                kind = t.kind if t.kind != "int" else "float"
                yield f.with_tensor(path, replace(shaped(f.module, rank), kind=kind), cost)
        if unpack and int(unpack[1] or unpack[2]) <= 4:
            yield f.with_tensor(path, Many((t,) * int(unpack[1] or unpack[2]), "tuple"), 1.5)


def _kind(f: Failure) -> Iterator[Change]:
    message = f.message
    for path, t in all_tensors(f.specs):
        if re.search(r"Long|Int\b|indices|integer|int64|dtype|index|one_hot|one-hot|scatter|gather", message):
            if t.kind != "int":
                yield f.with_tensor(path, Tensor(t.shape[:2], "int", 16), 1.0)
                yield f.with_tensor(path, Tensor(t.shape, "int", 2), 1.3)
            else:
                yield f.with_tensor(path, Tensor(t.shape), 1.1)
        if "lengths" in message.lower() and t.kind in ("int", "full") and t.shape:
            longest = {n for _, other in all_tensors(f.specs) if other != t for n in other.shape[1:]}
            for j, n in enumerate(sorted(longest)):
                yield f.with_tensor(path, Tensor(t.shape[:1], "full", n), 0.1 + 0.1 * j)
        if re.search(r"[Bb]ool|mask", message):
            yield f.with_tensor(path, replace(t, kind="float" if t.kind == "bool" else "bool"), 1.2)
        if re.search(r"[Ff]loat|Half|Double", message) and t.kind != "float":
            yield f.with_tensor(path, Tensor(t.shape), 0.9)
        if re.search(r"out of range|out of bounds", message) and t.kind == "int":
            yield f.with_tensor(path, replace(t, high=2), 0.5)
        if "between 0 and 1" in message and t.kind == "float":
            yield f.with_tensor(path, replace(t, kind="unit"), 0.0)


def _small(f: Failure) -> Iterator[Change]:
    if not re.search(
        r"[Kk]ernel size|too small|[Oo]utput size|smaller|Padding size|negative dim|Expected more than", f.message
    ):
        return
    for path, t in all_tensors(f.specs):
        if len(t.shape) == 4:
            yield f.with_tensor(path, replace(t, shape=(t.shape[0] // 2 or 1, t.shape[1], 256, 256)), 1.2)
        for side in (64, 128, 224):
            if len(t.shape) >= 3 and side > t.shape[-1]:
                yield f.with_tensor(
                    path, replace(t, shape=(*t.shape[:2], *[side] * (len(t.shape) - 2))), 0.7 + side / 1000
                )


def _divisible(f: Failure) -> Iterator[Change]:
    words = r"divisible|invalid for input|multiple|split|chunk|reshape|view|unflatten|[Aa]ssert|does not fit|match"
    if not re.search(words, f.message):
        return
    for path, t in all_tensors(f.specs):
        for i in range(1, len(t.shape)):
            for j, size in enumerate(SIZES):
                if size != t.shape[i]:
                    yield f.with_tensor(path, t.resized(i, size), 2.0 + 0.03 * j)
        for j, side in enumerate(SIDES if len(t.shape) >= 4 else ()):
            yield f.with_tensor(path, replace(t, shape=(*t.shape[:-2], side, side)), 1.5 + 0.05 * j)


def _container(f: Failure) -> Iterator[Change]:
    message = f.message
    for i, spec in enumerate(f.specs):
        if isinstance(spec, Tensor) and re.search(
            r"only one element|ambiguous|as an integer|scalar|tuple of ints|must be .*int|only integer|not callable",
            message,
        ):
            yield from (f.with_tensor((i,), Plain(v), 1.0 + 0.2 * j) for j, v in enumerate((4, 1, None, False)))
        elif isinstance(spec, Tensor) and re.search(
            r"not subscriptable|not iterable|must be tuple|expected Tensor as element|sequence|cat\(\)|of Tensors",
            message,
        ):
            yield f.with_tensor((i,), Many((spec,) * 3), 1.0)
        elif isinstance(spec, Many) and re.search(r"index out of range", message) and spec.items:
            yield f.with_tensor((i,), replace(spec, items=(*spec.items, spec.items[-1])), 0.5)
        elif isinstance(spec, Many) and spec.items and "object has no attribute" in message:
            yield f.with_tensor((i,), spec.items[0], 0.8)
        elif isinstance(spec, Plain) and re.search(r"'int'|'float'|'bool'|NoneType|not int", message):
            yield f.with_tensor((i,), Tensor((BATCH, FEATURES)), 1.0)
            yield f.with_tensor((i,), Tensor((BATCH, TOKENS, FEATURES)), 1.1)


def _equal(f: Failure) -> Iterator[Change]:
    """Two inputs may have to be alike."""
    found = all_tensors(f.specs)
    for path, t in found:
        yield from (f.with_tensor(path, other, 1.4) for _, other in found if other != t)


RULES: tuple[Callable[[Failure], Iterator[Change]], ...] = (
    _layer, _matmul, _numbers, _view, _rank, _kind, _small, _divisible, _container, _equal,
)  # fmt: skip

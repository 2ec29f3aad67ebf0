"""Inputs and weights at which what a reference does again and again changes its answer to the last. In its child only.

Newton and Schulz, Sinkhorn and fixed points are near their end after a few steps on what tasks draw: who does half of
them has the same answer.  Scores that are larger, weights that contract less, matrices that are nearly of rank one and
such as are more, or less, beside their diagonals take more steps than a reference does, so that each of them counts.

Who ends where little changes does all of the steps there. At others a reference settles in its last steps: what is
left to do where little changes is more there than what is allowed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from kdata.verify.reference.draws import labels
from kdata.verify.reference.values import computes

REPEATS = 4  # times that operators come in the same order; a quarter of it is one
LONGEST = 64  # operators of one step
MOST, ELEMENTS = 1 << 12, 1 << 24  # operators, and elements of all that they make, that are looked at
CONVERGED = 3e-4  # relative change in the last steps, a quarter of all, below which these may be left out
SHOWS, ENOUGH = 5e-3, 0.1  # what it is to be; from the second on no other draw is tried
SETTLES, LITTLE = 1e-5, 3e-7  # what it is about where a reference settles, and at least; at most what shows
SCALES = (30.0, 20.0, 15.0, 10.0, 7.0, 5.0, 3.0, 0.1, 0.01)  # of inputs
CONTRACTS = (100.0, 70.0, 50.0, 40.0, 30.0, 20.0, 15.0, 10.0, 7.0, 5.0, 4.0, 3.0, 2.0, 1.5)  # times as large weights
BESIDE = (10.0, 3.0, 0.1, 0.01)  # times as large what is beside a diagonal
RANKS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)  # how much there is beside rank one
Draw = tuple[list[Any], list[Any]]  # inputs and weights
Answer = Callable[[list[Any], list[Any]], Any]


class Steps(TorchDispatchMode):
    """Keeps what operators make, as far as that is not too much."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[Any] = []
        self.made: list[Any] = []
        self._elements = 0

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        out = result if computes(result) else None
        self._elements += out.numel() if out is not None else 0
        if len(self.names) < MOST and self._elements <= ELEMENTS:
            self.names.append((str(function), out.shape if out is not None else None))
            self.made.append(None if out is None else out.clone())
        else:
            self.names, self.made, self._elements = [], [], ELEMENTS + 1
        return result

    def repetition(self) -> tuple[list[str], int]:
        """The names of what is repeated most, and how often it is."""
        length, step, end = _repeated(self.names)
        return [name for name, _ in self.names[end - step : end]], length // step if step else 0

    def change(self) -> float | None:
        """By how much the last quarter of the longest repetition changes what is made; None where none is."""
        length, step, end = _repeated(self.names)
        if not step:
            return None
        back = length // step // 4 * step
        pairs = [(self.made[n], self.made[n - back]) for n in range(end - step, end) if self.made[n] is not None]
        largest = max((float(b.double().norm()) for _, b in pairs), default=0.0)
        change = max((float((a.double() - b.double()).norm()) for a, b in pairs), default=0.0)
        return change / largest if largest > 0 else None


def slow(
    inputs: Sequence[Any], weights: Sequence[Any], answer: Answer, bears: Callable[[list[Any], list[Any]], bool]
) -> Draw | None:
    """Such inputs and weights, both flat; None where nothing converges, or it does so wherever the reference is right.

    ``answer``: of the reference to these; ``bears``: whether it is finite and well-conditioned there.
    """
    usual = _change(answer, [*inputs], [*weights])
    if usual is None or usual >= CONVERGED:
        return None
    best, most = None, SHOWS
    for tried in _tried(inputs, weights):
        change = _change(answer, *tried)
        if change is not None and change > most and bears(*tried):
            best, most = tried, change
            if most >= ENOUGH:
                break
    return best


def settling(
    inputs: Sequence[Any], weights: Sequence[Any], answer: Answer, bears: Callable[[list[Any], list[Any]], bool]
) -> Draw | None:
    """Those of which the last steps change about as little as an end by a test of one's own asks; as ``slow``."""
    usual = _change(answer, [*inputs], [*weights])
    if usual is None or usual >= CONVERGED:
        return None
    found = [(_change(answer, *tried), tried) for tried in _larger(inputs, weights)]
    some = [(abs(math.log(change / SETTLES)), tried) for change, tried in found if change and LITTLE < change < SHOWS]
    nearest = (tried for _, tried in sorted(some, key=lambda each: each[0]))
    return next((tried for tried in nearest if bears(*tried)), None)


def _change(answer: Answer, inputs: list[Any], weights: list[Any]) -> float | None:
    try:
        with Steps() as steps:
            answer(inputs, weights)
        change: float | None = steps.change()
    except Exception:  # noqa: BLE001 - outside its domain
        return None
    return change


def _repeated(names: Sequence[Any]) -> tuple[int, int, int]:
    """How many operators are in a repetition, how many in one step of it, and where the last one ends; 0 for none."""
    found = (0, 0, 0)
    for step in range(1, min(LONGEST, len(names) // REPEATS) + 1):
        run = 0
        for place in range(step, len(names)):
            run = run + 1 if names[place] == names[place - step] else 0
            if run >= step * (REPEATS - 1) and run + step > found[0]:
                found = (run + step, step, place + 1)
    return found


def _tried(inputs: Sequence[Any], weights: Sequence[Any]) -> Iterator[Draw]:
    still = labels(inputs)
    if any(t.ndim > 1 for n, t in enumerate(inputs) if computes(t) and n not in still):
        for rest in RANKS:
            yield _changed(inputs, partial(_near_rank_one, rest=rest)), [*weights]
    yield from _larger(inputs, weights)


def _larger(inputs: Sequence[Any], weights: Sequence[Any]) -> Iterator[Draw]:
    """Such as are larger, or smaller, all of them or beside diagonals."""
    still = labels(inputs)
    if any(_square(t) for n, t in enumerate(inputs) if n not in still):
        for times in BESIDE:
            yield _changed(inputs, partial(_beside_diagonal, times=times)), [*weights]
    for scale in SCALES:
        yield _changed(inputs, partial(torch.mul, other=scale)), [*weights]
    for times in CONTRACTS if any(map(computes, weights)) else ():
        yield [*inputs], [t * times if computes(t) else t for t in weights]


def _changed(inputs: Sequence[Any], change: Callable[[Tensor], Tensor]) -> list[Any]:
    still = labels(inputs)
    return [change(t).to(t.dtype) if computes(t) and n not in still else t for n, t in enumerate(inputs)]


def _square(value: Any) -> bool:
    return computes(value) and value.ndim > 1 and value.shape[-1] == value.shape[-2] > 1


def _beside_diagonal(tensor: Tensor, times: float) -> Tensor:
    """A square matrix with what is beside its diagonal so many times as large."""
    if not _square(tensor):
        return tensor
    on = torch.eye(tensor.shape[-1], dtype=torch.bool)
    return torch.where(on, tensor, tensor * times)


def _near_rank_one(tensor: Tensor, rest: float) -> Tensor:
    """A matrix of its first column times its first row, as large as the tensor is, and a little of that beside.

    One that is symmetric stays so, and so do its signs.
    """
    if tensor.ndim < 2 or min(tensor.shape[-2:]) < 2:
        return tensor
    wide = tensor.double()
    column = wide[..., :1]
    row = column.mT if wide.shape[-1] == wide.shape[-2] and torch.equal(wide, wide.mT) else wide[..., :1, :]
    one = column * row
    size = wide.norm() / one.norm().clamp(min=1e-30)
    return torch.add(one * size, wide, alpha=rest)

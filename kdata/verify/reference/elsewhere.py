"""The reference given tensors of other ranks, or of few elements, or none. In the reference's child.

No task promises these, but where a candidate asks for them, what it answers there must be what the reference does.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map_only, tree_unflatten

from kdata.task import Program
from kdata.verify.candidate import ways
from kdata.verify.exchange.scratch import GIVEN, KEPT
from kdata.verify.reference.faults import answered
from kdata.verify.reference.reference import Reference
from kdata.verify.reference.variants import Variant

DEEPER, DIMENSIONS = 3, 4  # ranks above the task's own, and dimensions that are cut
DEEPEST = 8  # ranks that are tried where a test names them
STYLE = "elsewhere"


def answer(payload: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """Run the reference at its first sizes on tensors of other shapes.

    ``payload``: as ``reference.reference.answer`` takes it, and mode, base (sizes), counts (elements that a
    dimension is cut to), cuts (several at once, as ``ways.cut`` takes them), ranks (whether dimensions are added and
    taken) and spread (whether rows are one row, with a step of none between them, or overlap).
    """
    torch.set_num_threads(1)
    return answered(lambda: Elsewhere(payload).run(scratch))


class Elsewhere(Reference):
    """One task's reference where the task does not ask for it."""

    def __init__(self, payload: dict[str, Any]) -> None:
        super().__init__(payload)
        self.mode, self._slim = payload["mode"], True
        self._base: dict[str, int] = payload["base"]
        self._counts: list[int] = payload["counts"]
        self._cuts: list[list[tuple[int, int]]] = payload["cuts"]
        self._ranks: bool = payload["ranks"]
        self._spread: bool = payload["spread"]
        self._inputs: list[Any] = []

    def run(self, scratch: Path) -> dict[str, Any]:
        """Everything."""
        run = self.prober.forward(self._base)
        trials: list[dict[str, Any]] = []
        if run is not None:
            variant, natural = Variant(STYLE, self._base, run), self.prober.program(self._base).inputs()
            for inputs, how in self._every(natural):
                if trial := self._tried(variant, inputs):
                    trials.append(trial | {"given": trial["given"] | how})
        (scratch / GIVEN).write_bytes(bytes(self.given.blob))
        (scratch / KEPT).write_bytes(bytes(self.kept.blob))
        return {"mode": self.mode, "variants": [{"kind": STYLE, "sizes": ""}], "trials": trials, "otherwise": [],
                "own": None, "unused": [], "base": self._base, "grows": {},
                "given": self.given.manifest, "kept": self.kept.manifest}  # fmt: skip

    def _every(self, natural: list[Any]) -> Iterator[tuple[list[Any], dict[str, Any]]]:
        """All such inputs, and what the candidate's child is told of how they are handed over."""
        yield from ((inputs, {}) for inputs in self._shaped(natural))
        if self._ranks:
            yield from ((inputs, {"ranked": True}) for inputs in self._ranked(natural))
        if self._spread:
            yield from _stepping(natural)

    def _tried(self, variant: Variant, inputs: list[Any]) -> dict[str, Any] | None:
        self._inputs = inputs
        with contextlib.suppress(Exception):  # it does not take such tensors: then no candidate need
            return self._trial(0, variant, self.seeds[0], STYLE)
        return None

    def _draw(
        self, styles: list[str], program: Program, state: dict[str, Any], natural: list[Any], generator: torch.Generator
    ) -> tuple[str, list[Any] | None]:
        return STYLE, self._inputs

    def _along(self, inputs: list[Any], first: Tensor) -> Iterator[list[Any]]:
        """The inputs cut in one dimension of the first one, and of others that are as large there."""
        for dim in range(min(first.ndim, DIMENSIONS)):
            for count in self._counts:
                if count < first.shape[dim]:
                    yield [_cut(value, dim, first.shape[dim], count) for value in inputs]

    def _throughout(self, inputs: list[Any]) -> Iterator[list[Any]]:
        """The inputs cut in all dimensions of one size: what a product sums is columns of one and rows of the other."""
        sizes = dict.fromkeys(n for t in tree_leaves(inputs) if isinstance(t, Tensor) for n in t.shape)
        for size in [*sizes][:DIMENSIONS]:
            for count in self._counts:
                if count < size:
                    yield ways.cut(inputs, [(size, count)])

    def _shaped(self, inputs: list[Any]) -> Iterator[list[Any]]:
        """The inputs in other shapes."""
        first = next((t for t in inputs if isinstance(t, Tensor)), None)
        if first is None:
            return
        seen: list[list[torch.Size]] = []
        for fewer in (*self._along(inputs, first), *self._throughout(inputs)):
            shapes = [t.shape for t in tree_leaves(fewer) if isinstance(t, Tensor)]
            if shapes not in seen:
                seen.append(shapes)
                yield fewer
        yield from (ways.cut(inputs, sizes) for sizes in self._cuts)

    def _ranked(self, inputs: list[Any]) -> Iterator[list[Any]]:
        """The inputs with more dimensions, or with one less."""
        first = next((t for t in inputs if isinstance(t, Tensor)), None)
        if first is None:
            return
        asked = {count + step - first.ndim for count in self._counts for step in (0, 1) if count < DEEPEST}
        for more in sorted({*range(1, DEEPER + 1), *(n for n in asked if n > 0)}):
            yield tree_map_only(Tensor, partial(_deeper, more=more), inputs)
        if first.ndim > 1:
            yield tree_map_only(Tensor, lambda t: t[0].contiguous() if t.ndim > 1 else t, inputs)


def _stepping(inputs: list[Any]) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """Inputs of which one may lie in memory that it goes through more than once: all, how, and which of the tensors.

    Rows that overlap as windows do; rows, or columns, that are all one.
    """
    leaves, form = tree_flatten(inputs)
    tensors = [n for n, t in enumerate(leaves) if isinstance(t, Tensor)]
    for place, n in enumerate(tensors[: ways.MOST]):
        tensor = leaves[n]
        if tensor.ndim < 2 or not tensor.numel():
            continue
        changed = [(ways.OVERLAPPED, ways.windows(tensor.reshape(-1), tensor.shape).contiguous())]
        for dim in (0, tensor.ndim - 1):
            changed.append((ways.SPREAD, tensor.narrow(dim, 0, 1).expand_as(tensor).contiguous()))
        for way, other in changed:
            yield tree_unflatten([*leaves[:n], other, *leaves[n + 1 :]], form), {"way": way, "place": place}


def _deeper(tensor: Tensor, more: int) -> Tensor:
    return tensor[(None,) * more].contiguous()


def _cut(value: Any, dim: int, size: int, count: int) -> Any:
    """A tensor, or several, of which this dimension has so many elements if it has as many as the first one's."""

    def cut(tensor: Tensor) -> Tensor:
        fits = tensor.ndim > dim and tensor.shape[dim] == size
        return tensor.narrow(dim, 0, count).contiguous() if fits else tensor

    return tree_map_only(Tensor, cut, value)

"""The reference at sizes beyond those at which candidates were judged. In the reference's child.

Of each there is an outline (``candidate.unfilled``), and a trial where there are few enough elements to compute.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from itertools import chain, combinations, islice, product, zip_longest
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from kdata.task import TIED, sizes
from kdata.verify.candidate.unfilled import outlined
from kdata.verify.constants import SHORT
from kdata.verify.exchange.scratch import GIVEN, KEPT
from kdata.verify.reference.axes import ARGUMENT, LITERAL, Axis, Values
from kdata.verify.reference.conditioned import of_blocks
from kdata.verify.reference.faults import answered
from kdata.verify.reference.probe import Run
from kdata.verify.reference.reference import EVALUATED
from kdata.verify.reference.slack import on_purpose
from kdata.verify.reference.styles import CANCELLING
from kdata.verify.reference.unusual import Unusual
from kdata.verify.reference.values import integral, seed_torch
from kdata.verify.reference.variants import Variant

MOST = 40  # sizes
EXACT, BYTE = 1 << 24, 8  # float32 holds no more integers without a gap; bits of such as are multiplied
WORK = 512  # multiplications, filled up to blocks, by 64, that cost what an element does: torch does them, few programs
FARTHEST = 1 << 40  # elements: what is larger fits no grid either
FAR = 1 << 20  # from here on what an axis asks for may cost, or ask of others, more than a test is worth
MANY = 100  # operators: a reference of so many may loop over what is larger
LEAST = (2, 3, 1)  # sizes of other dimensions, where one is as large as can be
ODD = (1, 3)  # the same where what they come to in all is to be an odd multiple, of at least so many
SEVERAL = 4  # times the elements of the largest one that is computed, in all


def answer(payload: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """Run the reference at sizes that exceed ``numbers``, or that are its own in one dimension.

    ``payload``: as ``reference.reference.answer`` takes it, and mode, base (sizes of what is judged first, empty
    where these are the task's own), grows (the sizes that may vary, with the task's own values), numbers, most
    (elements up to which it is computed), ends and counts (sizes, and numbers of elements, that are exceeded once, also
    where they are beyond the task's own), asked (numbers that its own text compares with sizes, likewise), equal and
    multiples (sizes that are tried by themselves, the latter where no multiple of them was judged), evaluates (whether
    each is tried in evaluation mode, too).
    """
    torch.set_num_threads(1)
    return answered(lambda: Larger(payload).run(scratch))


class Larger(Unusual):
    """One task's reference at larger sizes."""

    def __init__(self, payload: dict[str, Any]) -> None:
        super().__init__(payload | {"named": []})
        self.mode, self._slim = payload["mode"], True
        self._base: Values = payload["base"]
        self._grows: Values = payload["grows"]
        self._own: Values = {size.name: size.value for size in sizes(self.source)}
        self._numbers, self._limit = payload["numbers"], payload["most"]
        self._ends, self._counts = payload["ends"], payload["counts"]
        self._tests = payload["asked"]
        self._equal, self._multiples = payload["equal"], payload["multiples"]
        self._terms = self._inexact()
        self._evaluates = payload["evaluates"]

    def run(self, scratch: Path) -> dict[str, Any]:
        """Everything."""
        outlines: list[dict[str, Any]] = []
        variants: list[Variant] = []
        trials: list[dict[str, Any]] = []
        evaluated: list[dict[str, Any]] = []  # after all others: a module that was told so stays in that mode
        left = SEVERAL * self._limit
        for axis, values, run in islice(self._sizes(), MOST):
            variant = Variant("beyond", values, run)
            with contextlib.suppress(Exception):  # it does not run on tensors without memory: nothing is known
                outline = outlined(self.prober.program(values), self.entry_point, self.mode == "train")
                outlines.append(outline | {"sizes": variant.label})
            variant = self._narrowed(axis, variant)
            elements = _elements(variant.run)
            if elements <= min(left, self._limit) and self._fits(variant):
                with contextlib.suppress(IndexError, RuntimeError, ValueError):  # its own draws may not fit such sizes
                    names = variant.run.cost.names
                    for style in ("tailed natural", *of_blocks(names), CANCELLING):
                        trial = self._trial(len(variants), variant, self.seeds[0], style)
                        left -= elements if trial is not None else 0
                        trials += [trial] if trial is not None else []
                    evaluated += self._evaluated(len(variants), variant)
                    variants.append(variant)
        (scratch / GIVEN).write_bytes(bytes(self.given.blob))
        (scratch / KEPT).write_bytes(bytes(self.kept.blob))
        return {"mode": self.mode, "variants": [{"kind": v.kind, "sizes": v.label} for v in variants],
                "trials": trials + evaluated, "outlines": outlines, "otherwise": [], "own": None, "unused": [],
                "base": self._base, "grows": self._grows,
                "given": self.given.manifest, "kept": self.kept.manifest}  # fmt: skip

    def _evaluated(self, index: int, variant: Variant) -> list[dict[str, Any]]:
        """One trial in evaluation mode: who heard of it at small sizes may be deaf at larger ones."""
        if not self._evaluates:
            return []
        judged, self.mode = self.mode, EVALUATED["mode"]
        try:
            trial = self._trial(index, variant, self.seeds[0], "natural")
        finally:
            self.mode = judged
        return [trial | {"given": trial["given"] | {"mode": EVALUATED["mode"]}}] if trial else []

    def _fits(self, variant: Variant) -> bool:
        """Whether it is no other task there, see ``Run.degenerates``; values are drawn where inputs say lengths."""
        first = self.prober.forward(self._base)
        if first is None or first.degenerates(variant.run):
            return first is None
        alone = 1 in variant.values.values()  # the loss of one class is zero, but for what an honest sum rounds
        if not (first.extents or alone):
            return True
        run = self.prober.forward(variant.values)
        return not first.extents if run is None else not first.degenerates(run)

    def _narrowed(self, axis: list[str], variant: Variant) -> Variant:
        """The same, or where that is too much to compute, with least in the dimensions that are not ``axis``."""
        if _elements(variant.run) <= self._limit:
            return variant
        others = [name for name in self._grows if name not in axis]
        tried = (variant.values | dict.fromkeys(others, size) for size in LEAST)
        runs = ((values, self.prober.forward(values, real=False)) for values in (tried if others else ()))
        return next((Variant("beyond", values, run) for values, run in runs if run is not None), variant)

    def _sizes(self) -> Iterator[tuple[list[str], Values, Run]]:
        """An axis and sizes at which the reference runs, each once, and what it does there."""
        seen: list[Values] = []
        turns = zip_longest(*([(axis, wish) for wish in self._wishes(axis)] for axis in self._axes()))
        near = ((axis, self._near(axis, wish)) for turns_of in turns for axis, wish in filter(None, turns_of))
        for axis, candidates in chain(near, self._odd_multiples()):
            tried = ((values, self._ran(values)) for values in candidates)
            values, run = next((found for found in tried if found[1]), ({}, None))
            if run is not None and values not in seen:
                seen.append(values)
                yield axis, values, run

    def _ran(self, values: Values) -> Run | None:
        """What the reference does there; on real memory where its shapes follow from numbers, as those of counts do."""
        run = self.prober.forward(values, real=False)
        if run is not None or self.prober.forward(self._base, real=False) is not None:
            return run
        given = self.prober.shapes(values)
        small = given is not None and sum(map(math.prod, given.shapes)) <= SHORT * 2
        return self.prober.forward(values) if small else None

    def _odd_multiples(self) -> Iterator[tuple[list[str], Iterator[Values]]]:
        """Of each number that a rest is asked for three times as many, with all other sizes odd, by one axis at a time.

        A block of twice the number goes beyond what is an odd multiple of it; most products of sizes are even ones.
        """
        for number, axis in product(self._multiples, self._axes()):
            if not self._base or ODD[-1] * number <= self._own[axis[0]]:
                others = [name for name in self._grows if name not in axis]
                yield axis, (dict.fromkeys(others, n) | dict.fromkeys(axis, ODD[-1] * number) for n in ODD)

    def _axes(self) -> list[list[str]]:
        """Names that take one value, the first axis and the last one first."""
        axes: dict[tuple[int, int], list[str]] = {}
        for name, own in self._grows.items():
            axes.setdefault((own, self._base.get(name, own)), []).append(name)
        ordered = list(axes.values())
        return ordered[:1] + ordered[1:][::-1] + self._apart()

    def _apart(self) -> list[list[str]]:
        """Names that were scaled down, each in the smallest group that may have its own value while others have not.

        So the terms of a layer's products are as many as its own, or its columns, and not both at once.  Likewise names
        of one value where nothing was scaled down, and ends are looked for: an image's height, and not its width.
        Inputs that are taken to have one shape on purpose keep it, and an argument that is as large as an input stays
        so where it may: a depthwise convolution has as many filters as its input has channels.
        """
        scaled = [name for name, value in self._base.items() if self._own.get(name, value) > value]
        if not self._base and (self._ends or self._counts):
            own = list(self._grows.values())
            scaled = [name for name, value in self._grows.items() if own.count(value) > 1]
        groups: list[list[str]] = []
        together: dict[str, Axis] = (
            on_purpose(self.prober, self._base, tuple(sizes(self.source))) if len(scaled) > 1 else {}
        )
        twins = [(one, other) for one in scaled for other in scaled if LITERAL in one and ARGUMENT in other
                 and self._own[one] == self._own[other] >= TIED]  # fmt: skip
        for groups_of in (twins, combinations(scaled, 1), combinations(scaled, 2)):
            for chosen in islice(groups_of, MOST):
                names = dict.fromkeys(other for name in chosen for other in together.get(name, (name,)))
                new = not names.keys() & {name for group in groups for name in group}
                values = {name: self._own[name] * (1 if self._base else 2) for name in names}
                if new and self.prober.forward(self._base | values, real=False):
                    groups.append([*names])
        return groups

    def _wishes(self, axis: list[str]) -> list[int]:
        """Values of an axis, the most telling ones first.

        Its own; such as are named; such that it exceeds a number, or that the largest input's elements do.
        """
        own, base = self._own[axis[0]], self._base.get(axis[0], self._own[axis[0]])
        most = own if self._base else math.inf
        wishes = [own] if own != base else []
        exact = [n for n in self._equal if n != base] + [n for n in self._multiples if base % n]
        for number in self._numbers_for(axis, own):
            wishes += [] if number == SHORT else [_past(number)]
            wishes += self._holding(axis, base, number)
            wishes += self._holding(axis, base, number, made=True) if SHORT <= number <= self._limit else []
        farthest = min(most, FARTHEST ** (1 / len(axis)))
        wishes = [wish for wish in wishes if wish <= farthest] + [number + 2 for number in self._ends]  # an index, too
        wishes += [number + number // 2 + 2 for number in self._tests]  # a third of it is beyond
        wishes += [wish for number in self._counts for wish in self._holding(axis, base, number)]
        larger = [wish for wish in [*wishes, *self._terms] if 2 * base < wish]
        return [*dict.fromkeys(larger[:1] + exact + larger)]

    def _inexact(self) -> list[int]:
        """Of how many products the sum is beyond what float32 holds, where narrow integers are multiplied."""
        first = self.prober.forward(self._base)
        if first is None or not first.cost.products:
            return []
        seed_torch(0)
        given = tree_leaves(self.prober.program(self._base).inputs())
        largest = [torch.iinfo(t.dtype).max for t in given if integral(t) and torch.iinfo(t.dtype).bits == BYTE]
        return [2 * EXACT // min(largest) ** 2 + 1] if len(largest) > 1 else []

    def _numbers_for(self, axis: list[str], own: int) -> list[int]:
        """The numbers that are named, but for those far off where a loop may run so often, or others have to follow."""
        first = self.prober.forward(self._base)
        loops = first is None or len(first.cost.steps) > MANY
        alone = not self._base and any(value == own and name not in axis for name, value in self._grows.items())
        return [number for number in self._numbers if number < FAR or not (loops or alone)]

    def _holding(self, axis: list[str], value: int, number: int, made: bool = False) -> list[int]:
        """The least value of an axis with which an input, or what is ``made`` of it, has more elements than ``number``.

        Of what is made nothing is said where no input has fewer.
        """
        doubled = (self._base | dict.fromkeys(axis, value * n) for n in (1, 2))
        runs = [self.prober.forward(v, real=False) if made else self.prober.shapes(v) for v in doubled]
        given = [max((math.prod(s) for s in run.shapes), default=0) if run else 0 for run in runs]
        one, two = [run.cost.largest if run else 0 for run in runs] if made else given
        if made and [one, two] == given:
            return []
        if not 0 < one < two:
            return []
        return [math.ceil(value * (number / one) ** (1 / math.log2(two / one))) + 1]

    def _near(self, axis: list[str], wish: int) -> Iterator[Values]:
        """The wish and, for a task that asks for multiples, what is a little larger."""
        base = self._base.get(axis[0], self._own[axis[0]])
        for value in dict.fromkeys((wish, -(-wish // 2) * 2, -(-wish // base) * base)):
            yield self._base | dict.fromkeys(axis, value)


def _past(number: int) -> int:
    """A size beyond a number; of one by which indices may be masked, a size of which a third of them is beyond it."""
    return number + 1 + (number // 2 if number & (number + 1) == 0 else 0)


def _elements(run: Run) -> int:
    """What computing it costs, in elements."""
    return max(run.elements, run.cost.largest, run.cost.work // WORK)

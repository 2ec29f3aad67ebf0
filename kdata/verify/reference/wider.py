"""The reference beyond what every candidate must do: other dtypes, layouts, values that are not finite, and gradients.

In the reference's child, in place of ``reference.reference``: its trials are all there, with two more distributions
of inputs, and beside them stand ``extra`` ones, see ``kdata.verify.reference.breadth``.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map

from kdata.task import INIT_INPUTS, INPUTS, Program
from kdata.verify.reference.answering import FINITE, close, lost, same_places, share_finite
from kdata.verify.reference.arguments import COUNTING, FLOATS, KINDS, Arguments, changed, counted, powered, with_numbers
from kdata.verify.reference.conditioned import first, of_blocks, one_way
from kdata.verify.reference.draws import DTYPES, jogged, labels
from kdata.verify.reference.faults import answered
from kdata.verify.reference.gradients import beyond_rounding, floating, gradients, names
from kdata.verify.reference.magnitudes import CONDITION
from kdata.verify.reference.styles import (
    ALONE,
    COUNTED,
    DOMINATED,
    GRADIENTS,
    KINKED,
    LED,
    SINGLE,
    STEPPED,
    TALL,
    VIEWS,
    NoGradientError,
)
from kdata.verify.reference.training import derived, training
from kdata.verify.reference.unusual import BEYOND, GROUPED, IGNORED, WRAPPED, Unusual
from kdata.verify.reference.values import copied, seed_torch
from kdata.verify.reference.variants import Variant
from kdata.verify.reference.weights import redraw

GRID = 0.05  # share of its size that an answer in half precision may be off before it is taken to mean nothing
ARGUMENT, NUMBER = "argument", "number"
WRAPS = frozenset({"index", "_unsafe_index"})  # operators that count from the end where a place is below zero
COUNTS = 3  # numbers that kernels name, of which each and the next one are handed in


def answer(payload: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """As ``kdata.verify.reference.reference.answer``.

    ``payload`` also says which extras to make: ``grid``, ``gradient``; and which values inputs hold in one more draw:
    ``named``.
    """
    torch.set_num_threads(1)
    return answered(lambda: Wider(payload).run(scratch))


class Wider(Unusual):
    """One task's reference, run at every variant and seed, and beyond."""

    def __init__(self, payload: dict[str, Any]) -> None:
        super().__init__(payload)
        self._grid, self._gradient = payload["grid"], payload["gradient"]
        self._style = ""  # of the extra trial that is being made
        self._wanted: dict[str, Any] = {}  # which gradients the candidate is asked for
        self._extra: list[dict[str, Any]] = []
        self._first, self._undefined = True, False  # no trial has been made yet; there is no number to answer
        self._followed: Arguments | None = None  # with other floats, which the reference's answer follows
        self._instead: dict[str, Callable[[], list[Any]]] = {}  # functions in place of the task's, by their names

    def run(self, scratch: Path) -> dict[str, Any]:
        """Everything."""
        return super().run(scratch) | {"extra": self._extra}

    def _draws(self, kind: str) -> list[tuple[int, str]]:
        more = [(self.seeds[0] + 3, "ties"), (self.seeds[0] + 4, "small"), (self.seeds[0] + 3, "late")]
        draws = super()._draws(kind)
        if self._grid and kind == "large":  # blocks that are larger than small sizes are full there
            draws += [(self.seeds[0] + 3, style) for style in (*of_blocks(self._names), DOMINATED, LED)]
        if self._named and kind == "base":  # in place of a draw where there are to be few
            draws = [(seed, "named nearly" if style == "nearly" else style) for seed, style in draws]
        if self._grid and kind == "base":
            more += [(self.seeds[0] + 5 + n, style) for n, style in enumerate(BEYOND)]
        return draws + (more if self._grid and kind in ("base", "odd") else [])

    def _trials(self, index: int, variant: Variant) -> list[dict[str, Any]]:
        self._undefined = variant.run.undefined
        if variant.kind in ALONE:
            style, wanted = (GRADIENTS[0], self._gradient) if variant.kind == TALL else (variant.kind, self._grid)
            if wanted and (made := self._beyond(index, variant, style)):
                self._extra.append(made)
            return []
        trials = super()._trials(index, variant)
        styles = []
        if self._grid:
            styles += [*DTYPES] if variant.kind in ("base", "odd") else []
            styles += [*VIEWS, "nonfinite", GROUPED] if variant.kind == "base" else []
            styles += [IGNORED] if variant.kind == "base" and self._asks.ignored else []
            styles += [WRAPPED] if variant.kind == "base" and self._names & WRAPS else []
        if self._gradient:  # where blocks are not full, too
            styles += {"base": GRADIENTS, "odd": GRADIENTS[:1]}.get(variant.kind, ())
        self._extra += [made for style in styles if (made := self._beyond(index, variant, style))]
        if self._grid and variant.kind == "base":
            ways = itertools.product((ARGUMENT, NUMBER), KINDS)
            varied = {way: self._varied(index, variant, *way) for way in ways}
            self._extra += filter(None, varied.values())
            self._extra += self._counted(index, variant) if varied[NUMBER, COUNTING] else []
            self._extra += self._stepped(index, variant)
        return trials

    def _varied(
        self, index: int, variant: Variant, style: str, kinds: tuple[type, ...]
    ) -> dict[str, Any] | None:  # fmt: skip
        """A trial with other arguments of the constructor, or numbers among the inputs; None where none show."""
        program, constructed = self.prober.program(variant.values), style == ARGUMENT

        def answered_with(given: Arguments) -> Any:
            seed_torch(self.seeds[0])
            module = self._build(program, given if constructed else program.arguments(), None)
            redraw(module, torch.Generator().manual_seed(self.seeds[0]))
            with torch.no_grad():
                return module(*copied(inputs if constructed else given[0]))

        try:
            seed_torch(self.seeds[0])
            inputs, kind = program.inputs(), program.namespace[self.entry_point]
            sizes = {size for t in tree_leaves(inputs) if isinstance(t, Tensor) for size in t.shape}
            given = program.arguments() if constructed else (inputs, {})
            called = kind if constructed else partial(kind.forward, None)
            other = changed(given, kinds, called, answered_with, sizes)
        except Exception:  # noqa: BLE001 - the task does not allow it
            return None
        if other is None:
            return None
        if not constructed:
            return self._called(index, variant, style, other.arguments[0], other.detail)
        self._followed = other.arguments if kinds == FLOATS else self._followed
        self._instead = {INIT_INPUTS: lambda: [*other.arguments]}
        return self._instead_of(index, variant, style, f"constructed with {other.detail}")

    def _called(
        self, index: int, variant: Variant, style: str, numbers: list[Any], detail: str
    ) -> dict[str, Any] | None:  # fmt: skip
        """A trial with the numbers of these inputs."""
        drawn = self.prober.program(variant.values).namespace[INPUTS]
        self._instead = {INPUTS: lambda: with_numbers(drawn(), numbers)}
        return self._instead_of(index, variant, style, f"called with {detail}")

    def _instead_of(self, index: int, variant: Variant, style: str, detail: str) -> dict[str, Any] | None:
        trial = self._beyond(index, variant, style)
        self._instead = {}
        return trial and trial | {"detail": detail}

    def _counted(self, index: int, variant: Variant) -> list[dict[str, Any]]:
        """Trials with whole numbers that the kernels compare with among the inputs, as counts of steps are."""
        named = sorted({int(value) for value in self._names_said if value == int(value)})[:COUNTS]
        seed_torch(self.seeds[0])
        inputs = self.prober.program(variant.values).inputs()
        made = []
        for number in dict.fromkeys(near for value in named for near in (value, value + 1)):
            given = counted(inputs, number)
            made += [given and self._called(index, variant, COUNTED, given, str(number))]
        return [trial for trial in made if trial]

    def _stepped(self, index: int, variant: Variant) -> list[dict[str, Any]]:
        """A trial at which the reference steps for sure by numbers of its constructor that round nothing, if any."""
        given = self.prober.program(variant.values).arguments()
        other = powered(given, self._followed) if self._followed and variant.run.cost.jumps else None
        if other is None:
            return []
        self._instead = {INIT_INPUTS: lambda: [*other]}
        trial = self._instead_of(index, variant, "exact", "constructed with powers of two")
        return [trial | {"style": STEPPED}] if trial else []

    def _program(self, variant: Variant) -> Program:
        program = super()._program(variant)
        program.namespace.update(self._instead)
        return program

    def _beyond(self, index: int, variant: Variant, style: str) -> dict[str, Any] | None:
        """A trial in a style, None where the task does not bear it."""
        self._style, self._wanted = style, {}
        try:
            trial = self._trial(index, variant, self.seeds[0], style)
        except Exception:  # noqa: BLE001 - the task does not allow it
            return None
        finally:
            self._style = ""
        if trial is not None:
            trial["given"] |= {"build": ""} | ({"dtype": style} if style in DTYPES else {})
            trial["given"] |= {"gradient": self._wanted} if style in GRADIENTS else {}
        return trial

    def _expect(
        self, program: Program, state: dict[str, Any], inputs: list[Any], generator: torch.Generator,
        shared: bool = False,
    ) -> dict[str, Any]:  # fmt: skip
        kept = super()._expect(program, state, inputs, generator, shared)
        if self._grid and self._first and self.mode == "eval":
            self.mode = "train"
            module = super()._build(program, program.arguments(), None)
            self.mode = "eval"
            kept["training"] = training(module, state, inputs, self.seeds[0], self.kept)
            if kept["training"] and self._gradient:
                kept["derived"] = derived(module, state, inputs, self.seeds[0], self.kept)
        self._first = False
        return kept

    def _build(
        self, program: Program, arguments: tuple[list[Any], dict[str, Any]], state: dict[str, Any] | None
    ) -> nn.Module:
        if self._style not in DTYPES:
            return super()._build(program, arguments, state)
        module = super()._build(program, arguments, None).to(DTYPES[self._style])
        if state is not None:
            module.load_state_dict(state)
        return module

    def _answer(
        self, program: Program, state: dict[str, Any], inputs: list[Any], double: bool = False
    ) -> tuple[Any, nn.Module, list[Any]]:
        outputs, module, held = super()._answer(program, state, inputs, double)
        if self._style in GRADIENTS:
            outputs = self._derived(program, state, inputs, double)
        return outputs, module, held

    def _derived(self, program: Program, state: dict[str, Any], inputs: list[Any], double: bool) -> list[Tensor]:
        """The gradients of all that the answer depends on, each time of a module that no forward has run through.

        Not those of a sum that hold no more than rounding leaves: shares, say, add up to one whatever they are of.

        Raises:
            NoGradientError: there is none.
            Exception: whatever the reference raises.
        """

        def derived(way: str) -> list[Tensor | None]:
            torch.manual_seed(0)
            module = self._build(program, program.arguments(), None)
            module = module.double() if double else module
            module.load_state_dict(state)
            parameters[:] = names(module)
            return gradients(module, inputs, self.seeds[0], parameters, way).found

        parameters: list[str] = []
        found = derived(self._style)
        if not self._wanted:  # nobody trains labels
            still = labels(floating(inputs))
            used = beyond_rounding(found, derived("gradient") if self._style == "summed" else found)
            chosen = [n for n in used if n not in still]
            none = [n for n, g in enumerate(found) if g is None]
            self._wanted = {"seed": self.seeds[0], "parameters": parameters, "used": chosen, "none": none,
                            "way": self._style}  # fmt: skip
        if not self._wanted["used"]:
            raise NoGradientError("all of it vanishes")
        return [g for n in self._wanted["used"] if (g := found[n]) is not None]

    def _bears(
        self, program: Program, state: dict[str, Any], inputs: list[Any], style: str, generator: torch.Generator
    ) -> bool:
        if style == SINGLE and self._undefined:
            return True
        if style == KINKED:
            return one_way(self._names) and super()._bears(program, state, inputs, "ties", generator)
        if style == "ties" and first(self._names):
            return super()._bears(program, state, inputs, style, generator)
        if style in ("ties", "small"):
            if not super()._bears(program, state, inputs, "wide", generator):
                return False
            if style == "ties":
                return self._continuous(program, state, inputs, generator)
        elif style != "nonfinite" and style not in DTYPES:
            return super()._bears(program, state, inputs, style, generator)
        try:
            eager, _, _ = self._answer(program, state, inputs)
            golden, _ = self._golden(program, state, inputs)
        except Exception:  # noqa: BLE001 - the task does not allow it
            return style == "small"
        pairs = [(a, b) for a, b in zip(tree_leaves(eager), tree_leaves(golden), strict=True) if isinstance(a, Tensor)]
        if style == "nonfinite":
            return all(same_places(a, b) for a, b in pairs) and FINITE <= share_finite(eager) < 1
        if style == "small":
            return not any(lost(a, b) for a, b in pairs)
        return all(close(a, b, GRID) for a, b in pairs)

    def _continuous(
        self, program: Program, state: dict[str, Any], inputs: list[Any], generator: torch.Generator
    ) -> bool:  # fmt: skip
        """Whether the answer moves little when zeros and ties are broken: not at the cut of an angle, nor at a step."""
        try:
            one, other = (self._answer(program, state, given)[0]
                          for given in (inputs, tree_map(lambda t: jogged(t, generator), inputs)))  # fmt: skip
        except Exception:  # noqa: BLE001 - outside its domain
            return False
        pairs = [(a, b) for a, b in zip(tree_leaves(one), tree_leaves(other), strict=True) if isinstance(a, Tensor)]
        return all(close(a, b.double() if b.is_floating_point() else b, CONDITION) for a, b in pairs)

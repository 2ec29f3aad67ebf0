"""The reference at inputs and weights that no task draws, as far as it bears them. In the reference's child."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map

from kdata.task import Program
from kdata.verify.reference import along, asked, exact, magnitudes, unread
from kdata.verify.reference.alike import graded, paired
from kdata.verify.reference.answering import FINITE, adds, all_answered, enlarged
from kdata.verify.reference.burdened import Burden, burdened
from kdata.verify.reference.cancelling import LOOKS_UP
from kdata.verify.reference.casts import Casts
from kdata.verify.reference.conditioned import ANY, EITHER, one_way, weighs
from kdata.verify.reference.dominated import Dims, dominated
from kdata.verify.reference.draws import AS_THEY_ARE, DTYPES, centred_apart, draw, holding, zeroed
from kdata.verify.reference.edges import Single, edged, met
from kdata.verify.reference.fading import emptied, fading
from kdata.verify.reference.gradients import APART
from kdata.verify.reference.led import led
from kdata.verify.reference.lengths import Lengths
from kdata.verify.reference.packed import filled, uneven, without_any
from kdata.verify.reference.pairs import apart, complexes, together
from kdata.verify.reference.roundings import Nudged
from kdata.verify.reference.seeming import seeming
from kdata.verify.reference.sparse import sparse
from kdata.verify.reference.styles import (
    AGED,
    ALIKE,
    BALANCED,
    BORDERED,
    BURDENS,
    CANCELLING,
    DOMINATED,
    EDGED,
    FADING,
    FAINT,
    GRADED,
    GRADIENTS,
    KINKED,
    LEANING,
    LED,
    RAISED,
    REACHING,
    REPEATS,
    SEEMING,
    SPARSE,
    STRAINED,
    STRETCHED,
    SURE,
    UNDONE,
    UNEVEN,
    VIEWS,
)
from kdata.verify.reference.sure import PICKS, sure
from kdata.verify.reference.ties import Ties, twinned
from kdata.verify.reference.undone import Undone, undone
from kdata.verify.reference.values import seed_torch
from kdata.verify.reference.variants import Variant
from kdata.verify.reference.weighed import CANCELS, CHOOSES, WEIGHED, Weighed

CUTS = (math.inf, 1e4, 100.0, 30.0, 10.0, 3.0, 1.0)  # of a text's numbers the larger ones may be beyond the reference
# In this order: where rows have magnitudes of their own, the farthest and the nearest are among them.
BEYOND = ("magnitudes", "farthest", "nearest", "weights", "asked", "integers", "unread", "signed", "negative", "grown",
          "zeros", "exact", "repeated", "reordered", "ends", "absent", "lowered", "ones", "emptied", "rows", "lifted",
          "raised", "twins", "coupled", "adjacent", "lone", ALIKE, *SPARSE, GRADED, SURE, UNEVEN, "eased",
          *FAINT, CANCELLING, LEANING, *AGED, DOMINATED, "filled", *BURDENS, *REPEATS,
          BALANCED, UNDONE, LED, EDGED, SEEMING)  # fmt: skip
# And as what style the reference is to bear each.
HELD = {"twins": "twins", ALIKE: ALIKE, GRADED: GRADED, SURE: SURE, DOMINATED: "ties", LED: "ties",
        SEEMING: "ties"}  # fmt: skip
HELD |= dict.fromkeys(("zeros", *SPARSE, *FAINT), "wide")
IGNORED, GROUPED, WRAPPED = TOLD = "ignored", "grouped", "wrapped"  # of which receipts tell
AS_COMPLEX = (*AS_THEY_ARE, *GRADIENTS, *DTYPES, *VIEWS)  # styles for which complex inputs are no pairs
# The inputs come from the same numbers as what a generator of their seed draws: a sign would follow from a last digit.
OF_THEIR_OWN = ("negative", "zeros", "repeated", "asked", "integers", "reordered", "ends", "absent", "lowered", "ones",
                "emptied", "rows", "twins", "lone", *SPARSE, GRADED, GROUPED, WRAPPED, UNEVEN, "eased",
                "filled", SEEMING)  # fmt: skip
DIVIDES = frozenset("div div_ reciprocal reciprocal_ rsqrt rsqrt_ addcdiv addcdiv_".split())
STEADY = frozenset({"hypot"})  # operators in which nothing overflows that their answers do not
MOST_SAID = 16  # numbers that a candidate names which are put among integers


class Unusual(Weighed):
    """One task's reference, run also where its own draws do not come."""

    def __init__(self, payload: dict[str, Any]) -> None:
        super().__init__(payload)
        self._names_said: list[float] = payload["named"]
        self._unpaired: list[Any] | None = None  # inputs that are complex, while they are drawn as pairs
        self._mixed: magnitudes.Mixed | None = None  # rows of several magnitudes, where these are independent
        self._undone: Undone | None = None  # steps of which the last undoes the others
        self._single, self._jumps = False, False  # a text's numbers are to be in single precision; it steps
        self._burden: Burden | None = None  # lines that are large, where not all of an answer follows from them

    @property
    def _named(self) -> list[float]:
        """Numbers that a candidate's kernels name, and those at which the reference itself goes another way."""
        said = [v for v in self._names_said if isinstance(v, float)]
        return [*dict.fromkeys([*said, *sorted(self._asks.borders, key=abs)])]

    def _draw(
        self, styles: list[str], program: Program, state: dict[str, Any], natural: list[Any], generator: torch.Generator
    ) -> tuple[str, list[Any] | None]:
        if not complexes(natural) or styles[0] in AS_COMPLEX:
            return self._drawn(styles, program, state, natural, generator)
        self._unpaired = natural
        try:
            style, inputs = self._drawn(styles, program, state, apart(natural), generator)
        finally:
            self._unpaired = None
        return style, inputs and together(inputs, natural)

    def _answer(
        self, program: Program, state: dict[str, Any], inputs: list[Any], double: bool = False
    ) -> tuple[Any, nn.Module, list[Any]]:
        given = inputs if self._unpaired is None else together(inputs, self._unpaired)
        return super()._answer(program, state, given, double)

    def _drawn(
        self, styles: list[str], program: Program, state: dict[str, Any], natural: list[Any], generator: torch.Generator
    ) -> tuple[str, list[Any] | None]:
        if styles[0] in (*CANCELS, *REPEATS):
            found = self._cancelling if styles[0] in CANCELS else self._slow
            return styles[0], found(styles[0], program, state, natural, generator)
        if styles[0] in (*BEYOND, *TOLD, STRETCHED):
            far = self._far(styles[0], program, state, natural, generator)
            large = styles[0] in (*REACHING, STRETCHED)
            undecided = far is not None and large and self._undecided(program, state, far)
            return styles[0], None if undecided else far
        if styles[0] == BORDERED:
            held = holding(natural, sorted(self._asks.borders, key=abs), generator, zeros=False)
            return BORDERED, held if self._asks.borders and self._bears(
                program, state, held, KINKED, generator
            ) else None
        if styles[0] == FADING:
            return FADING, self._fading(program, state, natural, generator)
        if styles[0] != "named":
            return super()._draw(styles, program, state, natural, generator)
        nearly = draw(styles[1], natural, generator)
        for most in (cut for cut in CUTS if cut is math.inf or max(self._named) > cut):
            inputs = holding(nearly or natural, [v for v in self._named if v <= most], generator)
            if self._bears(program, state, inputs, "ties", generator):
                return "named", inputs
        return styles[1], nearly

    def _far(
        self, style: str, program: Program, state: dict[str, Any], natural: list[Any], generator: torch.Generator
    ) -> list[Any] | None:
        """Inputs that no task draws and its reference bears; None where there are none."""
        if style in OF_THEIR_OWN:
            generator = torch.Generator().manual_seed(generator.initial_seed() ^ APART)
        measures = self._measures(program, state, natural, generator)
        if style in ("asked", IGNORED):
            return self._asked(style, measures, natural, generator)
        if style == "integers":
            return self._enlarged(program, state, measures, natural, generator)
        if style == "unread":
            return self._unread(program, state, natural, generator)
        if style in WEIGHED:
            return natural
        if style in asked.CHANGED:
            if style == "adjacent" and self._names & ANY:
                return None
            finite = 1.0 if style in ("ends", "emptied", "filled", WRAPPED) else FINITE
            held = all_answered(measures, natural, asked.CHANGED[style](natural, generator), natural, finite)
            return held if style != "eased" or held is None or adds(measures, held) else None
        if style in ("negative", "repeated", "rows", "lone", UNEVEN):
            finite = 1.0 if style in ("lone", UNEVEN) else FINITE
            some = self._integers(style, program, state, natural, generator)
            return all_answered(measures, natural, some, natural, finite)
        if style in HELD:
            held = self._held(style, measures, natural, generator)
            tried = [emptied(held), held] if style == "zeros" and held is not None else [held]
            tried += [seeming(natural, generator, ties=False)] if style == SEEMING else []
            borne = (t for t in tried if t is not None and self._bears(program, state, t, HELD[style], generator))
            return next(borne, None)
        if style in RAISED:
            held = draw(style, natural, generator)
            return held if held is not None and measures.bears(held) else None
        if style in ("exact", EDGED):
            edged = style == EDGED
            return self._edged(measures, natural, generator) if edged else self._exact(program, state, natural)
        if style == STRETCHED:
            return magnitudes.stretched(natural, measures)
        centred = draw("centred", natural, generator)
        inputs = centred if centred is not None and measures.bears(centred) else natural
        if style == "signed":
            return centred_apart(natural, measures.bears, generator) if inputs is natural else None
        if style in ("magnitudes", *BURDENS, UNDONE):
            return self._by_lines(style, measures, natural if style == UNDONE else inputs, generator)
        scales, steady = magnitudes.FARTHEST if style == "farthest" else magnitudes.NEAREST, self._names & STEADY
        return None if self._mixed else magnitudes.uniform(inputs, scales, measures.bears, bool(steady))

    def _by_lines(
        self, style: str, measures: magnitudes.Measures, inputs: list[Any], generator: torch.Generator
    ) -> list[Any] | None:  # fmt: skip
        """Inputs some lines of which are larger than others, by which lines of the answer are judged; None for none."""
        if style == "magnitudes":
            self._mixed = along.mixed(inputs, measures, bool(self._names & STEADY))
            return self._mixed.inputs if self._mixed else None
        if style == UNDONE:
            self._undone = undone(inputs, measures.eager, measures.golden, generator)
            return self._undone.inputs if self._undone else None
        if style == STRAINED and self._burden is None:
            return None
        self._burden = burdened(inputs, measures, self._names, self._burden if style == STRAINED else None)
        return self._burden.inputs if self._burden else None

    def _fading(
        self, program: Program, state: dict[str, Any], natural: list[Any], generator: torch.Generator
    ) -> list[Any] | None:  # fmt: skip
        """Inputs that fade to nothing, with any rows of the tables that it looks up, some twice; None for neither."""
        measures = self._measures(program, state, natural, generator)
        some = [*self._integers("rows", program, state, natural, generator),
                *self._integers("repeated", program, state, natural, generator),
                *asked.replaced(natural, sorted(self._asks.numbers), generator)]  # fmt: skip
        rows = all_answered(measures, natural, some, natural, 1.0)
        ways = itertools.product((True, False) if one_way(self._names) else (False,), (False, True))
        tried = (fading(rows or natural, zeros, first) for zeros, first in ways)
        borne = (t for t in tried if t is not None and self._bears(program, state, t, FADING, generator))
        return next(borne, rows)

    def _held(
        self, style: str, measures: magnitudes.Measures, natural: list[Any], generator: torch.Generator
    ) -> list[Any] | None:  # fmt: skip
        """The inputs with zeros, or the largest of each row twice, where no operator leaves open what it takes then."""
        if style == "twins":
            return twinned(natural) if CHOOSES in self._names else None
        if style == ALIKE:
            return paired(natural)
        if style == SEEMING:
            return seeming(natural, generator)
        if style == DOMINATED:
            with Dims() as dims:
                measures.eager(natural)
            return dominated(natural, self._names, dims.found)
        if style == LED:
            return led(natural, measures.eager)
        if style in FAINT:  # what is added lest zero divide counts there
            return draw(style, natural, generator) if self._names & DIVIDES else None
        if style == SURE:
            return sure(natural) if self._names & PICKS else None
        if style == GRADED:  # who weighs products leaves out what weighs little
            return graded(natural, generator) if self._products and weighs(self._names) else None
        if self._names & ANY or style in SPARSE and not self._products:  # nobody skips what is no work
            return None
        return sparse(style, natural, generator) if style in SPARSE else zeroed(natural, generator)

    def _integers(
        self, style: str, program: Program, state: dict[str, Any], natural: list[Any], generator: torch.Generator
    ) -> Iterable[asked.Change]:
        """How integers among the inputs are changed, where the reference's operators leave no doubt what that means."""
        if style == UNEVEN:
            with Lengths(natural) as lengths:
                self._answer(program, state, natural)
            said = tree_leaves([*program.arguments()])
            changes = [*uneven(natural, said, generator), *filled(natural, lengths.room, said, generator)]
            with contextlib.suppress(Exception):  # it has no answer to a sequence of nothing
                answer = partial(self._answer, program, state)
                changes += without_any(natural, lengths.room, lambda held: answer(held)[0], generator)
            return changes
        if style == "negative":
            return asked.negated(natural, generator) if self._asks.signed and not self._asks.places else ()
        if style == "lone":
            return asked.lone(natural, self._asks, generator)
        if style == "repeated":
            return asked.repeated(natural, generator) if self._names.isdisjoint(EITHER) else ()
        return asked.looked_up(natural, [state, natural], generator) if self._names & LOOKS_UP else ()

    def _enlarged(
        self, program: Program, state: dict[str, Any], measures: magnitudes.Measures, natural: list[Any],
        generator: torch.Generator,
    ) -> list[Any] | None:  # fmt: skip
        """The inputs with integers that are large, lengths being what they are; None where none can be."""

        def nudged(inputs: list[Any]) -> Any:  # integers have no ulp
            with Nudged(1, 1):
                return self._answer(program, state, inputs)[0]

        with Lengths(natural) as lengths:
            self._answer(program, state, natural)
        found = enlarged(replace(measures, moved=nudged), natural, generator, lengths.found)
        said = sorted({int(v) + n for v in self._names_said if v == int(v) for n in (0, 1)})[:MOST_SAID]
        some = asked.replaced(natural, said, generator, lengths.found)
        return all_answered(measures, found or natural, some, natural) or found

    def _undecided(self, program: Program, state: dict[str, Any], inputs: list[Any]) -> bool:
        """Whether the reference chooses among what is close there, or makes integers of what is beyond them."""
        with Ties() as ties, Casts() as casts:
            self._answer(program, state, inputs)
        return bool(ties.seen or ties.close or casts.undefined)

    def _unread(
        self, program: Program, state: dict[str, Any], natural: list[Any], generator: torch.Generator
    ) -> list[Any] | None:  # fmt: skip
        """The inputs with infinities where the reference's masks leave them out; None where there are none."""
        if not self._names & unread.SELECTS:
            return None

        def forward(inputs: list[Any]) -> Any:
            seed_torch(0)
            module = self._build(program, program.arguments(), None)
            module.load_state_dict(state)
            return module(*tree_map(lambda t: t.clone() if isinstance(t, Tensor) else t, inputs))  # its to change

        try:
            return unread.infinite(natural, forward, generator)
        except Exception:  # noqa: BLE001 - it cannot be derived, or the task does not allow it
            return None

    def _asked(
        self, style: str, measures: magnitudes.Measures, natural: list[Any], generator: torch.Generator
    ) -> list[Any] | None:
        """The inputs with all that the reference asks about and gives an answer to; None where there is nothing."""
        changes = asked.changes(natural, self._asks, generator)
        if style == IGNORED:
            changes = asked.replaced(natural, sorted(self._asks.ignored), generator)
        return all_answered(measures, natural, changes)

    def _exact(self, program: Program, state: dict[str, Any], natural: list[Any]) -> list[Any] | None:
        """Inputs at which the reference steps, see ``kdata.verify.reference.exact``; None where it does nowhere."""
        if self._names & ANY:
            return None
        weighed = self._weigh("exact", program, state, natural, torch.Generator()) or state
        measures = self._measures(program, weighed, natural, torch.Generator())
        drawn = exact.drawn(natural, self._names, self._asks.divisors)
        found = [(exact.sure(inputs, measures.eager, measures.golden), inputs) for inputs in drawn]
        steps, inputs = max(found, key=lambda each: each[0])  # the first of those that are as good
        return inputs if steps else None

    def _edged(
        self, measures: magnitudes.Measures, natural: list[Any], generator: torch.Generator
    ) -> list[Any] | None:  # fmt: skip
        """Inputs that are numbers which the reference names, as far as it steps there for sure; None where nowhere."""
        numbers = self._asks.borders | self._asks.added if self._jumps and not self._names & ANY else ()
        inputs = edged(natural, numbers, generator)
        return inputs if inputs is not None and met(inputs, measures.eager, measures.golden) else None

    def _golden(self, program: Program, state: dict[str, Any], inputs: list[Any]) -> tuple[Any, nn.Module]:
        with Single() if self._single else contextlib.nullcontext():
            return super()._golden(program, state, inputs)

    def _trial(self, index: int, variant: Variant, seed: int, style: str) -> dict[str, Any] | None:
        self._single, self._jumps = style == EDGED, variant.run.cost.jumps
        trial = super()._trial(index, variant, seed, style)
        self._single = False
        if trial is not None and trial["style"] in ("exact", EDGED, BORDERED):
            trial["kept"].pop("span", None)  # it is on one side for sure
        if trial is not None and trial["style"] in (*CANCELS, DOMINATED, LED):  # moved by an ulp of half's nothing is
            rounded = [self._plain(self.kept, self._rounded), self.kept.write({})]
            trial["kept"]["noisy"] = [rounded] if trial["style"] in CANCELS else []
        if trial is not None and trial["style"] in REACHING and self._mixed:
            trial["kept"] |= {"homogeneous": self._mixed.homogeneous, "along": self._mixed.dim}
        if trial is not None and trial["style"] == UNDONE and self._undone:
            rounded = [self._plain(self.kept, self._undone.rounded), self.kept.write({})]
            trial["kept"] |= {"along": self._undone.dim, "noisy": [rounded]}
        if trial is not None and trial["style"] in BURDENS and self._burden:
            trial["kept"]["along"] = self._burden.dim
        return trial

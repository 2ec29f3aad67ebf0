"""The reference beyond what every candidate must do: other dtypes, layouts, values that are not finite, and gradients.

In the reference's child, in place of ``reference.reference``: its trials are all there, with two more distributions
of inputs, and beside them stand ``extra`` ones, see ``kdata.verify.reference.breadth``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map

from kdata.task import INIT_INPUTS, INPUTS, Program
from kdata.verify.gradients import NoGradientError, beyond_rounding, floating, gradients, names
from kdata.verify.reference import asked, exact, magnitudes, unread
from kdata.verify.reference.answering import FINITE, all_answered, close, enlarged, same_places, share_finite
from kdata.verify.reference.arguments import KINDS, Arguments, changed, with_numbers
from kdata.verify.reference.conditioned import ANY, EITHER, first, of_blocks
from kdata.verify.reference.draws import DTYPES, centred_apart, draw, holding, jogged, labels, zeroed
from kdata.verify.reference.faults import answered
from kdata.verify.reference.lengths import Lengths
from kdata.verify.reference.magnitudes import CONDITION
from kdata.verify.reference.questions import Asks
from kdata.verify.reference.reference import Reference
from kdata.verify.reference.roundings import Nudged
from kdata.verify.reference.styles import GRADIENTS, REACHING, STRETCHED, VIEWS
from kdata.verify.reference.ties import Ties
from kdata.verify.reference.variants import Variant
from kdata.verify.reference.weights import redraw
from kdata.verify.values import by_an_ulp, copied, seed_torch

GRID = 0.05  # share of its size that an answer in half precision may be off before it is taken to mean nothing
ARGUMENT, NUMBER, BATCH = "argument", "number", "batch"
CUTS = (math.inf, 1e4, 100.0, 30.0, 10.0, 3.0, 1.0)  # of a text's numbers the larger ones may be beyond the reference
# In this order: where rows have magnitudes of their own, the farthest and the nearest are among them.
BEYOND = ("magnitudes", "farthest", "nearest", "weights", "asked", "integers", "unread", "signed", "negative", "grown",
          "zeros", "exact", "repeated", "reordered", "ends", "absent", "lowered", "ones", "emptied", "rows", "lifted",
          "raised")  # fmt: skip
IGNORED, GROUPED = "ignored", "grouped"
# The inputs come from the same numbers as what a generator of their seed draws: a sign would follow from a last digit.
OF_THEIR_OWN = ("negative", "zeros", "repeated", "asked", "integers", "reordered", "ends", "absent", "lowered", "ones",
                "emptied", "rows", GROUPED)  # fmt: skip
APART = 0x5DEECE66D


def answer(payload: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """As ``kdata.verify.reference.reference.answer``.

    ``payload`` also says which extras to make: ``grid``, ``gradient``; and which values inputs hold in one more draw:
    ``named``.
    """
    torch.set_num_threads(1)
    return answered(lambda: Wider(payload).run(scratch))


class Wider(Reference):
    """One task's reference, run at every variant and seed, and beyond."""

    def __init__(self, payload: dict[str, Any]) -> None:
        super().__init__(payload)
        self._grid, self._gradient = payload["grid"], payload["gradient"]
        self._named: list[float] = payload["named"]
        self._style = ""  # of the extra trial that is being made
        self._wanted: dict[str, Any] = {}  # which gradients the candidate is asked for
        self._extra: list[dict[str, Any]] = []
        self._instead: dict[str, Callable[[], list[Any]]] = {}  # functions in place of the task's, by their names
        self._asks, self._names = Asks(), frozenset[str]()  # of the variant that is being tried
        self._mixed: magnitudes.Mixed | None = None  # rows of several magnitudes, where these are independent

    def run(self, scratch: Path) -> dict[str, Any]:
        """Everything."""
        return super().run(scratch) | {"extra": self._extra}

    def _draws(self, kind: str) -> list[tuple[int, str]]:
        more = [(self.seeds[0] + 3, "ties"), (self.seeds[0] + 4, "small"), (self.seeds[0] + 3, "late")]
        draws = super()._draws(kind)
        if self._grid and kind == "large":  # blocks that are larger than small sizes are full there
            draws += [(self.seeds[0] + 3, style) for style in of_blocks(self._names)]
        if self._named and kind == "base":  # in place of a draw where there are to be few
            draws = [(seed, "named nearly" if style == "nearly" else style) for seed, style in draws]
        if self._grid and kind == "base":
            more += [(self.seeds[0] + 5 + n, style) for n, style in enumerate(BEYOND)]
        return draws + (more if self._grid and kind in ("base", "odd") else [])

    def _draw(
        self, styles: list[str], program: Program, state: dict[str, Any], natural: list[Any], generator: torch.Generator
    ) -> tuple[str, list[Any] | None]:
        if styles[0] in (*BEYOND, IGNORED, GROUPED, STRETCHED):
            far = self._far(styles[0], program, state, natural, generator)
            large = styles[0] in (*REACHING, STRETCHED)
            undecided = far is not None and large and self._undecided(program, state, far)
            return styles[0], None if undecided else far
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
        measures = self._measures(program, state, generator)
        if style in ("asked", IGNORED):
            return self._asked(style, measures, natural, generator)
        if style == "integers":
            return self._enlarged(program, state, measures, natural, generator)
        if style == "unread":
            return self._unread(program, state, natural, generator)
        if style in ("weights", "grown", "absent"):
            return natural
        if style in asked.CHANGED:
            finite = 1.0 if style in ("ends", "emptied") else FINITE
            return all_answered(measures, natural, asked.CHANGED[style](natural, generator), natural, finite)
        if style in ("negative", "repeated", "rows"):
            return all_answered(measures, natural, self._integers(style, state, natural, generator), natural)
        if style == "zeros":
            held = None if self._names & ANY else zeroed(natural, generator)
            return held if held is not None and self._bears(program, state, held, "wide", generator) else None
        if style in ("lifted", "raised"):
            held = draw(style, natural, generator)
            return held if held is not None and measures.bears(held) else None
        if style == "exact":
            return self._exact(program, state, natural)
        if style == STRETCHED:
            return magnitudes.stretched(natural, measures)
        centred = draw("centred", natural, generator)
        inputs = centred if centred is not None and measures.bears(centred) else natural
        if style == "signed":
            return centred_apart(natural, measures.bears, generator) if inputs is natural else None
        if style == "magnitudes":
            self._mixed = magnitudes.mixed(inputs, measures)
            return self._mixed.inputs if self._mixed else None
        scales = magnitudes.FARTHEST if style == "farthest" else magnitudes.NEAREST
        return None if self._mixed else magnitudes.uniform(inputs, scales, measures.bears)

    def _integers(
        self, style: str, state: dict[str, Any], natural: list[Any], generator: torch.Generator
    ) -> Iterable[asked.Change]:
        """How integers among the inputs are changed, where the reference's operators leave no doubt what that means."""
        if style == "negative":
            return asked.negated(natural, generator) if self._asks.signed and not self._asks.places else ()
        if style == "repeated":
            return asked.repeated(natural, generator) if self._names.isdisjoint(EITHER) else ()
        return asked.looked_up(natural, [state, natural], generator) if "embedding" in self._names else ()

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
        return enlarged(replace(measures, moved=nudged), natural, generator, lengths.found)

    def _undecided(self, program: Program, state: dict[str, Any], inputs: list[Any]) -> bool:
        """Whether the reference chooses among what is close there."""
        with Ties() as ties:
            self._answer(program, state, inputs)
        return bool(ties.seen or ties.close)

    def _measures(
        self, program: Program, state: dict[str, Any], generator: torch.Generator
    ) -> magnitudes.Measures:  # fmt: skip
        def moved(inputs: list[Any]) -> Any:
            with magnitudes.RootsApart():
                return self._answer(program, state, tree_map(lambda t: by_an_ulp(t, generator), inputs))[0]

        return magnitudes.Measures(
            lambda inputs: self._answer(program, state, inputs)[0],
            lambda inputs: self._golden(program, state, inputs)[0],
            moved,
        )

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
        measures = self._measures(program, weighed, torch.Generator())
        drawn = exact.drawn(natural, self._names)
        found = [(exact.sure(inputs, measures.eager, measures.golden), inputs) for inputs in drawn]
        steps, inputs = max(found, key=lambda each: each[0])  # the first of those that are as good
        return inputs if steps else None

    def _weigh(
        self, style: str, program: Program, state: dict[str, Any], inputs: list[Any], generator: torch.Generator
    ) -> dict[str, Any] | None:
        if style not in ("weights", "grown", "exact", "absent"):
            return super()._weigh(style, program, state, inputs, generator)
        module = self._build(program, program.arguments(), None)
        trained = [n for n, p in module.named_parameters() if p.requires_grad and p.is_floating_point() and n in state]
        if style == "exact":
            return state | {name: exact.powers(state[name]) for name in trained}
        if style == "grown":
            tried = magnitudes.grown(state, trained)
        else:
            tried = (magnitudes.absent if style == "absent" else magnitudes.weights)(state, trained, generator)
        return next((w for w in tried if trained and self._measures(program, w, generator).holds(inputs)), None)

    def _trial(self, index: int, variant: Variant, seed: int, style: str) -> dict[str, Any] | None:
        trial = super()._trial(index, variant, seed, style)
        if trial is not None and trial["style"] == "exact":
            trial["kept"].pop("span", None)  # it is on one side for sure
        if trial is not None and trial["style"] in REACHING and self._mixed:
            trial["kept"]["homogeneous"] = self._mixed.homogeneous
        return trial

    def _trials(self, index: int, variant: Variant) -> list[dict[str, Any]]:
        if variant.kind == BATCH:  # compilers take a one for a constant, and what they make is right for the task
            self._extra += [made for made in [self._beyond(index, variant, BATCH) if self._grid else None] if made]
            return []
        self._asks, self._names = variant.run.cost.asks, variant.run.cost.names
        trials = super()._trials(index, variant)
        styles = []
        if self._grid:
            styles += [*DTYPES] if variant.kind in ("base", "odd") else []
            styles += [*VIEWS, "nonfinite", GROUPED] if variant.kind == "base" else []
            styles += [IGNORED] if variant.kind == "base" and self._asks.ignored else []
        if self._gradient:  # where blocks are not full, too
            styles += {"base": GRADIENTS, "odd": GRADIENTS[:1]}.get(variant.kind, ())
        self._extra += [made for style in styles if (made := self._beyond(index, variant, style))]
        if self._grid and variant.kind == "base":
            ways = itertools.product((ARGUMENT, NUMBER), KINDS)
            self._extra += filter(None, (self._varied(index, variant, style, kinds) for style, kinds in ways))
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
        drawn, numbers = program.namespace[INPUTS], other.arguments
        self._instead = ({INIT_INPUTS: lambda: [*numbers]} if constructed else
                         {INPUTS: lambda: with_numbers(drawn(), numbers[0])})  # fmt: skip
        trial = self._beyond(index, variant, style)
        self._instead = {}
        return trial and trial | {"detail": f"{'constructed' if constructed else 'called'} with {other.detail}"}

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
            still = labels(floating(inputs)) if self._style != "frozen" else set()
            used = beyond_rounding(found, derived("gradient") if self._style == "summed" else found)
            chosen = [n for n in used if n not in still]
            self._wanted = {"seed": self.seeds[0], "parameters": parameters, "used": chosen, "way": self._style}
        if not self._wanted["used"]:
            raise NoGradientError("all of it vanishes")
        return [g for n in self._wanted["used"] if (g := found[n]) is not None]

    def _bears(
        self, program: Program, state: dict[str, Any], inputs: list[Any], style: str, generator: torch.Generator
    ) -> bool:
        if style == "ties" and first(self._names):
            return super()._bears(program, state, inputs, style, generator)
        if style in ("ties", "small"):
            bears = super()._bears(program, state, inputs, "wide", generator)
            return bears and (style == "small" or self._continuous(program, state, inputs, generator))
        if style != "nonfinite" and style not in DTYPES:
            return super()._bears(program, state, inputs, style, generator)
        try:
            eager, _, _ = self._answer(program, state, inputs)
            golden, _ = self._golden(program, state, inputs)
        except Exception:  # noqa: BLE001 - the task does not allow it
            return False
        pairs = [(a, b) for a, b in zip(tree_leaves(eager), tree_leaves(golden), strict=True) if isinstance(a, Tensor)]
        if style == "nonfinite":
            return all(same_places(a, b) for a, b in pairs) and FINITE <= share_finite(eager) < 1
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

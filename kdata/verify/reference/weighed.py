"""The reference at weights that no task draws, as far as it bears them. In the reference's child."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

from kdata.task import Program
from kdata.verify.constants import says_ignored
from kdata.verify.reference import exact, magnitudes
from kdata.verify.reference.aging import aged
from kdata.verify.reference.balanced import balanced
from kdata.verify.reference.cancelling import HALVES, LOOKS_UP, cancelling
from kdata.verify.reference.gradients import APART
from kdata.verify.reference.leaning import Factors, leaning
from kdata.verify.reference.questions import Asks
from kdata.verify.reference.reference import Reference
from kdata.verify.reference.slow import settling, slow
from kdata.verify.reference.styles import AGED, BALANCED, CANCELLING, LEANING, REPEATS, SETTLING
from kdata.verify.reference.ties import coupled
from kdata.verify.reference.unwritten import Poisoned
from kdata.verify.reference.values import by_an_ulp, computes, same
from kdata.verify.reference.variants import Variant

WEIGHED = ("weights", "grown", "absent", LEANING, *AGED, "coupled")  # of the weights only; the last: behind a gate
CANCELS = (CANCELLING, BALANCED)  # of sums in half precision
CHOOSES = "topk"  # the operator that takes some of what is equal, and all of it where there is room


class Weighed(Reference):
    """One task's reference, run also with weights that its own draws do not have."""

    def __init__(self, payload: dict[str, Any]) -> None:
        super().__init__(payload)
        self._asks, self._names, self._products = Asks(), frozenset[str](), False  # of the variant that is being tried
        self._says_ignored = says_ignored(self.source)
        self._factors: dict[str, Any] | None = None  # weights that cancel in a product with inputs, or with each other
        self._rounded: Any = None  # what rounding to single precision may make of an answer there

    def _trials(self, index: int, variant: Variant) -> list[dict[str, Any]]:
        self._asks, self._names = variant.run.cost.asks, variant.run.cost.names
        self._products = variant.run.cost.products
        if self._says_ignored:
            self._asks.told()
        return super()._trials(index, variant)

    def _measures(
        self, program: Program, state: dict[str, Any], natural: list[Any], generator: torch.Generator
    ) -> magnitudes.Measures:  # fmt: skip
        def moved(inputs: list[Any]) -> Any:
            with magnitudes.RootsApart(), Poisoned():
                return self._answer(program, state, tree_map(lambda t: by_an_ulp(t, generator), inputs))[0]

        return magnitudes.Measures(
            lambda inputs: self._answer(program, state, inputs)[0],
            lambda inputs: self._golden(program, state, inputs)[0],
            moved,
            magnitudes.ROUGH if magnitudes.in_half([natural]) else magnitudes.CONDITION,
        )

    def _cancelling(
        self, style: str, program: Program, state: dict[str, Any], natural: list[Any], generator: torch.Generator
    ) -> list[Any] | None:  # fmt: skip
        """Inputs, and weights beside, whose products cancel; None where there are none in half precision."""
        generator = torch.Generator().manual_seed(generator.initial_seed() ^ APART)
        flat, form = tree_flatten([natural, {name: state[name] for name in self._trained(program, state)}])
        if not any(computes(t) and t.dtype in HALVES for t in flat):
            return None

        def answer(of: Callable[..., Any], leaves: list[Any]) -> Any:
            inputs, weights = tree_unflatten(leaves, form)
            return of(program, state | weights, inputs)[0]

        search = balanced if style == BALANCED else cancelling
        found = search(flat, partial(answer, self._answer), partial(answer, self._golden), generator)
        if found is None:
            return None
        inputs, weights = tree_unflatten(found.leaves, form)
        self._factors, self._rounded = state | weights, found.rounded
        return list(inputs)

    def _slow(
        self, style: str, program: Program, state: dict[str, Any], natural: list[Any], generator: torch.Generator
    ) -> list[Any] | None:  # fmt: skip
        """Inputs, and weights beside, at which what is repeated converges late, or slowly; None where nothing does."""
        names = self._trained(program, state)
        flat, form = tree_flatten(natural)

        def weighed(weights: list[Any]) -> dict[str, Any]:
            return state | dict(zip(names, weights, strict=True))

        def bears(leaves: list[Any], weights: list[Any]) -> bool:
            return self._measures(program, weighed(weights), natural, generator).bears(tree_unflatten(leaves, form))

        def answer(leaves: list[Any], weights: list[Any]) -> Any:
            return self._answer(program, weighed(weights), tree_unflatten(leaves, form))[0]

        search = settling if style == SETTLING else slow
        found = search(flat, [state[name] for name in names], answer, bears)
        if found is None:
            return None
        self._factors = weighed(found[1])
        return list(tree_unflatten(found[0], form))

    def _trained(self, program: Program, state: dict[str, Any]) -> list[str]:
        """The names of weights that are trained."""
        module = self._build(program, program.arguments(), None)
        return [n for n, p in module.named_parameters() if p.requires_grad and p.is_floating_point() and n in state]

    def _weigh(
        self, style: str, program: Program, state: dict[str, Any], inputs: list[Any], generator: torch.Generator
    ) -> dict[str, Any] | None:
        if style in (*CANCELS, *REPEATS):
            return self._factors
        if style not in (*WEIGHED, "exact"):
            return super()._weigh(style, program, state, inputs, generator)
        trained = self._trained(program, state)
        if style == "coupled":
            borne = (w for w in coupled(state, trained) if self._bears(program, w, inputs, "wide", generator))
            return next(borne, None) if trained and CHOOSES in self._names else None
        if style == "exact":
            return state | {name: exact.powers(state[name]) for name in trained}
        moving: list[Any] = []
        if style in AGED:
            moving = aged(style, state, trained, partial(self._answer, program, inputs=inputs), self._asks.places)
            tried = iter(moving)
        elif style == LEANING:
            with Factors(LOOKS_UP) as factors:
                trained = factors.others(self._answer(program, state, inputs)[1])
            tried = leaning(state, [name for name in trained if name in state])
        elif style == "grown":
            after = self._answer(program, state, inputs)[1].state_dict()
            moving = [n for n, value in state.items() if computes(value) and not same(value, after[n])]
            tried = magnitudes.grown(state, trained, moving)
        else:
            tried = (magnitudes.absent if style == "absent" else magnitudes.weights)(state, trained, generator)
        borne = (w for w in tried if self._measures(program, w, inputs, generator).holds(inputs))
        return next(borne, None) if trained or moving else None

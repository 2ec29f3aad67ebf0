"""The reference beyond what every candidate must do: other dtypes, layouts, values that are not finite, and gradients.

In the reference's child, in place of ``kdata.verify.reference``: its trials are all there, with two more distributions
of inputs, and beside them stand ``extra`` ones, see ``kdata.verify.breadth``.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map

from kdata.task import Program
from kdata.verify.draws import DTYPES, draw, holding, jogged
from kdata.verify.faults import answered
from kdata.verify.gradients import gradients, names
from kdata.verify.reference import CONDITION, Reference
from kdata.verify.variants import Variant

GRID = 0.05  # share of its size that an answer in half precision may be off before it is taken to mean nothing
FINITE = 0.5  # share of an answer that must stay finite when three elements of the inputs are not
GRADIENT = "gradient"
USUAL = 100.0  # larger numbers of a text are limits more often than inputs


def answer(payload: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """As ``kdata.verify.reference.answer``.

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

    def run(self, scratch: Path) -> dict[str, Any]:
        """Everything."""
        return super().run(scratch) | {"extra": self._extra}

    def _draws(self, kind: str) -> list[tuple[int, str]]:
        more = [(self.seeds[0] + 3, "ties"), (self.seeds[0] + 4, "small")]
        draws = super()._draws(kind)
        if self._named and kind == "base":  # in place of a draw where there are to be few
            draws = [(seed, "named nearly" if style == "nearly" else style) for seed, style in draws]
        return draws + (more if self._grid and kind in ("base", "odd") else [])

    def _draw(
        self, styles: list[str], program: Program, state: dict[str, Any], natural: list[Any], generator: torch.Generator
    ) -> tuple[str, list[Any] | None]:
        if styles[0] != "named":
            return super()._draw(styles, program, state, natural, generator)
        nearly = draw(styles[1], natural, generator)
        for most in (math.inf, USUAL, 1.0):
            inputs = holding(nearly or natural, [v for v in self._named if v <= most], generator)
            if self._bears(program, state, inputs, "ties", generator):
                return "named", inputs
        return styles[1], nearly

    def _trials(self, index: int, variant: Variant) -> list[dict[str, Any]]:
        trials = super()._trials(index, variant)
        styles = []
        if self._grid:
            styles += [*DTYPES] if variant.kind in ("base", "odd") else []
            styles += ["strided", "nonfinite"] if variant.kind == "base" else []
        if self._gradient and variant.kind == "base":
            styles.append(GRADIENT)
        self._extra += [made for style in styles if (made := self._beyond(index, variant, style))]
        return trials

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
            trial["given"] |= {"gradient": self._wanted} if style == GRADIENT else {}
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
        if self._style == GRADIENT:
            outputs = self._derived(program, state, inputs, double)
        return outputs, module, held

    def _derived(self, program: Program, state: dict[str, Any], inputs: list[Any], double: bool) -> list[Tensor]:
        """The gradients of all that the answer depends on, of a module that no other forward has run through."""
        torch.manual_seed(0)
        module = self._build(program, program.arguments(), None)
        module = module.double() if double else module
        module.load_state_dict(state)
        seed, parameters = self.seeds[0], names(module)
        found = gradients(module, inputs, seed, parameters)
        if not self._wanted:
            used = [n for n, g in enumerate(found) if g is not None and bool((g != 0).any())]
            self._wanted = {"seed": seed, "parameters": parameters, "used": used}
        return [g for n in self._wanted["used"] if (g := found[n]) is not None]

    def _bears(
        self, program: Program, state: dict[str, Any], inputs: list[Any], style: str, generator: torch.Generator
    ) -> bool:
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
            return all(_same_places(a, b) for a, b in pairs) and FINITE <= _finite(eager) < 1
        return all(_close(a, b, GRID) for a, b in pairs)

    def _continuous(
        self, program: Program, state: dict[str, Any], inputs: list[Any], generator: torch.Generator
    ) -> bool:  # fmt: skip
        """Whether the answer moves little when zeros and ties are broken: not at the cut of an angle, nor at a step."""
        try:
            one, _, _ = self._answer(program, state, inputs)
            other, _, _ = self._answer(program, state, tree_map(lambda t: jogged(t, generator), inputs))
        except Exception:  # noqa: BLE001 - outside its domain
            return False
        pairs = [(a, b) for a, b in zip(tree_leaves(one), tree_leaves(other), strict=True) if isinstance(a, Tensor)]
        return all(_close(a, b.double() if b.is_floating_point() else b, CONDITION) for a, b in pairs)


def _close(one: Tensor, golden: Tensor, share: float) -> bool:
    """Whether an answer is finite and, but for a share of its size, the golden one; integers are the same."""
    if not one.is_floating_point():
        return torch.equal(one, golden)
    finite = bool(torch.isfinite(one).all() and torch.isfinite(golden).all())
    return finite and float((one.double() - golden).norm()) <= share * float(golden.norm())


def _same_places(one: Tensor, other: Tensor) -> bool:
    return torch.equal(torch.isnan(one), torch.isnan(other)) and torch.equal(torch.isinf(one), torch.isinf(other))


def _finite(outputs: Any) -> float:
    """The share of the floating outputs' elements that is finite, in the output where it is least; 1 without any."""
    made = [t for t in tree_leaves(outputs) if isinstance(t, Tensor) and t.is_floating_point() and t.numel()]
    return min((float(torch.isfinite(t).double().mean()) for t in made), default=1.0)

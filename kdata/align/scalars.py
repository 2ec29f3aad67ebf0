"""Floating-point numbers that a constructor is given, as arguments of kernels.

A graph holds such numbers as literals: ``0.9`` for ``1 - smoothing``.  Where they are from is found by trying: the task
is built with other numbers, and what differs between the two compiled texts depends on them.  Each such literal has to
be a number that the module holds, or one that such a number tells (``1 - p``, ``1 / p``, ``p / 3``); it becomes an
argument that the forward passes on.  Where one cannot be told all stay literals, and the kernels serve the task's own
numbers only.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves, tree_map

from kdata.align import inductor
from kdata.align.attributes import elements, kept_as, module_path
from kdata.align.errors import AlignError
from kdata.align.literals import Scalar, pass_on
from kdata.align.lower import lower
from kdata.align.naming import identifier, unique
from kdata.align.trace import Traced, trace
from kdata.task import INIT_INPUTS, Program, TaskError

PARTS = (0.9137, 0.8251)  # of a number; towards zero, as rates and probabilities have to stay below one
STEP = 0.0037  # by which the tries of two parameters differ, which may be given one number
MOST = 100  # parameters with tries of their own


@dataclass(slots=True)
class Build:
    """A way to build a task: with a part of each floating-point number that its constructor is given.

    Whole ones stay if ``whole`` is false: they may be ratios of sizes.
    """

    part: float = 1.0
    whole: bool = True
    given: dict[str, Any] = field(default_factory=dict)  # the constructor's arguments, when it has been built

    def __call__(self, program: Program) -> None:
        """Have a program build its module so."""
        positional, keyword = program.arguments()
        bound = inspect.signature(program.namespace[program.entry_point]).bind(*positional, **keyword)
        bound.apply_defaults()
        if self.part != 1:
            steps = count()
            bound.arguments.update(tree_map(lambda value: self._other(value, steps), dict(bound.arguments)))
            program.namespace[INIT_INPUTS] = lambda: [list(bound.args), dict(bound.kwargs)]
        self.given = dict(bound.arguments)

    def _other(self, value: Any, steps: Iterator[int]) -> Any:
        return value * (self.part - STEP * (next(steps) % MOST)) if self.changes(value) else value

    def changes(self, value: Any) -> bool:
        """Whether it is a number that others of its sign may stand for: zero often turns a part of a module off."""
        other = type(value) is float and value != 0 and math.isfinite(value)
        return other and (self.whole or not value.is_integer())


def outline(graph: torch.fx.GraphModule) -> tuple[list[str], list[float]]:
    """A graph without its floating-point numbers, and these."""
    numbers: list[float] = []

    def without(value: Any) -> Any:
        if type(value) is not float:
            return str(value)
        numbers.append(value)
        return "float"

    nodes = [(n, n.meta.get("val")) for n in graph.graph.nodes]
    return [f"{n.name} {n.target} {tree_map(without, (n.args, n.kwargs))} {_shape(made)}" for n, made in nodes], numbers


def _shape(made: Any) -> str:
    return f"{made.shape} {made.dtype}" if isinstance(made, torch.Tensor) else ""


@dataclass(slots=True)
class Compiled:
    """A task, traced and lowered: Inductor's text for its own numbers, and what is to be written from it."""

    traced: Traced
    code: str
    module: inductor.Module


def compiled(source: str, entry_point: str, symbols: frozenset[str]) -> Compiled:
    """Trace and lower a task, what numbers of its constructor's it can as arguments of its kernels.

    Args:
        source: the task's text.
        entry_point: the name of its module.
        symbols: the names of the sizes that are to be symbols.

    Raises:
        AlignError: it cannot be traced.
        TaskError: the text is no task.
    """
    build = Build()
    traced = trace(source, entry_point, symbols, build)
    own = outline(traced.graph)  # which lowering changes
    made = Compiled(traced, code := lower(traced), inductor.parse(code))
    numbers = [v for v in tree_leaves(build.given) if build.changes(v)] if own[1] else []
    again = partial(_Again, partial(trace, source, entry_point, symbols), made, build, own)
    if numbers and not again(whole=True).passes_on() and len({v.is_integer() for v in numbers}) == 2:
        again(whole=False).passes_on()
    return made


@dataclass(slots=True)
class _Again:
    """A task that is built with other numbers: with all others, or with others but for the whole ones."""

    trace: Callable[[Build], Traced]
    made: Compiled
    build: Build
    own: tuple[list[str], list[float]]
    whole: bool

    def passes_on(self) -> bool:
        """Whether nothing is left to try: its numbers are arguments now, or decide nothing.

        Two parameters that are given one number share a literal, and a factor of one is not there at all: what its own
        numbers do not tell two other builds do.
        """
        last, module = (self.made.traced, self.build), self.made.module
        for part in PARTS:
            build = Build(part, self.whole)
            try:
                traced = self.trace(build)
            except (AlignError, TaskError):
                return False
            lines, numbers = outline(traced.graph)
            if lines != self.own[0] or not _is_same(self.made.traced, traced):
                return False
            if numbers == self.own[1]:
                return True
            other = inductor.parse(lower(traced))
            if (used := pass_on(module, other, _scalars(last, (traced, build)))) is not None:
                self.made.module = module
                _name(self.made.traced, used)
                return True
            last, module = (traced, build), other
        return False


def _is_same(traced: Traced, again: Traced) -> bool:
    """Whether numbers decide nothing but numbers of the graph."""
    first, second = (
        (t.mode, t.literals, [(a.access, a.made) for a in t.arguments], t.operators) for t in (traced, again)
    )
    return first == second


def _scalars(first: tuple[Traced, Build], second: tuple[Traced, Build]) -> list[Scalar]:
    """The numbers that differ between two builds: those of attributes first, which forward has at hand."""
    module = first[0].module
    held = [_held(traced.module) for traced, _ in (first, second)]
    given = [{said: (name, v) for said, name, v in elements(build.given)} for _, build in (first, second)]
    found = [Scalar(access, access.rpartition(".")[2], "", (value, held[1].get(access, value)))
             for access, value in held[0].items()]  # fmt: skip
    found += [Scalar(f"self.{kept_as(module, name)}", name, said, (value, given[1][said][1]))
              for said, (name, value) in given[0].items() if said in given[1]]  # fmt: skip
    return [s for s in found if all(type(v) is float for v in s.values) and s.values[0] != s.values[1]]


def _held(module: nn.Module) -> dict[str, Any]:
    """What the attributes of a module and its parts hold, by how forward says them."""
    return {f"{module_path(path)}.{said}": value for path, part in module.named_modules()
            for said, _, value in elements(vars(part)) if not said.startswith("_")}  # fmt: skip


def _name(traced: Traced, used: dict[str, Scalar]) -> None:
    """Have forward say the numbers: they are to it as sizes that no shape tells."""
    taken = {*traced.names.values(), *(a.access for a in traced.arguments)}
    for symbol, scalar in used.items():
        traced.scalars.add(symbol)
        traced.names[symbol] = unique(identifier(scalar.name), taken)
        if scalar.parameter:
            traced.parameters[symbol] = scalar.parameter, scalar.access.removeprefix("self.")
        else:
            traced.attributes[symbol] = scalar.access

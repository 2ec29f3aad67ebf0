"""Floating-point numbers that a constructor is given, as arguments of kernels.

A graph holds such numbers as literals: ``0.9`` for ``1 - smoothing``.  Where they are from is found by trying: the task
is built with other numbers, and what differs between two compiled texts depends on them.  Each such literal has to be
a number that the module holds, or one that such a number tells (``1 - p``, ``1 / p``, ``p / 3``); it becomes an
argument that the forward passes on.  Where one cannot be told all stay literals, and the kernels serve the task's own
numbers only.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from kdata.align.attributes import elements, held, kept_as
from kdata.align.errors import AlignError
from kdata.align.inductor import Module, parse
from kdata.align.literals import Scalar, called, pass_on, tell
from kdata.align.lower import lower
from kdata.align.naming import identifier, unique
from kdata.align.trace import Traced, trace
from kdata.task import INIT_INPUTS, Program

PARTS = (0.9137, 0.8251)  # of a number; towards zero, as rates and probabilities have to stay below one
STEP = 0.0037  # by which the parts of two parameters differ, which may be given one number
MOST = 100  # parameters with parts of their own
NEAR_ZERO = 0.04
LARGEST = 250  # nodes of a graph that is built again: each time takes as long as the first
# Which numbers are others: all; those but zeros, which turn parts of a module off; those that are no ratios of sizes.
CHANGED: tuple[Callable[[float], bool], ...] = (lambda _: True, lambda v: v != 0, lambda v: not v.is_integer())


@dataclass(slots=True)
class Build:
    """A task, traced as it is built with others in place of numbers that its constructor is given, if any."""

    traced: Traced
    given: dict[str, Any]  # the constructor's arguments, defaults included
    lines: list[str] = field(init=False)  # the graph without its floating-point numbers
    numbers: list[float] = field(init=False)  # and these

    def __post_init__(self) -> None:
        """Note what the graph holds before it is lowered, which changes it."""
        self.numbers = numbers = []

        def without(value: Any) -> str:
            if type(value) is not float:
                return str(value)
            numbers.append(value)
            return "float"

        nodes = [(n, n.meta.get("val")) for n in self.traced.graph.graph.nodes]
        self.lines = [
            f"{n.name} {n.target} {tree_map(without, (n.args, n.kwargs))} {_shape(made)}" for n, made in nodes
        ]


def _shape(made: Any) -> str:
    return f"{made.shape} {made.dtype}" if isinstance(made, torch.Tensor) else ""


def build(
    source: str, entry_point: str, symbols: frozenset[str], other: Callable[[Any], Any] | None = None
) -> Build:  # fmt: skip
    """Trace a task.

    Args:
        source: the task's text.
        entry_point: the name of its module.
        symbols: the names of the sizes that are to be symbols.
        other: what the constructor is given in place of a value.

    Raises:
        AlignError: it cannot be traced.
        TaskError: the text is no task.
    """
    given: dict[str, Any] = {}

    def change(program: Program) -> None:
        positional, keyword = program.arguments()
        bound = inspect.signature(program.namespace[program.entry_point]).bind(*positional, **keyword)
        bound.apply_defaults()
        if other is not None:
            bound.arguments.update(tree_map(other, dict(bound.arguments)))
            program.namespace[INIT_INPUTS] = lambda: [list(bound.args), dict(bound.kwargs)]
        given.update(bound.arguments)

    return Build(trace(source, entry_point, symbols, change), given)


def with_arguments(source: str, entry_point: str, symbols: frozenset[str], own: Build, code: str) -> Module | None:
    """A task's text whose kernels are given its numbers, which ``own.traced`` then names; None where none can be.

    Args:
        source: the task's text.
        entry_point: the name of its module.
        symbols: the names of the sizes that are symbols.
        own: its build with its own numbers.
        code: Inductor's text for it.
    """
    numbers = list(filter(_is_number, tree_leaves(own.given))) if own.numbers and len(own.lines) <= LARGEST else []
    tried: list[list[float]] = [[]]
    for changes in CHANGED:
        if (changed := list(filter(changes, numbers))) in tried:
            continue
        tried.append(changed)
        try:
            return _as_arguments(own, code, partial(_again, source, entry_point, symbols, changes))
        except AlignError:  # those numbers decide more than numbers
            continue
    return None


def _is_number(value: Any) -> bool:
    return type(value) is float and math.isfinite(value)


def _again(
    source: str, entry_point: str, symbols: frozenset[str], changes: Callable[[float], bool], part: float
) -> Build:  # fmt: skip
    """The task, built with such a part of those of its numbers that ``changes`` chooses."""
    steps = count()

    def other(value: Any) -> Any:
        if not _is_number(value) or not changes(value):
            return value
        return (value or NEAR_ZERO) * (part - STEP * (next(steps) % MOST))

    return build(source, entry_point, symbols, other)


def _as_arguments(own: Build, code: str, again: Callable[[float], Build]) -> Module | None:
    """The text with numbers as arguments, of own numbers or, where these hide some, of others.

    Two parameters that are given one number share a literal, and a factor of one is not there at all.  What own numbers
    make simpler stays so: a square is no power.

    Raises:
        AlignError: other numbers make another graph.
    """
    builds, texts = [own], [parse(code)]
    for part in PARTS:
        other = again(part)
        if other.lines != own.lines or _beside(other.traced) != _beside(own.traced):
            raise AlignError("not traceable", "numbers of the constructor decide more than numbers")
        if other.numbers == own.numbers:
            return None
        builds.append(other)
        scalars = _scalars(builds)
        if not all(_is_told(values, scalars) for values in zip(*(b.numbers for b in builds), strict=True)):
            return None
        texts.append(parse(lower(other.traced)))
        if len(texts) > 2 and not called(texts[-2]) <= called(texts[0]):
            return None
        text = texts[-2]
        if used := pass_on(text, texts[-1], [replace(s, values=s.values[-2:]) for s in scalars]):
            _name(own.traced, used)
            return text
    return None


def _beside(traced: Traced) -> tuple[Any, ...]:
    """What a graph's lines do not tell and numbers may decide."""
    return traced.mode, traced.literals, [(a.access, a.made) for a in traced.arguments], traced.operators


def _is_told(values: tuple[float, ...], scalars: Sequence[Scalar]) -> bool:
    """Whether a number of the graph is the same in all builds, or told in all and another in the last two."""
    return len(set(values)) == 1 or (values[-1] != values[-2] and tell(values, scalars) is not None)


def _scalars(builds: Sequence[Build]) -> list[Scalar]:
    """The numbers that differ between builds: those of attributes first, which forward has at hand."""
    module = builds[0].traced.module
    values = [{said: v for said, _, v in elements(dict(held(b.traced.module)))} for b in builds]
    given = [{said: value for said, _, value in elements(b.given)} for b in builds]
    nothing = math.nan  # where a build has none
    found = [Scalar(said, said.rpartition(".")[2], "", tuple(v.get(said, nothing) for v in values))
             for said in values[0]]  # fmt: skip
    found += [Scalar(f"self.{kept_as(module, name)}", name, said, tuple(g.get(said, nothing) for g in given))
              for said, name, _ in elements(builds[0].given)]  # fmt: skip
    return [s for s in found if all(map(_is_number, s.values)) and len(set(s.values)) > 1]


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

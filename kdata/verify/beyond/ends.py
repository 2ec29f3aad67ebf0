"""Numbers at which a candidate may stop short: the width of a block that takes a dimension at once, a loop's rounds.

Below them it is right; one row longer, and what lies beyond is left out. What is asked is what launches were given as
constants, so that it does not matter how a text says them, and what kernels and wrappers say by themselves.
"""

from __future__ import annotations

import ast
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kdata.verify.beyond.rescaled import LOOPS, ROUNDS, VALUES, has_value, loaded
from kdata.verify.beyond.thresholds import CAP, LEAST, LEAST_OF, reciprocal
from kdata.verify.candidate.subset import jitted
from kdata.verify.constants import name_of, whole
from kdata.verify.evidence.findings import Launch

NEAR, LONGEST = 1 << 12, 1 << 16  # up to where a dimension's size costs little, and may be tried at all
LARGEST = 1 << 21  # elements that are tried
FEW = 2  # values that a constant takes that is chosen among so many, whatever a size is
SPREAD = frozenset({"zeros", "full", "arange", "empty"})  # calls by which a constant says how wide a block is
NARROW = {"int16": 1 << 15, "uint16": 1 << 16}  # integers of 16 bits, and the first that each does not hold
TILED = (ast.BinOp, ast.AugAssign)
Known = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Ends:
    """Sizes of a dimension, and numbers of elements, beyond which something may be left out; least first."""

    sizes: tuple[int, ...] = ()
    elements: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self.sizes or self.elements)


def ends(text: str, launches: Sequence[Launch], wrapper: bool = True) -> Ends:
    """Of a candidate's text and its launches; ``wrapper``: and what its wrapper and its kernels' tests say, and choose.

    The largest that costs little and the largest of all: who answers beyond these has no end at a smaller one.
    """
    tree = ast.parse(text)
    named, given = _named(tree), _largest_given(launches, _tuned(tree), FEW if wrapper else 1)
    blocks = {value for values in given.values() for value in values.values() if value >= CAP}
    sizes, counts = set[int](), set[int]()
    inside: set[int] = set()
    for kernel in jitted(tree):
        inside |= {id(node) for node in ast.walk(kernel)}
        known = named | given.get(kernel.name, {})
        widths = set(_at_once(kernel, known))
        at_once = widths | set(_looped(kernel, known))
        if any(_fold(width, known) is None for width in _widths(kernel)):
            at_once |= set(_most_rounded(tree, named))  # it follows a size, up to there
        asked = set(_asked(kernel, known)) if wrapper else set[int]()
        sizes |= at_once | asked
        sizes |= {(width + 1) * block for width in widths for block in blocks if width < block}  # as many of these
        counts |= {value * block for value in at_once for block in blocks}
        counts |= {(value + 1) * block for value in asked for block in blocks}  # that program, too
    if wrapper:
        least = set(_of_wrapper(tree, inside, named))
        sizes |= least
        counts |= {value * block for value in least for block in blocks}
    narrow = {size for kernel in jitted(tree) for size in _narrowed(kernel)} if wrapper else set[int]()
    return Ends(tuple(sorted({*_largest(sizes, NEAR, LONGEST), *narrow})), _largest(counts, NEAR << 5, LARGEST))


def asked(numbers: Sequence[int]) -> tuple[int, ...]:
    """Those that a reference asks about itself beyond which sizes are tried."""
    return _largest({abs(number) for number in numbers}, NEAR, LONGEST)


def fixed(launches: Sequence[Launch]) -> Iterator[tuple[str, str, int]]:
    """Kernels, their parameters and the whole numbers that these were given as constants, the same at all launches."""
    yield from ((kernel, name, max(seen)) for kernel, name, seen in _constants(launches) if len(seen) == 1)


def _constants(launches: Sequence[Launch]) -> Iterator[tuple[str, str, set[int]]]:
    given: dict[tuple[str, str], set[str]] = defaultdict(set)
    for launch in launches:
        for name, argument in launch["arguments"].items():
            given[launch["kernel"], name].add(json.dumps(argument.get("constant")))
    for (kernel, name), seen in given.items():
        values = [json.loads(value) for value in seen]
        if all(type(value) is int for value in values):
            yield kernel.rpartition(".")[2], name, set(values)


def _largest_given(launches: Sequence[Launch], tuned: set[str], few: int) -> dict[str, dict[str, int]]:
    """Of constants that do not follow sizes: that took ``few`` values at most, or were an autotuner's to choose."""
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for kernel, name, seen in _constants(launches):
        if len(seen) <= few or name in tuned:
            found[kernel][name] = max(seen)
    return found


def _tuned(tree: ast.Module) -> set[str]:
    """Parameters that configurations of autotuners give."""
    configs = (n.args[0] for n in ast.walk(tree) if isinstance(n, ast.Call) and name_of(n.func) == "Config" and n.args)
    keys = (key for config in configs if isinstance(config, ast.Dict) for key in config.keys)
    return {key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)}


def _largest(found: set[int], near: int, most: int) -> tuple[int, ...]:
    within = ([v for v in found if CAP <= v <= end] for end in (near, most))
    return tuple(sorted({max(values) for values in within if values}))


def _named(tree: ast.Module) -> dict[str, int]:
    """Names that stand for one whole number wherever they are bound."""
    bound: dict[str, set[int | None]] = defaultdict(set)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                both = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
                pairs = zip(target.elts, node.value.elts, strict=False) if both else [(target, node.value)]  # type: ignore[attr-defined]
                for name, value in pairs:
                    plain = whole(_unwrapped(value)) if not isinstance(node, ast.AugAssign) else None
                    bound[name_of(name)].add(plain)
    parameters = {a.arg for n in ast.walk(tree) if isinstance(n, ast.arguments)
                  for a in (*n.posonlyargs, *n.args, *n.kwonlyargs)}  # fmt: skip
    single = ((name, next(iter(values))) for name, values in bound.items() if len(values) == 1)
    return {name: value for name, value in single if name and value is not None and name not in parameters}


def _unwrapped(value: ast.expr) -> ast.expr:
    constexpr = isinstance(value, ast.Call) and name_of(value.func) == "constexpr" and value.args
    return value.args[0] if constexpr else value  # type: ignore[attr-defined]  # it is a call


def _fold(node: ast.AST, known: Known) -> int | None:
    found = known.get(name_of(node)) if isinstance(node, ast.Name | ast.Attribute) else None
    return whole(node) if found is None else found


def _at_once(kernel: ast.FunctionDef, known: Known) -> Iterator[int]:
    """The numbers among ``_widths``."""
    yield from (n for width in _widths(kernel) if (n := _fold(width, known)) is not None)


def _most_rounded(tree: ast.Module, named: Known) -> Iterator[int]:
    """Up to where the width of a block follows a size: ``min(triton.next_power_of_2(n), 1024)``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and name_of(node.func) in LEAST_OF:
            calls = (part for argument in node.args for part in ast.walk(argument) if isinstance(part, ast.Call))
            if any(name_of(call.func) in ROUNDS for call in calls):
                yield from (n for argument in node.args if (n := _fold(argument, named)) is not None)


def _widths(kernel: ast.FunctionDef) -> Iterator[ast.expr]:
    """Widths of blocks by which no offset and no loop goes on: such a block is all that is seen of a dimension."""
    calls = [n for n in ast.walk(kernel) if isinstance(n, ast.Call)]
    plain = {id(p) for call in calls if name_of(call.func) in SPREAD for p in ast.walk(call)}
    steps: list[ast.AST] = [n for n in ast.walk(kernel) if isinstance(n, TILED) and id(n) not in plain]
    steps += [call for call in calls if name_of(call.func) in LOOPS - {"arange"}]
    moved = {_key(part) for step in steps for part in _operands(step)}
    for call in calls:
        if name_of(call.func) == "arange" and len(call.args) > 1 and _key(call.args[1]) not in moved:
            yield call.args[1]


def _key(part: ast.AST) -> str | int | None:
    return name_of(part) or whole(part)


def _operands(step: ast.AST) -> Iterator[ast.AST]:
    if isinstance(step, ast.BinOp):
        yield from (step.left, step.right)
    elif isinstance(step, ast.AugAssign):
        yield step.value
    elif isinstance(step, ast.Call):
        yield from step.args


def _looped(kernel: ast.FunctionDef, known: Known) -> Iterator[int]:
    """How far loops go whose number of rounds is a constant."""
    for loop in (n for n in ast.walk(kernel) if isinstance(n, ast.For) and isinstance(n.iter, ast.Call)):
        given = [_fold(argument, known) for argument in loop.iter.args]  # type: ignore[attr-defined]  # it is a call
        numbers = [n for n in given if n is not None]
        if name_of(loop.iter.func) not in LOOPS or not numbers or len(numbers) < len(given):  # type: ignore[attr-defined]
            continue
        span = range(*numbers[:3]) if len(numbers) < 3 or numbers[2] else range(0)
        rounds = (span[-1] - span.start) // span.step + 1 if span else 0  # whose len() may be no word
        yield max(numbers[:2])
        parts = [n for n in ast.walk(loop) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mult)]
        widths = {_fold(part, known) for step in parts for part in (step.left, step.right)}
        yield from (rounds * width for width in widths if width is not None and width >= CAP)


def _asked(kernel: ast.FunctionDef, known: Known) -> Iterator[int]:
    """What a kernel compares with, or takes the least of, and what is beside it was not loaded."""
    values = loaded(kernel)
    for node in ast.walk(kernel):
        least = isinstance(node, ast.Call) and name_of(node.func) in LEAST_OF
        if not (least or isinstance(node, ast.Compare)):
            continue
        small = [n for part in ast.walk(node) if (n := reciprocal(part)) is not None]
        if small and not {name_of(part) for part in ast.walk(node)} & (values | VALUES):
            yield from small  # their fractions are no values
        elif not has_value(node, values):
            parts = node.args if isinstance(node, ast.Call) else (node.left, *node.comparators)  # type: ignore[attr-defined]
            yield from (n for part in parts if (n := _fold(part, known)) is not None)


def _of_wrapper(tree: ast.Module, inside: set[int], named: Known) -> Iterator[int]:
    """What it takes the least of, where it slices, and by which small numbers it divides or compares."""
    functions = (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and id(n) not in inside)
    nodes = {id(n): n for function in functions for n in ast.walk(function) if id(n) not in inside}
    for node in nodes.values():
        if isinstance(node, ast.Call) and name_of(node.func) in LEAST_OF:
            found = [_fold(argument, named) for argument in node.args]
            yield from (n for n in found if n is not None and None in found)
        elif isinstance(node, ast.Slice):
            yield from (abs(n) for end in (node.lower, node.upper) if end and (n := _fold(end, named)) is not None)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv | ast.Mod) and whole(node) is None:
            yield from (n for n in [_fold(node.right, named)] if n is not None and n < LEAST and not _up(node, n))
        elif isinstance(node, ast.Compare):
            found = [_fold(part, named) for part in (node.left, *node.comparators)]
            yield from (n for n in found if n is not None and n < LEAST)


def _narrowed(kernel: ast.FunctionDef) -> Iterator[int]:
    """Sizes of which a third of the indices is beyond the integers of 16 bits to which something is cast."""
    for node in ast.walk(kernel):
        if isinstance(node, ast.Call) and name_of(node.func) in ("to", "cast") and node.args:
            first = NARROW.get(name_of(node.args[-1]), 0)
            yield from [first + first // 2] if first else []


def _up(node: ast.BinOp, divisor: int) -> bool:
    """Whether it is a quotient rounded up: ``(n + 255) // 256``."""
    return any(whole(part) in (divisor - 1, divisor) for part in ast.walk(node.left))

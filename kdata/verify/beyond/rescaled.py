"""A candidate's text with other numbers in it: those by which it tells large sizes from small ones.

A task that is too large is scaled down, and at no size that is tried may ``pid == 7918`` hold. So the numbers of a text
are scaled down, too. What they stand beside decides whether they are about sizes: comparisons, remainders, the least of
two, ends of loops and slices, keys of tables; in kernels never beside what was loaded, for that is a value.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from kdata.task import INIT_INPUTS, INPUTS
from kdata.verify.candidate.subset import jitted
from kdata.verify.constants import name_of, whole

LEAST = 512  # smaller ones lie among the sizes at which every candidate is judged
CAPS = 128  # the same of the least of two and of ends of loops: blocks of four rows are a quarter of these sizes
BESIDE = 3  # from here on numbers in one expression with such a one are of its kind
SHIFT, FAR = 9, 31  # bits by which sizes are shifted to nothing, and all of them
ALIGNED, LARGE = 16, 1 << 20  # what sizes are asked to be multiples of, and up to where
MAGIC = 1 << 31  # from here on a number that is divided, or divides, is none of sizes
MOST = 6  # groups of numbers
UP = 1 << 12  # times a number, where it must be out of reach
LEAST_OF = frozenset({"min", "max", "minimum", "maximum", "clamp", "clip"})
LOOPS = frozenset({"range", "static_range", "arange"})
VALUES = frozenset({"load", "dot", "zeros", "full", "zeros_like", "atomic_add", "atomic_xchg", "rand", "randn"})
ROUNDS = frozenset({"next_power_of_2"})  # what makes the size of a block
DIVIDING = (ast.FloorDiv, ast.Mod, ast.RShift, ast.BitAnd, ast.Div)
EQUAL = (ast.Eq, ast.NotEq, ast.In, ast.NotIn, ast.Is, ast.IsNot)


@dataclass(frozen=True, slots=True)
class Group:
    """Numbers that stand in one expression, or under names that do; bits of a shift below zero."""

    numbers: tuple[int, ...]
    line: int
    equal: bool  # whether something is asked to be equal to one of them

    def smaller(self, least: int = 2) -> dict[int, int]:
        """What stands in place of each: the least ones in the same order."""
        return {number: least + place for place, number in enumerate(self.numbers)}

    def larger(self) -> dict[int, int]:
        """Likewise, far beyond all sizes."""
        return {n: FAR if n < 0 else n * UP if n >= CAPS else n for n in self.numbers}


class Numbers:
    """The numbers of a text that are about sizes."""

    def __init__(self, text: str, known: Collection[int] = (), entry_point: str = "Model") -> None:
        """``known``: numbers that are the task's own; ``entry_point``: the class that is no part of the candidate."""
        self._tree = ast.parse(text)
        apart = (entry_point, INPUTS, INIT_INPUTS)
        self._body = [s for s in self._tree.body if getattr(s, "name", "") not in apart]
        self._known = set(known)
        self._kernels = {id(n): k for k in jitted(self._tree) for n in ast.walk(k)}
        functions = (f for f in ast.walk(self._tree) if isinstance(f, ast.FunctionDef))
        self._functions = {id(n): f for f in functions for s in f.body for n in ast.walk(s)}
        self._values = {id(k): loaded(k) for k in jitted(self._tree)}
        self._places: dict[int, int] = {}  # of nodes that are replaced: their numbers
        self._parameters = _parameters(self._tree)
        self._folds = folds(self._tree)
        self.groups = self._grouped()

    def text(self, instead: dict[int, int]) -> str:
        """The text with other numbers in these places."""
        return ast.unparse(_Replacing(self._places, instead).visit(copy.copy(self._tree)))

    def in_kernels(self, instead: Collection[int]) -> bool:
        """Whether one of these numbers is read otherwise inside a kernel, too."""
        return any(number in instead and place in self._kernels for place, number in self._places.items())

    def _grouped(self) -> list[Group]:
        found: dict[str, tuple[set[int], int, bool]] = {}
        names: dict[str, set[str]] = {}
        for node in self._nodes():
            for part, names_too in _contexts(node):
                if self._of_values(part):
                    continue
                places = {id(node): n for node, n in _constants(part) if self._counts(n, node, part)}
                here = set(places.values())
                words = _names(part) if names_too else set()
                key = ast.unparse(part)
                least = LEAST if isinstance(part, ast.Compare) else CAPS
                if any(n >= least or n < 0 for n in here):
                    self._places |= places
                    ours, line, equal = found.get(key, (set(), getattr(part, "lineno", 0), False))
                    found[key] = ours | here, line, equal or _equal(part)
                for word in words:
                    names.setdefault(word, set()).add(key)
                    found.setdefault(key, (set(), getattr(part, "lineno", 0), _equal(part)))
        for node in self._nodes(everywhere=True):
            for word, value in _given(node, self._parameters):
                number = _number(value)
                if word in names and number is not None and number >= LEAST and number not in self._known:
                    self._places |= {id(value): number} | self._again(value, number)
                    for key in names[word]:
                        ours, line, equal = found[key]
                        found[key] = ours | {number}, line, equal
        return _joined([Group(tuple(sorted(n)), line, equal) for n, line, equal in found.values() if n])[:MOST]

    def _again(self, value: ast.expr, number: int) -> dict[int, int]:
        """Where the function that gives a number to a kernel says it again: in the grid, as often as not."""
        function = self._functions.get(id(value))
        same = (n for n in ast.walk(function) if isinstance(n, ast.Constant)) if function else ()
        return {id(n): number for n in same if type(n.value) is int and n.value == number}

    def _nodes(self, everywhere: bool = False) -> Iterator[ast.AST]:
        for statement in self._body:
            inside = everywhere or isinstance(statement, ast.FunctionDef | ast.ClassDef)
            yield from ast.walk(statement) if inside else ()

    def _counts(self, number: int, node: ast.expr, part: ast.AST) -> bool:
        """Whether a number of an expression may be of sizes, and none that they are asked to be multiples of."""
        if 0 <= number < BESIDE or number in self._known or id(node) in self._folds:
            return False
        if isinstance(part, ast.BinOp) and number >= MAGIC:  # of a division by a product
            return False
        return not (_divides(part, node) and number % ALIGNED == 0 and number < LARGE)

    def _of_values(self, part: ast.AST) -> bool:
        """Whether it stands in a kernel, beside what was loaded or computed of that."""
        kernel = self._kernels.get(id(part))
        return kernel is not None and has_value(part, self._values[id(kernel)])


def _contexts(node: ast.AST) -> Iterator[tuple[ast.AST, bool]]:
    """Expressions whose numbers are about sizes, and whether names in them may stand for such numbers."""
    if isinstance(node, ast.Compare) or (isinstance(node, ast.BinOp) and isinstance(node.op, DIVIDING)):
        if whole(node) is None:
            yield node, True
    elif isinstance(node, ast.Call) and name_of(node.func) in LEAST_OF:
        if not any(name_of(n.func) in ROUNDS for n in ast.walk(node) if isinstance(n, ast.Call)):
            yield node, True
    elif isinstance(node, ast.Call) and name_of(node.func) in LOOPS - {"arange"}:
        yield from ((end, True) for end in node.args[:2])
    elif isinstance(node, ast.Slice):
        yield from ((end, True) for end in (node.lower, node.upper) if end is not None)
    elif isinstance(node, ast.Dict):
        yield from ((key, False) for key in node.keys if key is not None)
    elif isinstance(node, ast.MatchValue):
        yield node.value, False


def _constants(part: ast.AST) -> Iterator[tuple[ast.expr, int]]:
    """The outermost expressions of numbers alone, and what they come to."""
    if isinstance(part, ast.BinOp) and isinstance(part.op, ast.RShift):
        if (bits := whole(part.right)) is not None and SHIFT <= bits <= FAR:
            yield part.right, -bits
        yield from _constants(part.left)
    elif isinstance(part, ast.expr) and (number := _number(part)) is not None:
        if number >= 0:
            yield part, number
    else:
        for child in ast.iter_child_nodes(part):
            yield from _constants(child)


def _number(node: ast.AST) -> int | None:
    return None if isinstance(getattr(node, "value", 0), bool) else whole(node)


def _divides(part: ast.AST, number: ast.expr) -> bool:
    """Whether it is that of which a remainder is asked, or one of those that it is the least of."""
    remainders = (n for n in ast.walk(part) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mod))
    return any(n is number for remainder in remainders for n in ast.walk(remainder.right))


def _equal(part: ast.AST) -> bool:
    if not isinstance(part, ast.Compare):
        return isinstance(part, ast.Constant)
    return any(isinstance(op, EQUAL) for op in part.ops)


def _names(part: ast.AST) -> set[str]:
    return {name_of(n) for n in ast.walk(part) if isinstance(n, ast.Name | ast.Attribute)} - {""}


def _parameters(tree: ast.Module) -> dict[str, list[list[str]]]:
    """What each function of a text, by its name, takes by position."""
    found: dict[str, list[list[str]]] = {}
    for function in (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)):
        names = [a.arg for a in (*function.args.posonlyargs, *function.args.args) if a.arg != "self"]
        found.setdefault(function.name, []).append(names)
    return found


def _given(node: ast.AST, parameters: dict[str, list[list[str]]]) -> Iterator[tuple[str, ast.expr]]:
    """Names and what they are given here: by assignment, as a default, or in a call of a function of this text."""
    if isinstance(node, ast.arguments):
        last = [*node.posonlyargs, *node.args][::-1]
        pairs = [*zip(last, node.defaults[::-1], strict=False), *zip(node.kwonlyargs, node.kw_defaults, strict=True)]
        yield from ((name.arg, value) for name, value in pairs if value is not None)
    elif isinstance(node, ast.Call):
        yield from ((k.arg, k.value) for k in node.keywords if k.arg)
        called = name_of(node.func.value if isinstance(node.func, ast.Subscript) else node.func)
        for names in parameters.get(called, ()):
            yield from zip(names, node.args, strict=False)
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr | ast.Assign) and node.value is not None:
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            value = node.value
            if isinstance(value, ast.Call) and name_of(value.func) == "constexpr" and value.args:
                value = value.args[0]
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                yield from ((name_of(t), v) for t, v in zip(target.elts, value.elts, strict=False))
            else:
                yield name_of(target), value


def folds(tree: ast.Module) -> set[int]:
    """Bits by which numbers are shifted onto themselves, with half as many down to one: of a parity all are needed.

    Where none is shifted by so many it is none of sizes.
    """
    found: dict[int, list[ast.expr]] = {}
    for node in ast.walk(tree):
        pairs: list[tuple[ast.expr, ast.expr]] = []
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitXor):
            pairs = [(node.left, node.right), (node.right, node.left)]
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.BitXor):
            pairs = [(node.target, node.value)]
        for one, other in pairs:
            if isinstance(other, ast.BinOp) and isinstance(other.op, ast.RShift):
                bits = whole(other.right) if ast.unparse(one) == ast.unparse(other.left) else None
                found.setdefault(bits or 0, []).append(other.right)
    halved = {bits for bits in found if bits > 0 and all(bits >> n in found for n in range(bits.bit_length()))}
    return {id(place) for bits in halved for place in found[bits]}


def loaded(kernel: ast.FunctionDef) -> set[str]:
    """Names of a kernel that stand for what was loaded, or follows from it."""
    names: set[str] = set()
    while True:
        before = len(names)
        for node in ast.walk(kernel):
            if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if has_value(node.value, names):
                    names |= {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
        if len(names) == before:
            return names


def has_value(part: ast.AST, names: set[str]) -> bool:
    """Whether an expression of a kernel has to do with what was loaded, given the names that do."""
    for node in ast.walk(part):
        if isinstance(node, ast.Call) and name_of(node.func) in VALUES:
            return True
        if isinstance(node, ast.Name) and node.id in names:
            return True
        if isinstance(node, ast.Constant) and type(node.value) is float and not node.value.is_integer():
            return True
    return False


def _joined(groups: Sequence[Group]) -> list[Group]:
    """Groups that share a number are one."""
    joined: list[Group] = []
    for group in groups:
        numbers, line, equal = set(group.numbers), group.line, group.equal
        for other in [g for g in joined if numbers & set(g.numbers)]:
            joined.remove(other)
            numbers, line, equal = numbers | set(other.numbers), min(line, other.line), equal or other.equal
        joined.append(Group(tuple(sorted(numbers)), line, equal))
    return joined


class _Replacing(ast.NodeTransformer):
    """Numbers in certain places, replaced; the tree that is visited stays as it was."""

    def __init__(self, places: dict[int, int], instead: dict[int, int]) -> None:
        self._places, self._instead = places, instead

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """A copy of the node with copies of what it holds."""
        number = self._places.get(id(node))
        if number in self._instead:
            return ast.copy_location(ast.Constant(self._instead[number]), node)
        return super().generic_visit(_shallow(node))

    visit = generic_visit


def _shallow(node: ast.AST) -> ast.AST:
    other = copy.copy(node)
    for field, value in ast.iter_fields(node):
        if isinstance(value, list):
            setattr(other, field, list(value))
    return other

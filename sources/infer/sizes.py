"""Which integers of a task belong together, found by trying, and what to call them.

A *slot* is one place where an integer stands: in a constructor argument, in an input's shape, or the upper end of
random integers.  Slots that can only change together become one constant.
"""

from __future__ import annotations

import ast
import itertools
import keyword
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from sources.infer.forward.influence import differing
from sources.infer.forward.variants import halved
from sources.infer.inputs import Plain, Specs, Tensor, all_tensors, edited
from sources.infer.search import Solution

Runs = Callable[[Solution], bool]
LONG = 16  # a dimension from which on it is halved so
MAX_TIED = 6  # slots of one value that are tried in all pairs and triples


@dataclass(frozen=True, slots=True)
class Slot:
    """One place of an integer."""

    kind: str  # "init", "input", "high", "full"; "plain": an integer among the inputs
    key: str  # parameter name
    path: tuple[int, ...] = ()  # of the input tensor
    index: int = 0  # which literal of the argument, or which dimension
    value: int = 0
    label: str = ""  # of the setting, where it is one of a record's


@dataclass(frozen=True, slots=True)
class Size:
    """One named constant: the slots that hold it, and whether it may vary."""

    name: str
    value: int
    slots: tuple[Slot, ...]
    free: bool


def slots(solution: Solution, inputs: list[str]) -> list[Slot]:
    """All integers of a solution; ``inputs`` are the names of forward's parameters."""
    found = []
    for name, expression in solution.arguments.items():
        tree = ast.parse(expression, mode="eval") if expression[0] != "<" else ast.Pass()
        labels = {id(k.value): k.arg for k in ast.walk(tree) if isinstance(k, ast.keyword) and k.arg}
        for i, node in enumerate(literals(tree)):
            if isinstance(node.value, int) and node.value >= 1:
                found.append(Slot("init", name, (), i, node.value, labels.get(id(node), "")))
    for path, tensor in all_tensors(solution.specs):
        name = inputs[min(path[0], len(inputs) - 1)] if inputs else "x"
        found += [Slot("input", name, path, i, size) for i, size in enumerate(tensor.shape) if size]
        if tensor.kind in ("int", "full"):
            found.append(Slot("high" if tensor.kind == "int" else "full", name, path, 0, tensor.high))
    for i, spec in enumerate(solution.specs):
        if isinstance(spec, Plain) and type(spec.value) is int and spec.value > 1:
            found.append(Slot("plain", inputs[min(i, len(inputs) - 1)] if inputs else "x", (i,), 0, spec.value))
    return found


def literals(tree: ast.AST) -> list[ast.Constant]:
    """Integer literals of an expression, in order."""
    return [n for n in ast.walk(tree) if isinstance(n, ast.Constant) and type(n.value) is int]


def assigned(solution: Solution, changes: dict[Slot, int]) -> Solution:
    """The solution with other integers in some slots."""
    arguments, specs = dict(solution.arguments), solution.specs
    for slot, value in changes.items():
        if slot.kind == "init":
            tree = ast.parse(arguments[slot.key], mode="eval")
            literals(tree)[slot.index].value = value
            arguments[slot.key] = ast.unparse(tree)
        elif slot.kind == "plain":
            specs = edited(specs, slot.path, Plain(value))
        else:
            old = dict(all_tensors(specs))[slot.path]
            new = replace(old, high=value) if slot.kind in ("high", "full") else old.resized(slot.index, value)
            specs = edited(specs, slot.path, new)
    return Solution(arguments, specs)


def bounded(solution: Solution, runs: Runs) -> Solution:
    """Random integers drawn from the whole range that a constructor argument such as ``vocab_size`` allows."""
    ints = sorted({s.value for s in slots(solution, []) if s.kind == "init"}, reverse=True)
    for path, tensor in all_tensors(solution.specs):
        if tensor.kind != "int":
            continue
        for high in (n for n in ints if n >= tensor.high):
            whole = _drawn(solution, path, high)
            if runs(whole) and not runs(_drawn(solution, path, 4 * high)):
                # Few numbers were lucky, perhaps; numbers that are all the same may fail for another reason.
                alike = (_drawn(solution, path, n - 1, "full") for n in (high, tensor.high))
                if runs(next(alike)) or not runs(next(alike)):
                    solution = whole
                break
    return solution


def _drawn(solution: Solution, path: tuple[int, ...], high: int, kind: str = "int") -> Solution:
    """The solution with other integers in one of its inputs."""
    tensor = dict(all_tensors(solution.specs))[path]
    return Solution(solution.arguments, edited(solution.specs, path, replace(tensor, kind=kind, high=high)))


def tied(
    solution: Solution,
    found: list[Slot],
    runs: Runs,
    small: dict[Slot, int] | None = None,
    spent: Callable[[], bool] = bool,
    said: Callable[[], str] = str,
) -> list[tuple[tuple[Slot, ...], bool]]:
    """Groups of slots that change together, and whether they can change at all; nothing is tried once ``spent``.

    ``said`` tells the error of the solution that did not run last, which spares the other values that would end so.
    Where calls are dear: with ``small``, a dictionary, slots that can be smaller stay so in what is tried after them,
    and it then holds values with which all of these ran together.
    """
    base = {} if small is None else _smaller(solution, found, runs)
    if small is not None:
        small.update(base)

    def varies(group: Iterable[Slot]) -> bool:
        together = tuple(group)
        before = base.get(together[0], together[0].value)
        for value in _others(before):
            if spent():
                return False
            change = dict.fromkeys(together, value)
            if runs(assigned(solution, {**(small or {}), **change})):
                if small is not None and value < before:
                    small.update(change)
                return True
            # Perhaps the others, smaller than all of them at once, were what failed.
            alone = {**base, **change}
            if small and {**small, **change} != alone and runs(assigned(solution, alone)):
                return True
            if _as_far_apart(said(), before, value):
                return False
        return False

    groups = _ranges(found, varies)
    done = {slot for group, _ in groups for slot in group}
    alone = set[Slot]()
    # Of inputs most can be smaller, and with them every call that follows.
    for slot in sorted(found, key=lambda s: s.kind == "init") if small is not None else found:
        if slot not in done and slot.kind not in ("high", "full") and varies([slot]):
            alone.add(slot)
            groups.append(((slot,), True))
    stuck = [slot for slot in found if slot not in done | alone]
    for _, same in itertools.groupby(sorted(stuck, key=lambda s: s.value), key=lambda s: s.value):
        groups += _partition(list(same), varies)
    for group, _ in groups:  # one constant stands for them: without one value they stay as they are
        if small and len({small.get(slot) for slot in group}) > 1:
            for slot in group:
                small.pop(slot, None)
    order = {slot: i for i, slot in enumerate(found)}
    return sorted(groups, key=lambda g: order[g[0][0]])


def _smaller(solution: Solution, found: list[Slot], runs: Runs) -> dict[Slot, int]:
    """Values of the inputs' long dimensions with which these run, all at once a quarter of what they are, or a half.

    Either those of which no argument knows, a mask's length as that of its sequence, or those that are seldom channels.
    """
    known = {slot.value for slot in found if slot.kind == "init"}
    unknown = [s for s in found if s.kind == "input" and s.index and s.value >= LONG and s.value not in known]
    half, quarter = halved(solution.specs), halved(halved(solution.specs))
    tries: list[dict[Slot, int]] = []
    for times, specs in (2, quarter), (1, half):
        tries += [{s: s.value >> times for s in unknown}, _changed(found, specs)]
    different = (base for i, base in enumerate(tries) if base and base not in tries[:i])
    return next((base for base in different if runs(assigned(solution, base))), {})


def _changed(found: list[Slot], specs: Specs) -> dict[Slot, int]:
    """The values of the inputs' dimensions that these inputs have otherwise."""
    shapes = {path: tensor.shape for path, tensor in all_tensors(specs)}
    sizes = {slot: shapes[slot.path][slot.index] for slot in found if slot.kind == "input"}
    return {slot: size for slot, size in sizes.items() if size != slot.value}


def _ranges(found: list[Slot], varies: Callable[[Iterable[Slot]], bool]) -> list[tuple[tuple[Slot, ...], bool]]:
    """Ends of random ranges with the argument that sets them: smaller ends run alone, too, but mean less.

    And numbers among the inputs with the dimensions that have them.
    """
    groups: list[tuple[tuple[Slot, ...], bool]] = []
    for value in dict.fromkeys(s.value for s in found if s.kind == "high" and s.value > 2):
        first = next((s for s in found if s.kind == "init" and s.value == value), None)
        group = (first, *(s for s in found if s.kind == "high" and s.value == value)) if first else ()
        if group and varies(group):
            groups.append((group, True))
    for slot in (s for s in found if s.kind == "full"):
        length = next((s for s in found if s.kind == "input" and s.index and s.value == slot.value), None)
        if length and all(length not in group for group, _ in groups) and varies((length, slot)):
            groups.append(((length, slot), True))
    done = {slot for group, _ in groups for slot in group}
    for value in dict.fromkeys(s.value for s in found if s.kind == "plain"):
        alike = (s for s in found if s.kind == "plain" or s.kind == "input" and s.index)
        group = tuple(s for s in alike if s.value == value and s not in done)
        if len(group) > 1 and varies(group):
            groups.append((group, True))
    return groups


def _others(value: int) -> Iterator[int]:
    """Values to try instead: smaller first, for speed; a divisor's and a multiple's neighbours are not enough."""
    yield from dict.fromkeys(v for v in (value // 2, value + 1, value * 2) if v >= 1 and v != value)


def _as_far_apart(message: str, before: int, value: int) -> bool:
    """Whether an error is that two sizes differ by as much as two values of one size do: with any other they would."""
    one, other = differing(message) or (0, 0)
    return one != other and one * before == other * value or one * value == other * before != 0


def _partition(same: list[Slot], varies: Callable[[Iterable[Slot]], bool]) -> list[tuple[tuple[Slot, ...], bool]]:
    """Split slots of equal value into the smallest groups that can change together."""
    out = []
    while same:
        first, rest = same[0], same[1:]
        sizes = [1, 2, len(rest)] if len(rest) <= MAX_TIED else [len(rest)]
        tries = (c for n in dict.fromkeys(sizes) if 0 < n <= len(rest) for c in itertools.combinations(rest, n))
        group = next((c for c in tries if varies([first, *c])), None)
        together = (first, *(group or ()))
        out.append((together, group is not None))
        same = [s for s in same if s not in together]
    return out


def named(groups: list[tuple[tuple[Slot, ...], bool]], solution: Solution, taken: set[str]) -> list[Size]:
    """Constants for the groups, with the names that people use."""
    used = set(taken) | set(keyword.kwlist)
    layouts = {path: _layout(path, t, groups) for path, t in all_tensors(solution.specs)}
    out = []
    for group, free in groups:
        options = [_name(slot, layouts) for slot in sorted(group, key=lambda s: (s.kind != "init", s.kind))]
        name = next((o for o in options if o not in used), "")
        if not name:
            base = f"{group[0].key}_{options[0]}" if group[0].kind != "init" else options[0]
            tries = (base if i == 1 else f"{base}_{i}" for i in itertools.count(1))
            name = next(t for t in tries if t not in used)
        used.add(name)
        out.append(Size(name, group[0].value, group, free))
    return out


_LONG = {"dim": "dim", "n_head": "num_heads", "heads": "num_heads", "nhead": "num_heads", "inp": "in_channels",
         "oup": "out_channels", "in_ch": "in_channels", "out_ch": "out_channels", "in_chs": "in_channels",
         "out_chs": "out_channels", "inplanes": "in_channels", "planes": "channels", "k": "kernel_size"}  # fmt: skip
_DIMENSIONS = {
    1: ("features",),
    2: ("batch_size", "features"),
    3: ("batch_size", "sequence_length", "hidden_size"),
    4: ("batch_size", "channels", "height", "width"),
    5: ("batch_size", "channels", "depth", "height", "width"),
}


def _layout(path: tuple[int, ...], tensor: Tensor, groups: list[tuple[tuple[Slot, ...], bool]]) -> tuple[str, ...]:
    """Names of a tensor's dimensions: which one the constructor knows tells channels first from channels last."""
    rank = len(tensor.shape)
    own = {s.index for group, _ in groups for s in group if s.kind == "input" and s.path == path
           and any(other.kind == "init" for other in group)}  # fmt: skip
    if tensor.kind in ("int", "bool") and rank in (2, 3):
        return ("batch_size", "sequence_length", "source_length")[:rank]
    if rank == 3 and 1 in own and 2 not in own:
        return ("batch_size", "channels", "length")
    if rank == 4 and 3 in own and 1 not in own:
        return ("batch_size", "height", "width", "channels")
    return _DIMENSIONS.get(rank, ())


def _name(slot: Slot, layouts: dict[tuple[int, ...], tuple[str, ...]]) -> str:
    if slot.label:
        return _LONG.get(slot.label, slot.label).lower().strip("_")
    if slot.kind in ("init", "plain"):
        name = re.sub(r"\W", "_", slot.key.split(".")[-1]).lower().strip("_") or "size"
        name = _LONG.get(name, name)
        return name if slot.index == 0 else f"{name}_{slot.index + 1}"
    if slot.kind == "full":
        return "sequence_length"
    if slot.kind == "high":
        return "vocabulary_size" if slot.value > 32 else "num_values"
    known = layouts[slot.path]
    return known[slot.index] if slot.index < len(known) else f"size_{slot.index}"

"""From arguments and inputs with which a class runs to the text of its task. Runs inside the sandbox."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from sources.cut.pruning import pruned
from sources.emit import emit
from sources.infer.inputs import all_tensors, parameters, positional
from sources.infer.rewritten.adapters import adapted
from sources.infer.rewritten.answers import answered
from sources.infer.rewritten.given import given
from sources.infer.rewritten.ignored import without_ignored
from sources.infer.rewritten.steady import steadied
from sources.infer.running.memory import release
from sources.infer.runs import Runs, fitted
from sources.infer.search import Solution
from sources.infer.sizes import Slot, bounded, named, slots, tied
from sources.infer.valued import valued
from sources.isolation import OutOfTimeError
from sources.watch.capture import encoded


def written(
    cut: dict[str, Any], namespace: dict[str, Any], outcome: Solution, operators: int,
    load: Callable[[str], dict[str, Any]],
) -> dict[str, Any]:  # fmt: skip
    """The task of a solution: named sizes, which of them vary, inputs no heavier than need be.

    It may have so many ``operators`` that compute; ``load`` executes another text of the cut.  The ``spare`` of it says
    with which text, arguments and inputs an input can be spared that is ignored.

    Raises:
        UnfitError: it has more.
    """
    cut, namespace, outcome = valued(cut, namespace, outcome, load)
    drawing, (cut, namespace, outcome) = cut, given(cut, namespace, outcome, load)
    if cut is drawing:  # nothing that it draws became an input
        outcome = steadied(namespace[cut["name"]], namespace, outcome)
    spare = {"source": cut["source"], "name": cut["name"], "header": cut.get("header", []), "answer": encoded(outcome)}
    cut, outcome = answered(*adapted(cut, namespace, outcome), namespace)
    kind = namespace[cut["name"]]
    names = [p.name for p in parameters(kind.forward)[1:]] or ["x"]
    if len(outcome.specs) > len(names):
        names = positional(kind.forward)[1:] or names
    runs = Runs(kind, namespace, operators, outcome)
    outcome = bounded(fitted(without_ignored(outcome, runs), runs), runs)
    groups, small = groups_of(outcome, slots(outcome, names), runs)
    sizes = named(groups, outcome, set(namespace))
    free = {slot for size in sizes if size.free for slot in size.slots}
    described = [
        {"name": slot_name, "free": [any(s.kind == "input" and s.path == path and s.index == i for s in free)
                                     for i in range(rank)]}
        for slot_name, path, rank in _tensors(outcome, names)
    ]  # fmt: skip
    try:
        signature = inspect.signature(kind)
    except (TypeError, ValueError):
        signature = None
    source = pruned(cut["source"], [cut["name"], *outcome.arguments.values()])
    text = _header(cut) + emit(source, outcome, sizes, signature, cut.get("mappings", False))
    smaller = {size.name: small[size.slots[0]] for size in sizes if size.slots[0] in small}
    return {"reason": "", "source": text, "name": cut["name"], "inputs": described, "small": smaller,
            "spare": spare}  # fmt: skip


def groups_of(
    solution: Solution, found: list[Slot], runs: Runs
) -> tuple[list[tuple[tuple[Slot, ...], bool]], dict[Slot, int]]:
    """As ``tied``, and smaller values for what is dear; none varies, as far as it is known, where time is up."""
    small: dict[Slot, int] = {}
    if runs.costly:
        release()
    try:
        return tied(solution, found, runs, small if runs.costly else None, runs.spent, runs.said), small
    except OutOfTimeError:  # a task of which less is known is one all the same
        return [((slot,), False) for slot in found], {}


def _tensors(solution: Solution, names: list[str]) -> list[tuple[str, tuple[int, ...], int]]:
    return [(names[min(p[0], len(names) - 1)], p, len(t.shape)) for p, t in all_tensors(solution.specs)]


def _header(cut: dict[str, Any]) -> str:
    return "".join(f"# {line}\n" for line in cut.get("header", []))

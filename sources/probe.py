"""What runs inside the sandbox to turn cuts into tasks that run.

A job covers many definitions; each is tried in a fork of its own, see ``sources.isolation``.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
import types
from pathlib import Path
from typing import Any

from sources.capture import CapturedError, install
from sources.check import Work, check
from sources.cutting import touches_system
from sources.emit import emit
from sources.inputs import all_tensors, parameters
from sources.isolation import isolated
from sources.progress import Budget, Progress
from sources.runs import Runs, fitted
from sources.search import TOO_LONG, Solution, Told, Unsolved, solve
from sources.sizes import bounded, named, slots, tied
from sources.slicer import ABSENT
from sources.writer import pruned

INFER_SECONDS, CHECK_SECONDS = 5, 10  # CPU seconds of one definition


def warm() -> None:
    """Called once before any fork: the first use of a dispatch mode imports the compiler, which takes seconds."""
    import torch

    with Work():
        torch.nn.Linear(2, 2)(torch.ones(1, 2))


def attempt(payload: dict[str, Any], scratch: Path) -> list[dict[str, Any]]:
    """Infer and check the cuts of ``cuts``; an outcome has ``reason`` ("" for a task) and ``detail``.

    A task may have so many ``operators`` that compute.  There are no more outcomes when there are ``enough`` tasks.
    """
    outcomes: list[dict[str, Any]] = []
    for cut in payload["cuts"]:
        if sum(not outcome["reason"] for outcome in outcomes) >= payload["enough"]:
            break
        outcomes.append(_attempt(cut, payload["operators"], scratch))
    return outcomes


def _attempt(cut: dict[str, Any], operators: int, scratch: Path) -> dict[str, Any]:
    inferred = isolated(lambda: infer(cut, operators, scratch), INFER_SECONDS)
    entry = cut["name"]
    for user in cut["told"].get("users", []) if inferred["reason"] not in ("", TOO_LONG) else []:
        seen = isolated(functools.partial(watch, user, cut, operators, scratch), INFER_SECONDS)
        if not seen["reason"]:
            inferred, entry = seen, user["wanted"]
            break
    if inferred["reason"]:
        return _blamed(inferred, cut)

    checked = isolated(lambda: check(inferred["source"], entry, operators) | {"reason": ""}, CHECK_SECONDS)
    if checked["reason"]:
        return checked
    described = [i | more for i, more in zip(checked["inputs"], inferred["inputs"], strict=False)]
    return {"reason": "", "source": inferred["source"], "name": entry, "inputs": described, "detail": checked["mode"]}


def _blamed(outcome: dict[str, Any], cut: dict[str, Any]) -> dict[str, Any]:
    """A failure on one of the names that stand for what is absent is that package's."""
    if cut["lacks"] and "NoneType" in outcome["detail"]:
        return outcome | {"reason": ABSENT, "detail": ", ".join(cut["lacks"]) + ": " + outcome["detail"]}
    return outcome


def infer(cut: dict[str, Any], operators: int, scratch: Path) -> dict[str, Any]:
    """Find arguments and inputs for a cut and write the task.

    Raises:
        UnfitError: it has too many operators.
    """
    namespace = load(cut["source"], scratch)
    kind = namespace[cut["name"]]
    _skip_initialisation()
    told = Told(tuple(cut["told"]["sites"]), cut["told"]["defaults"])
    outcome = solve(kind, namespace, cut["source"], told, operators)
    if isinstance(outcome, Unsolved):
        return {"reason": outcome.reason, "detail": outcome.detail[:500]}
    return _written(cut, namespace, outcome, operators)


def watch(user: dict[str, str], cut: dict[str, Any], operators: int, scratch: Path) -> dict[str, Any]:
    """Run what uses a class until that is called, and write the task from what was seen."""
    namespace = load(user["source"], scratch)
    _skip_initialisation()
    known = dict(namespace)
    install(known[user["wanted"]], known)
    entry = namespace[user["name"]]
    try:
        if isinstance(entry, type):
            if isinstance(outcome := solve(entry, namespace, user["source"]), Unsolved):
                return {"reason": outcome.reason, "detail": outcome.detail[:500]}
        else:
            with Progress(Budget()):
                entry()
    except CapturedError as captured:
        seen = captured.solution
    else:
        return {"reason": "inputs not inferred", "detail": f"{user['name']} does not use it"}
    source = pruned(user["source"], [user["wanted"], *seen.arguments.values()])
    if misuse := touches_system(source):
        return {"reason": "touches the system", "detail": misuse}
    return _written(cut | {"source": source, "name": user["wanted"]}, known, seen, operators)


def _written(cut: dict[str, Any], namespace: dict[str, Any], outcome: Solution, operators: int) -> dict[str, Any]:
    """The task of a solution: named sizes, which of them vary, inputs no heavier than need be."""
    kind = namespace[cut["name"]]
    names = [p.name for p in parameters(kind.forward)[1:]] or ["x"]
    runs = Runs(kind, namespace, operators)
    outcome = bounded(fitted(outcome, runs), runs)
    groups = tied(outcome, slots(outcome, names), runs)
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
    text = _header(cut) + emit(source, outcome, sizes, signature)
    return {"reason": "", "source": text, "inputs": described}


def _tensors(solution: Solution, names: list[str]) -> list[tuple[str, tuple[int, ...], int]]:
    return [(names[min(p[0], len(names) - 1)], p, len(t.shape)) for p, t in all_tensors(solution.specs)]


def _header(cut: dict[str, Any]) -> str:
    return "".join(f"# {line}\n" for line in cut.get("header", []))


def load(source: str, scratch: Path) -> dict[str, Any]:
    """Execute a cut as a module that ``inspect`` can read, with the names that arguments are written with."""
    import torch
    from torch.nn import functional

    path = scratch / f"cut_{os.getpid()}.py"
    path.write_text(source)
    module = types.ModuleType("task")
    module.__file__ = str(path)
    sys.modules["task"] = module
    # dont_inherit: else this file's own future import would hide what a type hint of the cut lacks
    exec(compile(source, str(path), "exec", dont_inherit=True), module.__dict__)  # noqa: S102 - in the sandbox
    given = {"torch": torch, "nn": torch.nn, "F": functional, "functools": functools,
             "SimpleNamespace": types.SimpleNamespace}  # fmt: skip
    return given | module.__dict__


def _skip_initialisation() -> None:
    """Random initial weights do not matter to shapes, and take most of the time of large layers."""
    import torch

    def skip(tensor: Any = None, *_: Any, **named: Any) -> Any:
        return named.get("tensor", tensor)

    for name in dir(torch.nn.init):
        if name.endswith("_") and not name.startswith("_"):
            setattr(torch.nn.init, name, skip)

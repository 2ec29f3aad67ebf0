"""Second tries inside the sandbox: cuts whose arguments or inputs were not found, told what solved tasks show of them.

A solved task runs once more, as it was found to run, and is watched: what its parts are constructed and called with are
true arguments and inputs of these.  See ``sources.lessons`` for who is taught by whom.
"""

from __future__ import annotations

import functools
import itertools
from pathlib import Path
from typing import Any

from torch import nn

from kdata.record import digest
from sources.infer.constructor.constructions import build
from sources.infer.running.calls import call
from sources.infer.running.check import MODULE
from sources.infer.running.initial import cheapen
from sources.infer.running.progress import Budget
from sources.infer.search import Solution
from sources.isolation import allowance, isolated
from sources.loading import load
from sources.probe import INFER_SECONDS, LAST_BEGUN, MEMORY, MOST_WAYS, attempt_one, until_enough
from sources.text.on_cpu import without_weights
from sources.watch.capture import NamespaceVocabulary, UnspeakableError, arguments_of, decoded, encoded, install

UNTAUGHT = "not taught"  # no task that holds the class showed anything of it


def attempt(payload: dict[str, Any], scratch: Path) -> list[dict[str, Any]]:
    """As ``sources.probe:attempt``, for cuts that have ``teachers``: solved texts, each with what it calls their class.

    Where that is "", the text is of a class that takes the same: its own arguments and inputs are tried.  An outcome
    that is a task tells its teacher as ``taught``.
    """
    shown: dict[str, dict[str, Any]] = {}
    return until_enough(payload, lambda cut: _taught(cut, payload["operators"], scratch, shown))


def _taught(cut: dict[str, Any], operators: int, scratch: Path, shown: dict[str, dict[str, Any]]) -> dict[str, Any]:
    outcome, may = {"reason": UNTAUGHT, "detail": ""}, allowance(MOST_WAYS, LAST_BEGUN)
    for teacher in itertools.takewhile(lambda _: may(), cut["teachers"]):
        key = digest(teacher["name"], teacher["source"])
        if teacher["wanted"] and key not in shown:
            job = functools.partial(watch, teacher, scratch)
            shown[key] = isolated(job, INFER_SECONDS, MEMORY).get("seen", {})
        lesson = shown[key].get(teacher["wanted"]) if teacher["wanted"] else teacher["answer"]
        if lesson is None:
            continue
        arguments, specs = lesson
        told = cut["told"] | {"seen": {"arguments": arguments, "specs": specs}, "users": []}
        known = {}
        if teacher["wanted"] and specs is not None:  # what the arguments name is in the teacher's text at least
            told["users"], known = [{k: teacher[k] for k in ("name", "source", "wanted")}], {key: shown[key]}
        outcome = attempt_one(cut | {"told": told}, operators, scratch, known)
        if not outcome["reason"]:
            return outcome | {"taught": teacher["symbol"]}
    return outcome


def watch(teacher: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """Run a solved text, and tell by name with what each of its classes was constructed and called.

    Inputs are None for one that was made part of the module, and not called so that it came to an end.
    """
    namespace, solution = load(teacher["source"], scratch), decoded(teacher["answer"])
    cheapen()
    without_weights()
    known, found = dict(namespace), dict[str, Solution]()
    own = {v: n for n, v in known.items() if isinstance(v, type) and v.__module__ == MODULE}
    install(own, known, found, forwards=True)
    made: nn.Module | None = None
    try:
        made = build(namespace[teacher["name"]], dict(solution.arguments), namespace, Budget())
        _, _, error = call(made, solution.specs, Budget())
        ended = type(error).__name__ if error else ""
    except BaseException as error:  # noqa: BLE001 - however it ends, what was seen before counts
        ended = type(error).__name__
    seen = {name: [*encoded(s)] for name, s in found.items()}
    for module in made.modules() if made is not None else ():
        name = own.get(type(module), "")
        if name and name not in seen:
            try:
                seen[name] = [dict(arguments_of(module, NamespaceVocabulary(known))), None]
            except (UnspeakableError, TypeError, ValueError):
                continue
    return {"reason": "", "detail": ended, "seen": seen}

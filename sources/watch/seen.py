"""Classes called as they were seen: with the arguments and inputs that something else gave them."""

from __future__ import annotations

from typing import Any

from sources.infer.constructor.configs import noting, without_unread
from sources.infer.constructor.constructions import build
from sources.infer.forward.variants import halved, of_one
from sources.infer.input_search import MAX_LOOKED_AT, TOO_LONG
from sources.infer.running.calls import call, forget, has_tensor
from sources.infer.running.check import MAX_PARAMETERS, UnfitError
from sources.infer.running.made import Made
from sources.infer.running.progress import Budget, TooLongError, TooMuchError
from sources.infer.running.worth import RANDOM, flaw
from sources.infer.search import Solution
from sources.watch.capture import decoded


def as_seen(
    kind: Any, namespace: dict[str, Any], seen: dict[str, Any], operators: int, telling: bool = True
) -> Solution | None:
    """The arguments and inputs that a class was seen with, without settings that it does not read; None: it fails.

    Also None, where ``telling``, if its answer tells nothing.

    Raises:
        UnfitError: it has too many operators.
    """
    if seen["specs"] is None:
        return None
    solution = decoded([seen["arguments"], seen["specs"]])
    read: set[str] = set()
    watched = namespace | {"SimpleNamespace": noting(read)}
    try:
        module = build(kind, dict(solution.arguments), watched, Budget())
    except Exception:  # noqa: BLE001 - a class whose cut is not its whole is searched like any other
        return None
    if sum(p.numel() for p in module.parameters()) > MAX_PARAMETERS:  # a search may find smaller ones
        return None
    specs = solution.specs
    progress, result, error = call(module, specs, Budget(), operators)
    for make in (of_one, halved):
        if isinstance(error, TooMuchError):
            forget(error)
            specs = make(specs)
            progress, result, error = call(module, specs, Budget(), operators)
    if isinstance(error, TooLongError):
        raise UnfitError(TOO_LONG, str(error))
    if error is not None or not has_tensor(result):
        return None
    # What draws at random may be given what it draws, see ``sources.infer.rewritten.given``.
    if telling and progress.work < MAX_LOOKED_AT and flaw(module, specs, result, Budget()) not in ("", RANDOM):
        return None
    arguments = {n: without_unread(text, read) for n, text in solution.arguments.items()}
    made = Made(kind, module) if arguments == solution.arguments else None
    return Solution(arguments, specs, not progress.drew, made)

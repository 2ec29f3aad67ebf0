"""Calls with a candidate's autotuners: with each configuration, and as tuners choose. In the host's child."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kdata.verify.candidate.engine import Engine

MOST_CHOICES = 48  # configurations of an autotuner that are run beyond one a trial
Trial = Callable[[dict[str, Any]], dict[str, Any]]


def turns(
    engine: Engine, trial: Trial, trials: list[dict[str, Any]], first: dict[str, Any], done: int, turn: int
) -> dict[str, Any]:
    """Reports on the ``first`` trial with the configurations that ``done`` trials have not had yet, and on tuning.

    ``turn``: of the configuration with which it goes on.
    """
    found: dict[str, Any] = {"tuned": []}
    for number in range(done, min(engine.choices(), done + MOST_CHOICES)):
        engine.take_turn(number)
        found["tuned"].append(trial(first))
    engine.take_turn(turn)
    found["choices"] = engine.choices()
    if found["choices"]:
        engine.measure(True)
        found["measured"] = trial(first)
        engine.measure(False)
    if engine.prunes():
        found["chosen_before"] = list(_untuned(engine, trial, trials))
    return found


def _untuned(engine: Engine, trial: Trial, trials: list[dict[str, Any]]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Calls at all sizes, first to last and last to first, for which no tuner forgets what it chose at others."""
    first = [number for number, given in enumerate(trials) if not given["sized"]]
    for turn, numbers in ((-1, first), (-2, first[::-1])):
        engine.take_turn(turn)
        yield from ((number, trial(trials[number] | {"again": False})) for number in numbers)

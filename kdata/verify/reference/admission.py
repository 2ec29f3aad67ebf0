"""Whether a task can tell right from wrong at all: wrong answers, made from the reference's, must fail its tolerances.

The trusted side, on what the reference's process left; no kernel runs. Where a wrong answer would pass at every trial,
a verdict about a kernel would say nothing, so there is none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kdata.verify.evidence.compare import EXACT, Array, UnequalError, errors, exactly, leaves
from kdata.verify.evidence.trial import FLOATS, Expected, nature

HALVES = frozenset({"float16", "bfloat16"})
Mutant = Callable[[Array], Array]
NAMED = ("base", "whole", "grown")  # kinds of variants: the task's own sizes, these scaled down, and up
SHUFFLED, DROPPED, HALVED = "a shuffled answer", "an eighth of the inputs set to zero", "an answer in half precision"


def weakness(expected: Expected) -> str:
    """What is wrong with a task, "" if nothing is."""
    trials = expected.trials
    if any(_not_a_number(expected, t) for t in trials if t["style"] == "natural"):
        return "the reference's answer is not a number in places"
    passing = [name for name, mutant in MUTANTS.items() if not any(_caught(expected, t, mutant) for t in trials)]
    passing = [n for n in passing if n != SHUFFLED or not all(_single(expected, t) for t in trials)]
    dropped = [t for t in trials if t["kept"]["dropped"]]
    if dropped and not any(_differs(expected, t) for t in dropped):
        passing.append(DROPPED)
    if _fine(expected) and not any(_caught(expected, t, _halved) for t in trials):
        passing.append(HALVED)
    return f"{', '.join(passing)} would pass" if passing else ""


def answered(expected: Expected) -> Expected:
    """The same without draws at sizes that the task does not name where the reference's answer is none, or wrong.

    A mean over one row whose label does not count is none, and which labels are drawn follows from the candidate's id.
    Of two elements that a norm has made equal but for their signs nothing is left in a gradient.
    """

    def lost(trial: dict[str, Any]) -> bool:
        named = expected.variants[trial["variant"]]["kind"] in NAMED
        if named or trial["style"] != "natural":
            return False
        return _not_a_number(expected, trial) or _caught(expected, trial, lambda answer: answer)

    kept = expected.at([trial for trial in expected.trials if not lost(trial)])
    kept.otherwise = [trial for trial in expected.otherwise if not lost(trial)]
    return kept


def _caught(expected: Expected, trial: dict[str, Any], mutant: Mutant) -> bool:
    """Whether one output at least is found wrong when all are mutated so; plain numbers are compared as they are."""
    for path, node in leaves(trial["kept"]["eager"]):
        if "tensor" in node:
            if _fails(expected, trial, path, mutant(expected.kept.array(node["tensor"]))):
                return True
        elif isinstance(number := node.get("value"), float | int) and mutant(np.asarray(float(number))) != number:
            return True
    return False


def _differs(expected: Expected, trial: dict[str, Any]) -> bool:
    """Whether the answer to thinned inputs is found wrong, where there are inputs that can be thinned."""
    given = [n for _, n in leaves(trial["given"]["inputs"]) if "tensor" in n]
    if not any(expected.given.entry(n["tensor"])["dtype"] in FLOATS for n in given):
        return True
    dropped = dict(leaves(trial["kept"]["dropped"]))
    for path, node in leaves(trial["kept"]["eager"]):
        other = dropped.get(path, {})
        if ("tensor" in node) != ("tensor" in other):
            return True
        if "tensor" not in node:
            if node != other:
                return True
            continue
        answer = expected.kept.array(other["tensor"])
        if answer.shape != expected.kept.array(node["tensor"]).shape or _fails(expected, trial, path, answer):
            return True
    return False


def _fails(expected: Expected, trial: dict[str, Any], path: str, answer: Array) -> bool:
    kept, held = trial["kept"], expected.kept
    node = dict(leaves(kept["eager"]))[path]
    golden = dict(leaves(kept["golden"])).get(path) if kept["golden"] else None
    eager = held.array(node["tensor"])
    exact = held.array(golden["tensor"]) if golden and "tensor" in golden else None
    dtype = held.entry(node["tensor"])["dtype"]
    others = [dict(leaves(n)).get(path, {}) for n, _ in kept["noisy"]]
    noisy = [held.array(n["tensor"]) for n in others if "tensor" in n]
    try:
        if dtype.startswith(EXACT):
            exactly(path, answer, eager, exact)
            return False
        return not errors(path, answer, eager, exact, noisy, dtype, nature(trial)).passed
    except UnequalError:
        return True


def _single(expected: Expected, trial: dict[str, Any]) -> bool:
    """Whether no output has more than one element, so that there is nothing to shuffle."""
    nodes = [n for _, n in leaves(trial["kept"]["eager"]) if "tensor" in n]
    return all(expected.kept.array(n["tensor"]).size <= 1 for n in nodes)


def _fine(expected: Expected) -> bool:
    """Whether half precision would change the answer at all, where the task promises more than that.

    Not one that the task itself rounds to half precision, be it the other one, nor of inputs in half precision only.
    """
    for trial in expected.trials:
        if trial["kept"]["tf32"] or _of_halves(expected, trial):
            return False  # it is as precise
        for _, node in leaves(trial["kept"]["eager"]):
            if "tensor" in node and expected.kept.entry(node["tensor"])["dtype"] in ("float32", "float64"):
                answer = expected.kept.array(node["tensor"])
                if not (np.array_equal(_halved(answer), answer, equal_nan=True) or _brain(answer)):
                    return True
    return False


def _of_halves(expected: Expected, trial: dict[str, Any]) -> bool:
    """Whether whatever floats among inputs and weights is of half precision, so that an ulp of them moves as much."""
    nodes = [n for part in ("inputs", "state") for _, n in leaves(trial["given"][part]) if "tensor" in n]
    kinds = {expected.given.entry(n["tensor"])["dtype"] for n in nodes}.intersection(FLOATS)
    return bool(kinds) and kinds <= HALVES


def _not_a_number(expected: Expected, trial: dict[str, Any]) -> bool:
    arrays = [expected.kept.array(n["tensor"]) for _, n in leaves(trial["kept"]["eager"]) if "tensor" in n]
    return any(bool(np.isnan(a).any()) for a in arrays if a.dtype.kind in "fc")


def _shuffled(answer: Array) -> Array:
    return np.random.default_rng(0).permutation(answer.reshape(-1)).reshape(answer.shape)


def _scaled(answer: Array) -> Array:
    return ~answer if answer.dtype.kind == "b" else answer + 1 if answer.dtype.kind in "iu" else answer * 1.05


def _halved(answer: Array) -> Array:
    if answer.dtype.kind != "f":
        return answer
    with np.errstate(over="ignore"):
        halved = answer.astype(np.float16).astype(np.float64)
    return np.where(np.isfinite(halved), halved, answer)


def _brain(answer: Array) -> bool:
    """Whether all of it are numbers of bfloat16."""
    if answer.dtype.kind != "f":
        return False
    with np.errstate(over="ignore"):
        narrow = answer.astype(np.float32)
    cut = (narrow.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
    return bool(np.array_equal(cut.astype(np.float64), answer, equal_nan=True))


MUTANTS: dict[str, Mutant] = {"zeros": np.zeros_like, SHUFFLED: _shuffled, "1.05 times the answer": _scaled}

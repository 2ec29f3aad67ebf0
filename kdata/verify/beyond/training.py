"""Whether a candidate draws in training as its reference does, where that one does: see ``evidence.masks``.

The trusted side of ``candidate.training``.  Kernels for inference, which refuse training or answer in it as in
evaluation mode, are told of and not refused: the task is judged in evaluation mode.  Where their seeds come from is
theirs: torch's generator, a counter, Python's ``random``.  One that offers gradients is asked for them there, too: what
was dropped has none, and what was kept has those of its scale.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kdata.record import digest
from kdata.sandbox.worker import Answer, JobError
from kdata.verify import reasons
from kdata.verify.evidence.compare import Node, Tensors, UnequalError, leaves, structure
from kdata.verify.evidence.findings import Findings, RejectedError
from kdata.verify.evidence.masks import CALLS, Array, Linear, Usual, with_products
from kdata.verify.evidence.trial import Expected, compare
from kdata.verify.exchange.scratch import RETURNED

EQUAL = 1e-3  # share of their size by which answers that are the same may differ
CHECK = "draws in training as the reference does"
DERIVED = "has the gradients of what it draws in training"
Run = Callable[[Sequence[int], dict[str, Any]], Answer]  # of seeds, and of the gradients that are wanted


def seeds(expected: Expected) -> list[int]:
    """The generator's states for the calls: other ones than those of the reference's own calls."""
    own = expected.trials[0]["seed"]
    return [int(digest("training", str(own), str(n))[:8], 16) for n in range(CALLS)]


def look(expected: Expected, run: Run, found: Findings) -> None:
    """Call it in training mode, for gradients, too, where it offers some, and then in evaluation mode.

    Raises:
        RejectedError: it draws, and not as its reference does; or drops something in evaluation mode afterwards.
    """
    kept = expected.trials[0]["kept"]
    if not (drawn := kept.get("training")):
        return
    derived = kept.get("derived") or {}
    if (answer := _answer(run, seeds(expected), derived.get("wanted", {}), found)) is None:
        return
    reports = answer.value.get("trials", [])
    if len(reports) < CALLS + 2:
        found.check(CHECK, False, reports[0]["detail"] if reports else "it could not be called")
        return
    returned = Tensors(answer.value["manifest"], answer.files.get(RETURNED, b""))
    if _judge(expected, drawn, [*reports[1 : CALLS + 1], reports[-1]], returned, found) and len(reports) > CALLS + 2:
        _judge_derived(expected, derived, reports[CALLS + 1 : -1], returned, found)


def _answer(run: Run, drawn: Sequence[int], wanted: dict[str, Any], found: Findings) -> Answer | None:
    """What it answers; without gradients where its process does not outlive those, and None where it gives nothing."""
    for gradients in [wanted, {}] if wanted else [{}]:
        try:
            return run(drawn, gradients)
        except JobError as error:
            found.check(DERIVED if gradients else CHECK, False, f"its process ended with {error}")
    return None


def _judge(
    expected: Expected, drawn: dict[str, Any], reports: Sequence[dict[str, Any]], returned: Tensors, found: Findings
) -> bool:  # fmt: skip
    """Whether it draws at all."""
    *called, evaluated = reports
    if failing := next((r for r in called if r["outcome"] != "ok"), None):
        found.check(CHECK, False, failing["detail"])
        return False
    trial, wrong = compare(expected, 0, evaluated | {"random": False}, returned)
    if wrong:
        raise RejectedError(wrong, f"in evaluation mode after calls in training mode: {trial.detail}")
    plain = _values(expected, evaluated, returned)
    answers = [_values(expected, report, returned) for report in called]
    if all(_same(plain, one) for one in answers):
        found.check(CHECK, False, "it answers in training mode as in evaluation mode")
        return False
    for place, told in drawn.items():
        usual = Usual(*_arrays(told["usual"], expected.kept))
        if other := usual.beyond([one[int(place)] for one in answers], told["ends"]):
            found.check(CHECK, False, other)
            raise RejectedError(reasons.WRONG, f"in training mode {other}")
    found.check(CHECK, True)
    return True


def _judge_derived(
    expected: Expected, derived: dict[str, Any], reports: Sequence[dict[str, Any]], returned: Tensors, found: Findings
) -> None:  # fmt: skip
    """Its gradients; those that it refuses, or has none of, are told."""
    if failing := next((r for r in reports if r["outcome"] != "ok"), None):
        found.check(DERIVED, False, failing["detail"])
        return
    vectors, inputs, rows = (_arrays(node, expected.kept) for node in derived["linear"])
    linear, count = Linear(vectors, inputs, derived["unit"], rows), len(derived["wanted"]["used"])
    answers = [_derived(count, linear, report, returned) for report in reports]
    for place, told in derived["places"].items():
        usual = Usual(*_arrays(told["usual"], expected.kept))
        if any(int(place) >= len(one) or one[int(place)].size < usual.mean.size for one in answers):
            raise RejectedError(reasons.WRONG_GRADIENT, "in training mode it has another shape")
        if other := usual.beyond([one[int(place)] for one in answers], told["ends"]):
            found.check(DERIVED, False, other)
            raise RejectedError(reasons.WRONG_GRADIENT, f"in training mode {other}")
    found.check(DERIVED, True)


def _derived(count: int, linear: Linear, report: dict[str, Any], returned: Tensors) -> list[Array]:
    """So many gradients, after what they are beside the answer.

    Raises:
        RejectedError: one is none.
    """
    if not all("tensor" in node for _, node in leaves(report["outputs"])):
        raise RejectedError(reasons.WRONG_GRADIENT, "in training mode it gives none where the reference does")
    arrays = _arrays(report["outputs"], returned)
    gradients, answers = arrays[:count], arrays[count:]
    return [*linear.off(gradients, answers), *with_products(gradients, answers)]


def _arrays(node: Node, tensors: Tensors) -> list[Array]:
    return [tensors.array(leaf["tensor"]) for _, leaf in leaves(node)]


def _values(expected: Expected, report: dict[str, Any], returned: Tensors) -> dict[int, Array]:
    """The tensors of an answer, by their places.

    Raises:
        RejectedError: it is of another form than the reference's.
    """
    eager = expected.trials[0]["kept"]["eager"]
    try:
        structure(eager, expected.kept, report["outputs"], returned)
    except UnequalError as unequal:
        raise RejectedError(unequal.reason, f"in training mode {unequal.detail}") from unequal
    nodes = enumerate(node for _, node in leaves(report["outputs"]))
    return {place: returned.array(node["tensor"]) for place, node in nodes if "tensor" in node}


def _same(one: dict[int, Array], other: dict[int, Array]) -> bool:
    """Whether two answers are the same but for rounding: a tuner may have chosen otherwise."""
    return all(
        np.allclose(array, other[place], EQUAL, EQUAL * float(np.abs(array).max(initial=0.0)), equal_nan=True)
        for place, array in one.items()
    )

"""Calls in training mode of what draws there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kdata.sandbox.worker import Answer, JobError
from kdata.verify.beyond import training
from kdata.verify.evidence.findings import Findings


def test_who_does_not_outlive_its_gradients_is_asked_without_them() -> None:
    asked: list[dict[str, Any]] = []

    def run(drawn: Sequence[int], wanted: dict[str, Any]) -> Answer:
        asked.append(wanted)
        raise JobError("timeout", "")

    found = Findings()
    assert training._answer(run, [1], {"seed": 0}, found) is None
    assert asked == [{"seed": 0}, {}]
    assert [check.name for check in found.checks] == [training.DERIVED, training.CHECK]

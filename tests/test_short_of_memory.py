"""What becomes of a candidate for which a GPU's memory does not do: no GPU is needed to see that."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kdata.verify import reasons
from kdata.verify.evidence.expecting import UndecidedError
from kdata.verify.evidence.findings import Findings, RejectedError
from kdata.verify.gpu import judge


def measured(monkeypatch: pytest.MonkeyPatch, *attempts: RejectedError | None) -> tuple[Findings, int]:
    """The findings, and how many attempts were made; each raises what is given, or nothing."""
    left, found = list(attempts), Findings()

    def attempt(seat: Any, findings: Findings, grows: Any) -> None:
        if (error := left.pop(0)) is not None:
            raise error

    monkeypatch.setattr(judge, "_measure", attempt)
    card = SimpleNamespace(name="a card", uuid="short-of-memory")
    judge.measure(SimpleNamespace(card=card, close=lambda: None), found, {})  # type: ignore[arg-type]
    return found, len(attempts) - len(left)


def test_memory_that_others_had_is_tried_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    _, attempts = measured(monkeypatch, RejectedError(reasons.MEMORY, "4 GiB"), None)
    assert attempts == 2


def test_who_runs_out_alone_is_not_rejected_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    short = RejectedError(reasons.MEMORY, "4 GiB")
    with pytest.raises(UndecidedError) as caught:
        measured(monkeypatch, short, short)
    assert (caught.value.reason, caught.value.detail) == (reasons.SHORT, "4 GiB")


def test_who_is_wrong_is_rejected_at_once_and_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "healthy", lambda _: True)
    wrong = RejectedError(reasons.WRONG, "far off")
    for attempts in ((wrong,), (RejectedError(reasons.MEMORY, "4 GiB"), wrong)):
        with pytest.raises(RejectedError) as caught:
            measured(monkeypatch, *attempts)
        assert caught.value.reason == reasons.WRONG

"""Search: what each failure asks anew is found out once."""

from __future__ import annotations

import ast
import copy
import inspect
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from sources import probe
from sources.infer.forward import input_guesses, optional
from sources.infer.forward.failure import Failure
from sources.infer.inputs import Tensor
from sources.infer.search import solve


class Net(nn.Module):
    def forward(self, x: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        return x if bias is None else x + bias


def counted(monkeypatch: pytest.MonkeyPatch, place: Any, name: str) -> list[Any]:
    calls, plain = list[Any](), getattr(place, name)
    monkeypatch.setattr(place, name, lambda *given, **named: calls.append(given) or plain(*given, **named))
    return calls


def test_the_source_of_a_function_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def own() -> int:
        return 1

    calls = counted(monkeypatch, inspect, "getsource")
    assert {input_guesses.source(own) for _ in range(3)} == {"def own() -> int:\n    return 1\n"}
    assert len(calls) == 1


def test_what_an_input_that_was_left_out_may_be_is_guessed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    net, calls = Net(), counted(monkeypatch, optional, "of_parameters")
    first = optional.following(net, 1)
    assert first and optional.following(net, 1) == first and optional.following(net, 2) == []
    assert len(calls) == 1


def test_a_failure_asks_once_what_inputs_are_called(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = counted(monkeypatch, inspect, "signature")
    failure = Failure((Tensor((4, 8)), Tensor((4, 8))), "ValueError: no", Net())
    assert failure.names() == failure.names() == ["x", "bias"]
    asked = len(calls)
    failure.names()
    assert len(calls) == asked


def test_an_error_that_prints_a_tensor_is_short() -> None:
    before = copy.copy(torch._tensor_str.PRINT_OPTS)  # which are changed in place
    try:
        probe.warm()
        assert len(str(torch.rand(64, 64, 64))) < 500
    finally:
        torch._tensor_str.PRINT_OPTS = before


class Picky(Net):
    def __init__(self, width: int, depth: int) -> None:
        super().__init__()
        if width * depth != 24 * 24:
            raise ValueError("width is not 24")


def test_the_text_of_a_program_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    text = Path(__file__).read_text()
    calls = counted(monkeypatch, ast, "parse")
    solve(Picky, globals(), text)
    assert sum(given[0] == text for given in calls) == 1

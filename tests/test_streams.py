"""Calls on a busy stream: how often they are made. That streams are found which nobody waits for takes a GPU."""

from __future__ import annotations

import contextlib

import pytest
import torch
from torch.utils._pytree import tree_leaves

from kdata.verify.gpu import streams


@pytest.mark.parametrize("early", [[True], [False, True], [False, False]])
def test_a_call_that_its_inputs_overtake_is_made_once_more(early: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    slept, left = list[int](), list(early)

    class Event:
        def record(self) -> None:
            return None

        def query(self) -> bool:
            return not left.pop(0)

    for name, stand_in in (("_Event", Event), ("_sync", lambda: None), ("_sleep", slept.append),
                           ("_tensors", tree_leaves)):  # fmt: skip
        monkeypatch.setattr(streams, name, stand_in)
    called = streams.InOrder(lambda x: x * 2, contextlib.nullcontext)
    x = torch.ones(3)
    assert torch.equal(called(x), torch.full((3,), 2.0)) and torch.equal(x, torch.ones(3))
    assert slept == list(streams.CYCLES[: len(early)]) and not called.unfinished()

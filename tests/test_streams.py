"""Calls on a busy stream: how often they are made. Streams of a GPU that is not here: what comes after what."""

from __future__ import annotations

import contextlib

import pytest
import torch
from torch.utils._pytree import tree_leaves

from kdata.verify.gpu import streams
from kdata.verify.interpreter import streams as pretended
from kdata.verify.interpreter.streams import Chosen, Event, Stream


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
    called = streams.InOrder(lambda x: x * 2, contextlib.nullcontext, lambda: None)
    x = torch.ones(3)
    assert torch.equal(called(x), torch.full((3,), 2.0)) and torch.equal(x, torch.ones(3))
    assert slept == list(streams.CYCLES[: len(early)]) and not called.unfinished()


GIVEN, MADE = 64, 128  # addresses


def launched(stream: Stream | None, *memory: int, writes: int) -> None:
    with Chosen(stream):
        pretended.start(memory)
        pretended.wrote([writes], [])


def test_a_stream_that_nobody_waits_for_is_not_finished() -> None:
    side = Stream()
    pretended.begin()
    side.wait_stream(pretended.current())
    done = side.record_event()
    launched(side, GIVEN, writes=MADE)
    pretended.current().wait_event(done)  # recorded before the kernel
    assert pretended.unfinished() and not pretended.early()
    pretended.current().wait_event(side.record_event())
    assert not pretended.unfinished()


def test_who_waits_on_the_host_waits_for_all_that_follows() -> None:
    side, done = Stream(), Event()
    pretended.begin()
    pretended.current().synchronize()
    with side:
        assert pretended.current() is side
        launched(None, GIVEN, writes=MADE)
        done.record()
    assert pretended.current() is pretended.DEFAULT and pretended.unfinished()
    done.synchronize()
    launched(None, MADE, writes=MADE)
    assert not pretended.unfinished() and not pretended.early()


def test_a_kernel_comes_after_what_writes_the_memory_that_it_uses() -> None:
    one, other = Stream(), Stream()
    pretended.begin()
    launched(one, GIVEN, writes=MADE)
    assert "the caller's stream" in pretended.early()
    pretended.begin()
    for side in (one, other):
        side.wait_stream(pretended.current())
    launched(one, GIVEN, writes=MADE)
    launched(other, GIVEN, writes=MADE + 1)
    assert not pretended.early()
    launched(other, MADE, writes=MADE + 1)
    assert str(one.cuda_stream) in pretended.early()
    pretended.synchronize()
    assert not pretended.unfinished()


def test_what_waits_for_one_that_waited_comes_after_both() -> None:
    one, other = Stream(), Stream()
    pretended.begin()
    one.wait_stream(pretended.current())
    launched(one, GIVEN, writes=MADE)
    other.wait_event(one.record_event())
    launched(other, MADE, GIVEN, writes=MADE)
    pretended.current().wait_stream(other)
    assert not pretended.unfinished() and not pretended.early()

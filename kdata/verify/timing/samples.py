"""One timed call at a time. In the candidate's child and, for the baselines, in the reference's: the same code.

Each sample is a conversation with the parent, see ``kdata.verify.timing.timer``: ``prepare`` draws inputs that no call
has seen, ``go`` calls once, ``look`` and ``write`` hand over the output.  A *profiled* sample starts the call while the
device is kept busy and adds up what the device then did, as its profiler has it; a *shielded* one starts it so, too,
with an event before and one behind, and its output is read when the call returns; a *bare* one starts it on an idle
device, as a user would, and is what the wall clocks measure: until all streams have come to rest, and nothing else is
started meanwhile.
"""

from __future__ import annotations

import base64
import ctypes
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from kdata.verify.exchange.scratch import OUTPUT
from kdata.verify.exchange.wire import NotPlainError, Outline, raw
from kdata.verify.gpu.draws import Draws, pick, places
from kdata.verify.timing.activity import activities, after_shield
from kdata.verify.timing.claims import LAUNCH, PROFILED, SHIELDED
from kdata.verify.timing.placement import Placement, needed
from kdata.verify.timing.statistics import working

SMALLEST_FLUSH = 256 << 20  # bytes
MOST_CYCLES = 40_000_000  # of a shield: about 20 ms
CYCLES = 2_000  # a microsecond at the highest clock of today's devices
# Kept before any candidate is imported, so that patching does not change the clocks.
_clock, _sync, _sleep, _Event = time.perf_counter, torch.cuda.synchronize, torch.cuda._sleep, torch.cuda.Event
_elapsed, _record, _zero, _no_grad = _Event.elapsed_time, _Event.record, torch.Tensor.zero_, torch.no_grad


class Sampler:
    """Takes samples of some calls, each a function of the inputs."""

    def __init__(
        self, calls: dict[str, Callable[..., Any]], draws: Draws, launch: Callable[[], Any] | None = None,
        restore: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        self._calls, self._draws, self._launch, self._restore = calls, draws, launch, restore
        properties = torch.cuda.get_device_properties()
        size = max(SMALLEST_FLUSH, 2 * properties.L2_cache_size)
        self._flush = torch.empty(size, dtype=torch.uint8, device="cuda")
        self._events = _Event(enable_timing=True), _Event(enable_timing=True)
        self._reset = _persisting_reset()
        self._placement = Placement()
        self._shield = 0  # cycles
        self._inputs: list[Any] = []
        self._outputs: Any = None
        self._blank: Any = None  # stands for an answer where nothing is called
        self._sizes: list[int] = []  # elements of the outputs, once they are known

    def answer(self, question: dict[str, Any], scratch: Path) -> dict[str, Any]:
        """Answer one of the parent's questions."""
        match question["do"]:
            case "warm":
                return self._warm(question["what"], question["seed"], question["seconds"])
            case "prepare":
                return self._prepare(question["seed"], question["what"])
            case "go":
                return self._go(question)
            case "look":
                values = self._look(question)
                return {"values": [base64.b64encode(raw(v)).decode() for v in values]}
            case "write":
                (scratch / OUTPUT).write_bytes(b"".join(raw(v) for v in self._look(question)))
                return {}
        raise ValueError(f"unknown question {question['do']!r}")

    def run(self, what: str, seed: int) -> Any:
        """One call that is not timed."""
        with _no_grad():
            return self._calls[what](*self._draws.make(seed))

    def keep(self, inputs: list[Any], outputs: Any) -> dict[str, Any]:
        """Look at the outputs of a call that was made elsewhere, from here on."""
        self._inputs, self._outputs = inputs, outputs
        return _outline(outputs)

    def _warm(self, what: str, seed: int, seconds: float) -> dict[str, Any]:
        """Call for so long that the device is warm, and learn how long the host takes to start a call.

        ``seconds``: 0 for one call, from which nothing is learnt: it compiles.
        """
        begun = _clock()
        host: list[float] = []
        while _clock() - begun < seconds or len(host) < (4 if seconds else 1):
            inputs = self._draws.make(seed + len(host))
            _sync()
            with needed(_tensors(inputs)) as bytes_needed, _no_grad():
                started = _clock()
                outputs = self._calls[what](*inputs)
                host.append(_clock() - started)
            _sync()
        self._sizes, self._blank = [t.numel() for t in _tensors(outputs)], outputs
        typical = sorted(host)[len(host) // 2] * 1e6
        self._shield = max(self._shield, min(MOST_CYCLES, int(CYCLES * (2 * typical + 100)))) if seconds else 0
        if seconds:
            self._placement.learn(what, self._calls[what], bytes_needed())
            self._touch(what, seed)
        return {"host": typical}

    def _touch(self, what: str, seed: int) -> None:
        """Call once in every region: the first that reads or writes a page takes up to a fifth longer."""
        for region in self._placement.every(what):
            self._placement.move(what)
            with region, _no_grad():
                self._calls[what](*self._draws.make(seed))
        _sync()

    def _prepare(self, seed: int, what: str) -> dict[str, Any]:
        previous = self._inputs  # alive until the next are drawn, so that their memory is not the same
        with self._placement.region(what):
            self._inputs = self._draws.make(seed)
        del previous
        self._outputs = None
        self._restore()
        self._placement.move(what)
        if self._reset is not None:
            self._reset()
        _zero(self._flush)
        _sync()
        return {}

    def _go(self, question: dict[str, Any]) -> dict[str, Any]:
        """Call once, and pick what stands in the output."""
        where = [places(n, question["seed"], question["count"]) for n in self._sizes]
        call, kind = self._call(question["what"]), question["kind"]
        _sync()
        with self._placement.region(question["what"]):
            clocks, kept = (
                (self._profiled(call), []) if kind == PROFILED else self._between(call, kind == SHIELDED, where)
            )
        kept = kept or _picked(self._outputs, where)
        values = [base64.b64encode(raw(v)).decode() for v in kept]
        return {**clocks, "values": values, **_outline(self._outputs)}

    def _profiled(self, call: Callable[..., Any]) -> dict[str, float]:
        """How long the device worked, and how many things it was given to do."""

        def work() -> None:
            _zero(self._flush)
            _sleep(self._shield)
            with _no_grad():
                self._outputs = call(*self._inputs)

        found = after_shield(activities(work))
        return {"busy": working([(a.start, a.duration) for a in found]) / 1e3, "launches": float(len(found))}

    def _between(
        self, call: Callable[..., Any], shielded: bool, where: list[torch.Tensor | None]
    ) -> tuple[dict[str, float], list[torch.Tensor]]:
        """Between two events and between two looks at the clock; elements are picked on the caller's own stream.

        A bare call's output is picked when the device rests: starting that would overlap with what the clock measures.
        """
        first, last = self._events
        if shielded:
            _zero(self._flush)
            _sleep(self._shield)
        _record(first)
        started = _clock()
        with _no_grad():
            self._outputs = call(*self._inputs)
        returned = _clock()
        _record(last)
        kept = _picked(self._outputs, where) if shielded else []
        _sync()
        ended = _clock()
        host, wall = (returned - started) * 1e6, (ended - started) * 1e6
        return {"gpu": _elapsed(first, last) * 1e3, "host": host, "wall": wall}, kept

    def _call(self, what: str) -> Callable[..., Any]:
        """A program by name; "" does nothing, and "launch" starts one small kernel: what clocks are held against."""
        if what == "":
            return lambda *_: self._blank
        if what != LAUNCH or self._launch is None:
            return self._calls[what]
        launch = self._launch

        def start(*_: Any) -> Any:
            launch()
            return self._blank

        return start

    def _look(self, question: dict[str, Any]) -> list[torch.Tensor]:
        seed, count, run = question["seed"], question["count"], question["run"]
        return [pick(t, places(t.numel(), seed, count, run)) for t in _tensors(self._outputs)]


def _picked(outputs: Any, where: list[torch.Tensor | None]) -> list[torch.Tensor]:
    return [pick(t, w).clone() for t, w in zip(_tensors(outputs), where, strict=True)]


def _tensors(value: Any) -> list[torch.Tensor]:
    return [t for t in tree_leaves(value) if isinstance(t, torch.Tensor)]


def _outline(value: Any) -> dict[str, Any]:
    """What was returned, without the elements."""
    writer = Outline()
    try:
        return {"node": writer.write(value), "manifest": writer.manifest}
    except NotPlainError as error:
        return {"odd": str(error)}


def _persisting_reset() -> Callable[[], Any] | None:
    """The function that clears lines which a kernel asked the L2 to keep; None where the runtime is not found."""
    with open("/proc/self/maps") as maps:
        names = {line.split()[-1] for line in maps if "libcudart" in line}
    for name in sorted(names):
        if os.path.isfile(name):
            function: Callable[[], Any] = ctypes.CDLL(name).cudaCtxResetPersistingL2Cache
            return function
    return None

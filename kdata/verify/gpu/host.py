"""The candidate's side on a GPU: hostile code runs here, in a child of its own.

``answer`` runs the trials of the small variants as ``kdata.verify.candidate.host`` does, on the device instead of the
interpreter; ``serve`` runs the candidate at the task's own sizes, one call at a time as the parent asks.
"""

from __future__ import annotations

import contextlib
import gc
import json
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
import triton

from kdata.sandbox.session import Peer
from kdata.verify import reasons
from kdata.verify.candidate import enclosure, host
from kdata.verify.candidate.allowed import Watch
from kdata.verify.candidate.engine import Engine
from kdata.verify.candidate.loading import load
from kdata.verify.candidate.setting import StopTrialError, build, others, outcome, weigh
from kdata.verify.cuda import host as cuda_host
from kdata.verify.exchange import wire
from kdata.verify.exchange.guards import start_bools_as
from kdata.verify.exchange.scratch import OWN, SOURCE, VALUE
from kdata.verify.exchange.telling import line
from kdata.verify.gpu.baselines import prepare, private_caches
from kdata.verify.gpu.draws import Draws
from kdata.verify.gpu.launches import DeviceLedger
from kdata.verify.gpu.restored import Restored
from kdata.verify.gpu.streams import InOrder
from kdata.verify.interpreter import precision
from kdata.verify.timing.activity import activities
from kdata.verify.timing.samples import Sampler

PROFILED = 3  # calls
_ledger = DeviceLedger()
_sync = torch.cuda.synchronize


def warm() -> None:
    """Put the ledger and the watches in place. Nothing here starts CUDA: the children that are forked do."""
    host.use(Engine("cuda", _ledger, _ledger.take_turn, lambda: False, lambda: "", torch.cuda.synchronize,
                         left=cuda_host.left))  # fmt: skip
    precision.hear_older()
    prepare()
    host.remember_libraries()


def _begin(scratch: Path, tf32: bool) -> None:
    """What every child does first.

    Triton's driver reads files of its own when it is first asked for, as tutorials' kernels do while they are imported:
    a candidate may not.

    Raises:
        MemoryError: others have the device's memory.
    """
    private_caches(scratch)
    _strict(tf32)
    try:
        triton.runtime.driver.active.get_current_target()
        cuda_host.prepare(scratch, _ledger, host.blame)
        host.settle()
    except RuntimeError as error:
        if outcome(error) != reasons.MEMORY:
            raise
        raise MemoryError(line(error)) from error


def answer(payload: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """``kdata.verify.candidate.host.answer`` on the device."""
    _begin(scratch, payload.get("tf32", False))
    return host.answer(payload, scratch)


def health(payload: None, scratch: Path) -> dict[str, Any]:
    """Whether the device computes: two numbers that ought to be 2016."""
    numbers = torch.arange(64, device="cuda", dtype=torch.float32)
    ones = torch.ones(64, 64, device="cuda")
    found = float(numbers.sum()), float((ones @ numbers)[0])
    torch.cuda.synchronize()
    return {"sums": found, "name": torch.cuda.get_device_name(), "memory": torch.cuda.mem_get_info()[1]}


def serve(payload: dict[str, Any], scratch: Path) -> None:
    """Serve the parent's questions: ``trials`` of the small variants, then any about the task's own sizes, and others.

    ``payload``: mode, tf32, trials (as ``candidate.host.answer`` takes them).  An answer with ``failed`` is the last
    one.
    """
    _begin(scratch, payload["tf32"])
    peer = Peer(scratch)
    work: Full | None = None
    while (question := peer.question()) is not None:
        try:
            match question["do"]:
                case "trials":
                    (scratch / VALUE).write_text(json.dumps(host.answer(payload["trials"], scratch)))
                    _give_memory_back()
                    peer.answer({})
                case "own":
                    imported = work.imported if work else None
                    work = None  # that of other sizes: two at once are not to be in memory
                    work = Full(question, payload["mode"], scratch, imported)
                    peer.answer({})
                case _:
                    assert work is not None
                    peer.answer(work.answer(question))
        except enclosure.ForbiddenError as error:
            peer.answer({"failed": [reasons.BEHIND, enclosure.fault() or line(error)]})
        except StopTrialError as stop:
            peer.answer({"failed": [stop.outcome, stop.detail]})
        except Exception as error:  # noqa: BLE001 - whatever the candidate raises is the answer
            peer.answer({"failed": [outcome(error), line(error)]})


def _give_memory_back() -> None:
    """Give others of this GPU what the trials have left: they may have it to themselves before this process goes on."""
    gc.collect()
    with contextlib.suppress(RuntimeError):  # a fault of the device's, which the trials have told of
        torch.cuda.empty_cache()


class Full:
    """The candidate at the task's own sizes, or larger ones: built anew, of what was imported for the first of these.

    What a text keeps from call to call is what its users meet with, who call it at one size and then at another.
    """

    def __init__(self, handed: dict[str, Any], mode: str, scratch: Path, imported: ModuleType | None) -> None:
        self._scratch = scratch
        _ledger.run_freely()
        start_bools_as(True)
        reader = wire.Reader(handed["manifest"], (scratch / OWN).read_bytes(), "cuda")
        self._draws = Draws.read(handed["given"]["draws"], reader)
        state = reader.read(handed["given"]["state"])
        self.imported = imported or load(scratch / SOURCE)
        model = build(self.imported, reader, handed["given"])
        weigh(model, state, others(state))
        model = model.cuda()
        self._model = model.eval() if mode == "eval" else model
        self._restore = Restored(model, handed["given"]["changes"])
        self._sampler = Sampler({"candidate": self._model}, self._draws, restore=self._restore)

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """Answer the parent."""
        match question["do"]:
            case "watch":
                return self._watch(question["seed"])
            case "profile":
                return {"kernels": self._profile(question["seed"])}
            case "follow":
                return {"follows": self._follows(question["seed"])}
        return self._sampler.answer(question, self._scratch)

    def _watch(self, seed: int) -> dict[str, Any]:
        """One call: what was returned, which operators torch computed for it, and how many kernels were launched."""
        self._sampler.keep([], ())  # what the last call had
        inputs, watch = self._draws.make(seed), Watch(_ledger)
        watch.let_count(self._model)
        called = InOrder(self._model, _ledger.move, self._restore)
        with _ledger.watched():
            outputs = host.forward(called, inputs, watch, "off")
        if called.unfinished():
            raise StopTrialError("unfinished", "another stream works on what it returned")
        if watch.out_of_bounds():
            raise StopTrialError("out of bounds", "beside what torch.empty gave")
        outline = self._sampler.keep(inputs, outputs)
        torch.cuda.empty_cache()  # the reference's process needs several times the memory of a call
        return outline | {"aten": list(watch.called), "launches": len(_ledger.launches)}

    def _follows(self, seed: int) -> bool:
        """Whether one call launches all its kernels on the stream that is current, where that is not the usual one."""
        inputs, stream = self._draws.make(seed), torch.cuda.Stream()
        _sync()
        with _ledger.watched(), torch.cuda.stream(stream):
            host.forward(self._model, inputs, Watch(_ledger), "off")
        return not any(launch.get("elsewhere") for launch in _ledger.launches)

    def _profile(self, seed: int) -> list[list[Any]]:
        """Name, stream, start and duration (nanoseconds) of everything the device did in some calls, call by call."""
        found: list[list[Any]] = []
        for number in range(PROFILED + 1):
            inputs = self._draws.make(seed + number)
            _sync()
            with torch.no_grad():
                seen = activities(partial(self._model, *inputs))
            if number:  # the first starts the profiler
                found += [[number, *activity] for activity in seen]
        return found


def _strict(tf32: bool) -> None:
    """Products in the precision of the track that is judged; Triton's default follows TRITON_F32_DEFAULT."""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = tf32

"""What a GPU adds to a verdict: trials on the device, the task's own sizes, and time. The trusted side."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from kdata.record import Candidate, Task
from kdata.sandbox.guard import Limits
from kdata.sandbox.pool import lease
from kdata.sandbox.session import Session
from kdata.sandbox.worker import Answer, JobError
from kdata.verify import reasons
from kdata.verify.cuda import candidate as cuda
from kdata.verify.cuda.symbols import Kernels
from kdata.verify.evidence.expecting import UndecidedError
from kdata.verify.evidence.findings import Findings, RejectedError
from kdata.verify.evidence.witness import ANSWERED
from kdata.verify.exchange.scratch import GIVEN, RETURNED, VALUE
from kdata.verify.gpu import grown
from kdata.verify.gpu.cards import Card, LostError, borrow, cards, healthy, held, with_memory
from kdata.verify.gpu.full import COMPILING, OWN_SIZES, Full, UnmeasuredError, failure, opened
from kdata.verify.options import Options
from kdata.verify.timing import compiled
from kdata.verify.timing.timer import Plan, Timer, kernel_names

MOST_JSON, MOST_BYTES = Limits().answer, 8 << 30  # of what trials leave
# After these the device may be in any state.
ALARMING = frozenset({reasons.CRASH, reasons.TIMEOUT, reasons.RAISES, reasons.OUT_OF_BOUNDS, reasons.MEMORY})


def device(options: Options) -> str:
    """The kind of GPU to judge on, as receipts name it; "" for the interpreter, or where there is no GPU."""
    return f"cuda: {cards()[0].name}" if options.device == "cuda" and cards() else ""


def choose(device: str | None) -> Literal["cpu", "cuda"]:
    """The device that a user asks for; None: a GPU if there is one.

    Raises:
        ValueError: it is neither "cpu" nor "cuda".
    """
    if device is None:
        return "cuda" if cards() else "cpu"
    if device not in ("cpu", "cuda"):
        raise ValueError(f"unknown device {device!r}; known are cpu, cuda")
    return "cuda" if device == "cuda" else "cpu"


def call(candidate: Candidate, payload: Mapping[str, Any], given: bytes, options: Options) -> Answer:
    """Run the trials of the small variants on a GPU.

    Raises:
        JobError: the candidate's process gave no answer.
        LostError: the GPU does not compute any more.
    """
    files = {GIVEN: given, **cuda.handed(candidate, options)}

    def once(card: Card) -> Answer:
        limits, told = card.limits(options.gpu_timeout, options.gpu_memory), {**payload, "tf32": options.tf32}
        with (
            held(card, alone=False),
            _watched(card),
            lease("torch", "kdata.verify.gpu.host:warm", **card.environment(options.tf32, options.fused)) as worker,
        ):
            return worker.call("kdata.verify.gpu.host:answer", told, limits, files, fetch=(RETURNED,))

    with borrow() as card:
        return with_memory(card, lambda: once(card), _short)


def _short(answer: Answer) -> bool:
    """Whether a trial ended for want of memory."""
    return any(trial["outcome"] == reasons.MEMORY for trial in answer.value.get("trials", ()))


@dataclass(slots=True)
class Seat:
    """A candidate's process on a GPU, for its small trials, its own sizes and its timing: starting CUDA takes time.

    Where a trial is repeated to find out why it failed, and where the candidate is called in other ways, that is done
    in processes of their own: ``call``.
    """

    card: Card
    candidate: Candidate
    mode: str
    options: Options
    guards: tuple[str, ...] = ()  # what held the process, once it has ended
    _stack: ExitStack = field(default_factory=ExitStack)
    _session: Session | None = None

    def trials(self, payload: Mapping[str, Any], given: bytes) -> Answer:
        """Run the trials of the small variants in a new process; once more, alone, where others had the memory.

        Raises:
            JobError: it gave no answer.
            LostError: the GPU does not compute any more.
        """
        return with_memory(self.card, lambda: self._trials(payload, given), _short)

    def _trials(self, payload: Mapping[str, Any], given: bytes) -> Answer:
        self.close()
        with held(self.card, alone=False), _watched(self.card):
            try:
                session = self.open(payload, given)
                return _answer(session.ask({"do": "trials"}, self.options.gpu_timeout), session)
            except JobError:
                self.close()
                raise

    def open(self, trials: Mapping[str, Any] | None = None, given: bytes = b"") -> Session:
        """The process; a new one where there is none."""
        if self._session is None:
            limits = self.card.limits(self.options.gpu_timeout + 4 * COMPILING, self.options.gpu_memory)
            files = {GIVEN: given, **cuda.handed(self.candidate, self.options)}
            payload = {"mode": self.mode, "tf32": self.options.tf32, "trials": trials}
            environment = self.card.environment(self.options.tf32)
            worker = self._stack.enter_context(lease("torch", "kdata.verify.gpu.host:warm", **environment))
            session = Session(worker, "kdata.verify.gpu.host:serve", payload, limits, files)
            self._session = self._stack.enter_context(session)
        return self._session

    def close(self) -> None:
        """End the process."""
        self._stack.close()
        if self._session is not None:
            self.guards = self._session.guards
        self._session = None


def _answer(said: Mapping[str, Any], session: Session) -> Answer:
    """What trials gave.

    Raises:
        JobError: nothing that makes sense.
    """
    if failed := failure(said):
        raise JobError(reasons.MEMORY if failed[0] == reasons.MEMORY else "exception", ": ".join(failed))
    try:
        value = json.loads(session.read(VALUE, MOST_JSON))
    except (ValueError, RecursionError) as error:
        raise JobError("no answer", "it said what is no JSON") from error
    if not isinstance(value, dict):
        raise JobError("no answer", "it said what is no JSON object")
    names = () if "failed" in value else (RETURNED,)
    return Answer(value, (), 0.0, {name: session.read(name, MOST_BYTES) for name in names})


@contextmanager
def seated(candidate: Candidate, mode: str, options: Options, found: Findings) -> Iterator[Seat | None]:
    """A candidate's process on a GPU; None where candidates are interpreted. What held it is noted at the end."""
    if options.device != "cuda":
        yield None
        return
    with borrow() as card:
        seat = Seat(card, candidate, mode, options)
        try:
            yield seat
        finally:
            seat.close()
            found.guards = seat.guards or found.guards


def measure(seat: Seat, found: Findings, grows: Mapping[str, int]) -> None:
    """Run a candidate at its task's own sizes and beyond, and time it. What cannot be measured is noted, with why.

    ``grows``: the sizes that may vary, with the task's own values.

    Raises:
        RejectedError: it is wrong there, or its timing is.
        UndecidedError: its memory runs out there, too, while no other candidate has any.  The reference's answers and
            what they are compared with lie beside it: a larger GPU may have room for both.
        LostError: the GPU does not compute any more.
    """
    before = len(found.checks), len(found.trials)
    found.device = f"cuda: {seat.card.name}"
    with _watched(seat.card):
        try:
            with held(seat.card, alone=False, what="memory"):
                _measure(seat, found, grows)
            return
        except UnmeasuredError as why:
            if "out of memory" not in str(why):
                found.check("measured", False, str(why)[:300])
                return
        except RejectedError as rejection:
            if rejection.reason != reasons.MEMORY:
                raise
        del found.checks[before[0] :], found.trials[before[1] :]  # others had the memory, perhaps: once more, alone
        seat.close()
        try:
            with held(seat.card, alone=True, what="memory"):
                _measure(seat, found, grows)
        except UnmeasuredError as why:
            found.check("measured", False, str(why)[:300])
        except RejectedError as rejection:
            if rejection.reason != reasons.MEMORY:
                raise
            raise UndecidedError(reasons.SHORT, rejection.detail) from rejection


def _measure(seat: Seat, found: Findings, grows: Mapping[str, int]) -> None:
    task, memory, options = seat.candidate.task, seat.options.gpu_memory, seat.options

    def open_at(sized: Task, where: str) -> AbstractContextManager[Full]:
        timed = options.timed and where == OWN_SIZES
        return opened(sized, seat.mode, seat.card, memory, seat.open(), options.tf32, timed, where)

    with open_at(task, OWN_SIZES) as full:
        _own_sizes(seat, full, found)
    if options.level == "trust":
        with held(seat.card, alone=False):
            grown.look(task, grows, full, open_at, found)


def _own_sizes(seat: Seat, full: Full, found: Findings) -> None:
    card, options = seat.card, seat.options
    with held(card, alone=False):
        try:
            full.check(thorough=options.level == "trust" and not found.unfused)
        finally:
            found.trials += full.trials
        if native := _native(seat):
            cuda.look(full, native)
            cuda.follow(full, found)
        found.check(ANSWERED, True, f"{len(full.trials)} draws")
        if not options.timed:
            return
        timer = Timer(full, card, Plan(baselines=options.baselines), options.tf32)
        name = compiled.key(seat.candidate.task, seat.mode, options.tf32, options.baselines, full.admitted)
        with compiled.kept(full, name) as lost:
            timer.prepare()
        if lost:
            found.check("kept", False, lost)
    with held(card, alone=True):
        own = native or kernel_names(seat.candidate.source)
        found.timing = timer.run(own)
    timer.object_to(found.timing, own)
    if native:  # code that counts its calls out of sight may do other things by now
        cuda.look(full, native)
    found.check("timed", True, found.timing.label)


def _native(seat: Seat) -> Kernels | None:
    """The kernels of a candidate that is compiled before it runs."""
    if seat.candidate.language != "cuda":
        return None
    return cuda.compiled(seat.candidate, seat.options).kernels


@contextmanager
def _watched(card: Card) -> Iterator[None]:
    """After a failure that may have hurt the device, see whether it still computes.

    Raises:
        LostError: it does not.
    """
    try:
        yield
    except (RejectedError, JobError) as error:
        if (isinstance(error, JobError) or error.reason in ALARMING) and not healthy(card):
            raise LostError(f"{card.name} {card.uuid}") from error
        raise

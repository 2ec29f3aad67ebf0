"""How fast a candidate is beside its baselines: the protocol. The trusted side, which alone sees both processes.

Protocol 6 (after SOL-ExecBench, KernelBench-Hard, AgentKernelArena and CUDA-L2, see each reason below):

- The GPU is used by nobody else. Baselines (eager, torch.compile, its max-autotune) run in the reference's process, the
  candidate in its own, with the same code around each call.
- Blocks of A B .. B A: every program is visited twice a block, in mirrored order, so that drifts cancel.
- One call a sample, on inputs that no call has seen, which do not exist before the last call ended; the L2 cache is
  flushed and its persisting lines are released before each; the memory of short calls lies elsewhere each time.
- Three kinds of samples: *profiled* ones time what the device does, as its profiler has it, *shielded* ones the device
  between two events, *bare* ones start on an idle device and are timed by the process's clock and by the judge's,
  which a candidate cannot reach, until all streams rest.
- Elements at random places are read when a shielded call returns, on its own stream (of others once the device rests),
  and again later: both must be right, for every timed call; whole outputs are compared at random.
- Clocks must agree: what ran on the device, over all streams, with the events; the process's clock with the judge's.
  Which of them the claim rests on: ``kdata.verify.timing.claims``. What clocks cost, and what starting one kernel
  takes, is measured anew in each block, for a machine's load changes.
- Where the samples do not tell the speedup to 1.5 per cent, as many more are taken, once; where they do not to
  three, again after a moment, which a disturbance may not outlive; where all of them still do not, no speedup is
  published.
"""

from __future__ import annotations

import ast
import math
import random
import re
import secrets
import time
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from kdata.record import Series, Timing
from kdata.sandbox.session import Session
from kdata.verify import reasons
from kdata.verify.evidence.findings import RejectedError
from kdata.verify.gpu.cards import Card
from kdata.verify.gpu.full import COMPILING, Full
from kdata.verify.timing import statistics
from kdata.verify.timing.claims import (
    BARE,
    CANDIDATE,
    EAGER,
    LAUNCH,
    PROFILED,
    SHIELDED,
    Claim,
    Samples,
    claim,
    middle,
)

PROTOCOL = "6"
PLACES = 2048  # elements looked at in each timed output
EMPTY = 5  # samples a block without a call: what asking and answering take
WARM = 0.3  # seconds of calls before the first sample of a program
PAUSES = (0.0, 0.0, 1.0, 5.0)  # seconds before as many samples more are taken
REFINED = 1  # times that more are taken of what is firm
COPIES = re.compile(r"memcpy|memset|copy|fill|arange|cast", re.IGNORECASE)  # what wrappers may leave to torch
COUNTS = re.compile(r"CUDAFunctorOnSelf_add<(int|long)>")  # a number more: as normalisation layers count batches
FORGED = 500.0  # microseconds by which the judge's clock may differ from the process's
NOISE = 20.0  # microseconds of the profiler's


@dataclass(frozen=True, slots=True)
class Plan:
    """How many samples."""

    blocks: int = 5
    profiled: int = 10  # a visit; a block visits each program twice
    shielded: int = 2
    bare: int = 2
    baselines: tuple[str, ...] = (EAGER, "compile", "max-autotune")

    @property
    def kinds(self) -> list[str]:
        """Of the samples of a visit."""
        return [PROFILED] * self.profiled + [SHIELDED] * self.shielded + [BARE] * self.bare


class Timer:
    """Times one candidate."""

    def __init__(self, full: Full, card: Card, plan: Plan, tf32: bool = False) -> None:
        self._full, self._card, self._plan, self._tf32 = full, card, plan, tf32
        self.samples: dict[str, Samples] = {}
        self._empty: dict[str, tuple[float, float]] = {}  # of each process, in this block: its clock's, and the judge's
        self._launch: list[list[float]] = []
        self._verified = 0
        self._notes: list[str] = []
        self._kernels: list[list[Any]] = []
        self._random = random.Random(secrets.randbits(64))

    def run(self, own: Container[str]) -> Timing:
        """Take all samples. ``own`` names the candidate's kernels.

        Raises:
            RejectedError: a timed call was wrong.
        """
        before, crowd = self._card.condition(), self._card.strangers() > 0
        self._warm()
        self._kernels = self._profile()
        launches = statistics.launches(self._kernels)
        self._measure()
        found, more = claim(self.samples, self._launch, launches, crowd), 0
        while not found.precise and more < (REFINED if found.firm else len(PAUSES)):
            time.sleep(PAUSES[more])
            self._measure()
            found, more = claim(self.samples, self._launch, launches, crowd), more + 1
        if more:
            self._notes.append(f"{more + 1} times as many samples as planned")
        return self._timing(found, own, (before, self._card.condition()))

    def object_to(self, timing: Timing, own: Container[str]) -> None:
        """What a trick with the clocks, or with the work, has left behind.

        Raises:
            RejectedError: there is such a trace.
        """
        mine = self.samples[CANDIDATE]
        foreign = sorted({k[1] for k in self._kernels if k[1] not in own and not self._left_to_torch(k[1])})
        if foreign:
            raise RejectedError(reasons.ATEN, f"when timed: {', '.join(foreign)}")
        if not timing.share:
            raise RejectedError(reasons.NOT_LAUNCHED, "when timed")
        busy, events, wall = statistics.busy(self._kernels), middle(mine.gpu), middle(mine.wall)
        outer = min(v for block in mine.outer for v in block)  # the way there and back only ever adds
        if busy > statistics.AGREE * min(events, timing.gpu) + NOISE:
            raise RejectedError(
                reasons.CLOCKS, f"the device works for {busy:.0f} us, timed {timing.gpu:.0f}, by events {events:.0f}"
            )
        if outer > statistics.AGREE * wall + FORGED:
            raise RejectedError(reasons.CLOCKS, f"a call takes {outer:.0f} us, its process says {wall:.0f}")
        if timing.gpu < statistics.FLOOR * timing.floor:
            raise RejectedError(reasons.IMPOSSIBLE, f"{timing.gpu:.1f} us, the device needs {timing.floor:.1f}")

    def _left_to_torch(self, kernel: str) -> bool:
        """Whether a wrapper may leave this to torch: copies, and counting its calls where the task's state changes."""
        counts = self._full.admitted["given"]["changes"] and COUNTS.search(kernel)
        return bool(counts or COPIES.search(kernel))

    def _warm(self) -> None:
        for name in self.samples:
            question = {"do": "warm", "what": name, "seed": secrets.randbits(48), "seconds": WARM}
            self._ask(name, question, COMPILING)

    def prepare(self) -> None:
        """Compile what is compiled, for which the GPU need not be quiet.

        Raises:
            RejectedError: the candidate fails.
        """
        self.samples = {EAGER: Samples()}
        for name in self._plan.baselines:
            if name != EAGER:
                failed = self._full.trust({"do": "compile", "what": name}, COMPILING).get("failed", "")
                if failed:
                    self._notes.append(f"{name}: {failed}")
                else:
                    self.samples[name] = Samples()
        self.samples[CANDIDATE] = Samples()
        self._warm()
        for name in (EAGER, CANDIDATE):  # starting the profiler takes seconds
            self._sample(name, PROFILED, secrets.randbits(48))

    def _session(self, name: str) -> Session:
        return self._full.host if name == CANDIDATE else self._full.bench

    def _ask(self, name: str, question: Mapping[str, Any], seconds: float = 60.0) -> dict[str, Any]:
        return self._full.ask(question, seconds) if name == CANDIDATE else self._full.trust(question, seconds)

    def _measure(self) -> None:
        """Take as many samples as are planned, beside those that are there."""
        for _ in range(self._plan.blocks):
            self._block()

    def _block(self) -> None:
        """Visit every program twice, there and back."""
        self._calibrate()
        names = list(self.samples)
        self._random.shuffle(names)
        for samples in self.samples.values():
            samples.begin()
        size = len(self._plan.kinds)
        whole = self._random.randrange(2 * size)
        for turn, name in enumerate([*names, *reversed(names)]):
            self._visit(name, whole - (turn // len(names)) * size)

    def _visit(self, name: str, whole: int) -> None:
        """Samples of one program; the first call after a change of process does not count."""
        kinds = self._plan.kinds
        self._random.shuffle(kinds)
        looks = []
        self._sample(name, SHIELDED, secrets.randbits(48))
        for number, kind in enumerate(kinds):
            seed = secrets.randbits(48)
            answer, outer = self._sample(name, kind, seed)
            self._note(name, answer, outer, kind)
            if name == CANDIDATE:
                looks.append(self._look(seed, answer))
                if number == whole:
                    self._full.compare(seed)
        if looks:
            self._verify(looks)

    def _sample(self, name: str, kind: str, seed: int) -> tuple[dict[str, Any], float]:
        """One call: the answer, and how long it took as this side's clock has it, in microseconds."""
        at = secrets.randbits(48)
        self._ask(name, {"do": "prepare", "what": name, "seed": seed})
        question = {"do": "go", "what": name, "kind": kind, "seed": at, "count": PLACES}
        answer = self._ask(name, question)
        return answer | {"at": at}, 1e6 * self._session(name).seconds

    def _calibrate(self) -> None:
        """What a sample takes in which nothing is called, in either process, and one in which one kernel is started."""
        for name in (EAGER, CANDIDATE):
            idle = [self._timed(name, "") for _ in range(EMPTY)]
            self._empty[name] = median(wall for wall, _ in idle), median(outer for _, outer in idle)
        starts = [self._timed(EAGER, LAUNCH)[0] for _ in range(EMPTY + 1)][1:]  # the first may compile it
        self._launch.append([max(0.1, wall - self._empty[EAGER][0]) for wall in starts])

    def _timed(self, name: str, what: str) -> tuple[float, float]:
        """A bare sample of no program: by the process's clock and by the judge's, in microseconds."""
        self._ask(name, {"do": "prepare", "what": what, "seed": secrets.randbits(48)})
        answer = self._ask(name, {"do": "go", "what": what, "kind": BARE, "seed": 0, "count": PLACES}, COMPILING)
        return _number(answer, "wall"), 1e6 * self._session(name).seconds

    def _note(self, name: str, answer: Mapping[str, Any], outer: float, kind: str) -> None:
        samples = self.samples[name]
        if kind == PROFILED:
            if name == CANDIDATE and answer.get("launches") == 0:
                raise RejectedError(reasons.NOT_LAUNCHED, "when timed")
            took = statistics.device_time(*(_number(answer, n, least=0.0) for n in ("busy", "launches")))
            samples.device[-1].append(took)
            return
        if kind == SHIELDED:
            samples.gpu[-1].append(_number(answer, "gpu"))
            return
        wall, whole = self._empty[CANDIDATE if name == CANDIDATE else EAGER]
        samples.wall[-1].append(max(0.1, _number(answer, "wall") - wall))
        samples.outer[-1].append(max(0.1, outer - whole))

    def _look(self, seed: int, answer: Mapping[str, Any]) -> dict[str, Any]:
        """What stood in the output when the call returned, and what stands elsewhere in it now."""
        self._full.compare_structure(answer)
        later = secrets.randbits(48)
        again = self._full.ask({"do": "look", "seed": later, "count": PLACES, "run": 1})
        return {"seed": seed, "looks": [{"seed": answer["at"], "count": PLACES, "values": _texts(answer)},
                                        {"seed": later, "count": PLACES, "values": _texts(again)}]}  # fmt: skip

    def _verify(self, looks: Sequence[dict[str, Any]]) -> None:
        for at_return, later in self._full.trust({"do": "verify", "samples": looks})["excess"]:
            if later > 1:
                raise RejectedError(reasons.TIMED_WRONG, f"error {later:.3g} times what is allowed")
            if at_return > 1:
                raise RejectedError(reasons.UNFINISHED, f"error {at_return:.3g} times what is allowed")
        self._verified += len(looks)

    def _profile(self) -> list[list[Any]]:
        kernels = self._full.ask({"do": "profile", "seed": secrets.randbits(48)}).get("kernels")
        try:
            return [[int(call), str(name), int(stream), int(start), int(length)]
                    for call, name, stream, start, length in kernels or []]  # fmt: skip
        except (TypeError, ValueError) as error:
            raise RejectedError(reasons.CRASH, "its process said what makes no sense") from error

    def _timing(self, found: Claim, own: Container[str], condition: tuple[str, str]) -> Timing:
        kernels, ratio = self._kernels, found.ratio
        starts = Series(LAUNCH, (), tuple(round(v, 3) for block in self._launch for v in block), ())
        return Timing(
            PROTOCOL, self._full.admitted["device"]["name"], self._card.driver, "tf32" if self._tf32 else "ieee",
            found.label, found.baseline, ratio.value, ratio.low, ratio.high, found.eager, found.wall.value,
            middle(self.samples[CANDIDATE].device), statistics.floor(self._full.admitted, self._tf32),
            statistics.share(kernels, own), tuple(sorted({k[1] for k in kernels})), len(self._launch), self._verified,
            condition, (*(s.series(n) for n, s in self.samples.items()), starts), "; ".join(self._notes),
        )  # fmt: skip


def kernel_names(source: str) -> set[str]:
    """The functions of a candidate's text that are decorated, by name: Triton names its kernels after them."""
    functions = (n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef))
    return {f.name for f in functions if f.decorator_list}


def _number(answer: Mapping[str, Any], name: str, least: float = 1e-9) -> float:
    """A number that a process said, positive if not told otherwise.

    Raises:
        RejectedError: it said something else.
    """
    value = answer.get(name)
    if isinstance(value, float) and math.isfinite(value) and value >= least:
        return value
    raise RejectedError(reasons.CRASH, "its process said what makes no sense")


def _texts(answer: Mapping[str, Any]) -> list[str]:
    values = answer.get("values")
    if isinstance(values, list) and all(isinstance(v, str) for v in values):
        return values
    raise RejectedError(reasons.CRASH, "its process said what makes no sense")

"""The GPUs of this machine: which there are, who may use them when, and whether they still compute. The trusted side.

Checks share a GPU, timing has it alone: both hold a lock on a file named after the GPU, so that processes of this
machine keep out of each other's way, too.  Nothing here changes a setting of a GPU.
"""

from __future__ import annotations

import csv
import fcntl
import functools
import os
import re
import subprocess
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kdata.sandbox.guard import Limits
from kdata.sandbox.pool import lease
from kdata.sandbox.worker import Answer, JobError
from kdata.verify import reasons

NODES = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools")
ZYGOTE = b"kdata.sandbox.zygote"
KNOWN = Path("/proc/driver/nvidia/gpus")
_busy: Counter[str] = Counter()
_lock = threading.Lock()


class LostError(Exception):
    """A GPU does not compute any more: which."""


@dataclass(frozen=True, slots=True)
class Card:
    """One GPU."""

    uuid: str
    name: str
    driver: str
    node: str  # "/dev/nvidia0"

    def environment(self, tf32: bool = False, fused: bool = True, queues: int | None = None) -> dict[str, str]:
        """What a process that uses it is started with. Products of fp32 are fp32's unless the track is tf32's.

        ``queues``: of the hardware, which streams are spread over; the driver's eight where None.  Each takes a part
        of the time in which CUDA starts, and the driver starts it for one process after another.
        """
        said = {"CUDA_VISIBLE_DEVICES": self.uuid, "TRITON_F32_DEFAULT": "tf32" if tf32 else "ieee"}
        if not fused:
            said["TRITON_DEFAULT_FP_FUSION"] = "0"
        if queues:
            said["CUDA_DEVICE_MAX_CONNECTIONS"] = str(queues)
        return said

    def limits(self, wall: float, memory: int) -> Limits:
        """Resource limits of a child that uses it: its own device nodes, no other GPU's."""
        devices = tuple(d for d in (self.node, *NODES) if Path(d).exists())
        return Limits(wall=wall, cpu=4 * wall, memory=memory, file_size=8 << 30, devices=devices)

    def condition(self) -> str:
        """Clocks, temperature, power and what holds the clocks back, as the driver reports them now."""
        fields = "clocks.sm,clocks.mem,temperature.gpu,power.draw,power.limit,clocks_throttle_reasons.active"
        rows = _ask(f"--query-gpu={fields}", self.uuid)
        return ", ".join(rows[0]) if rows else ""

    def capability(self) -> str:
        """The version of its instruction set: "90" for Hopper's; "" where the driver does not tell."""
        rows = _ask("--query-gpu=compute_cap", self.uuid)
        return rows[0][0].replace(".", "") if rows else ""

    def strangers(self) -> int:
        """How many processes compute on it that keep to no lock of ours, as far as the driver tells."""
        pids = [row[0] for row in _ask("--query-compute-apps=pid", self.uuid)]
        return sum(Path("/proc", pid).exists() and not _ours(int(pid)) for pid in pids if pid.isdigit())


@functools.cache
def cards() -> tuple[Card, ...]:
    """The GPUs that this process may use, in the driver's order; none where there is no driver."""
    nodes = dict(_nodes())
    found = [Card(uuid, name, driver, nodes.get(uuid, f"/dev/nvidia{index}"))
             for index, uuid, name, driver in _ask("--query-gpu=index,uuid,name,driver_version")]  # fmt: skip
    wanted = os.environ.get("CUDA_VISIBLE_DEVICES")
    if wanted is None:
        return tuple(found)
    names = [w.strip() for w in wanted.split(",") if w.strip()]
    return tuple(c for n in names for i, c in enumerate(found) if n == str(i) or c.uuid.startswith(n))


@contextmanager
def borrow() -> Iterator[Card]:
    """The GPU that fewest threads of this process use.

    Raises:
        LookupError: there is none.
    """
    if not cards():
        raise LookupError("there is no CUDA device")
    with _lock:
        card = min(cards(), key=lambda c: _busy[c.uuid])
        _busy[card.uuid] += 1
    try:
        yield card
    finally:
        with _lock:
            _busy[card.uuid] -= 1


@contextmanager
def held(card: Card, alone: bool, what: Literal["time", "memory"] = "time") -> Iterator[None]:
    """Use a GPU's time or memory, shared with others or alone. Who waits to have it alone is not passed by others."""
    place = Path(tempfile.gettempdir()) / f"kdata-{card.uuid}.{what}"
    with Path(f"{place}.turn").open("w") as turn, Path(f"{place}.lock").open("w") as lock:
        fcntl.flock(turn, fcntl.LOCK_EX)
        fcntl.flock(lock, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        fcntl.flock(turn, fcntl.LOCK_UN)
        yield


def with_memory(card: Card, run: Callable[[], Answer], short: Callable[[Answer], bool]) -> Answer:
    """What a job gives; once more, with the GPU's memory to itself, where others had it.

    ``short``: whether an answer is one for want of memory; a job that failed says so itself.
    """
    with held(card, alone=False, what="memory"):
        try:
            answer = run()
            if not short(answer):
                return answer
        except JobError as error:
            if error.reason != reasons.MEMORY:
                raise
    with held(card, alone=True, what="memory"):
        return run()


def healthy(card: Card) -> bool:
    """Whether a fresh process can compute on it."""
    try:
        with lease("torch", "kdata.verify.gpu.host:warm", **card.environment()) as worker:
            found = worker.call("kdata.verify.gpu.host:health", None, card.limits(60.0, 16 << 30)).value
    except (JobError, RuntimeError):
        return False
    return bool(found["sums"] == [2016.0, 2016.0])


def _ours(pid: int) -> bool:
    """Whether a process is a job of a sandbox, of this process or another."""
    while pid > 1:
        try:
            if ZYGOTE in Path(f"/proc/{pid}/cmdline").read_bytes():
                return True
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            return False
    return False


def _nodes() -> Iterator[tuple[str, str]]:
    """UUID and device node of each GPU."""
    for file in sorted(KNOWN.glob("*/information")):
        text = file.read_text()
        uuid, minor = re.search(r"GPU UUID:\s*(\S+)", text), re.search(r"Device Minor:\s*(\d+)", text)
        if uuid and minor:
            yield uuid[1], f"/dev/nvidia{minor[1]}"


def _ask(query: str, uuid: str = "") -> list[list[str]]:
    """Rows of what the driver's tool says; none where there is no such tool, or it fails."""
    command = ["nvidia-smi", query, "--format=csv,noheader", *([f"--id={uuid}"] if uuid else [])]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    return [[cell.strip() for cell in row] for row in csv.reader(done.stdout.splitlines()) if row]

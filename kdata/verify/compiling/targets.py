"""Compiling for GPUs that are not here: what to compile, and what has been compiled already. The trusted side."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kdata.record import Build
from kdata.sandbox.guard import Limits
from kdata.sandbox.pool import lease
from kdata.sandbox.worker import JobError
from kdata.verify.compiling import kernels

NVIDIA = (75, 80, 86, 87, 89, 90, 100, 103, 120)
AMD = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1101", "gfx1200", "gfx1201")
LIMITS = Limits(wall=180.0, cpu=180.0, memory=8 << 30)
BRIEF = Limits(wall=30.0, cpu=30.0, memory=8 << 30)
ENDED, FULL = "compiling ended with", "cannot be launched: it takes"
REMEMBERED = 4096
OTHERS = 12  # launches beside the first of each kernel
FILE = "kernel_{}.py"
_known: OrderedDict[str, Build] = OrderedDict()
_lock = threading.Lock()


def parse(target: str) -> tuple[str, int | str, int]:
    """Backend, architecture and warp size of a target's name.

    Raises:
        ValueError: no such target is known.
    """
    match = re.fullmatch(r"sm_?(\d+)a?", target)
    if match and int(match[1]) in NVIDIA:
        return "cuda", int(match[1]), 32
    if target in AMD:
        return "hip", target, 64 if target.startswith("gfx9") else 32
    known = ", ".join([*(f"sm_{n}" for n in NVIDIA), *AMD])
    raise ValueError(f"unknown target {target!r}; known are {known}")


@dataclass(frozen=True, slots=True)
class Job:
    """A launch to compile for a target, with the text that decides what it compiles to."""

    text: str
    launch: Mapping[str, Any]
    target: str

    @property
    def key(self) -> str:
        """See ``kdata.verify.compiling.kernels.key``."""
        return kernels.key(self.text, self.launch, self.target)


def compile_kernels(
    source: str, launches: Sequence[Mapping[str, Any]], targets: Sequence[str], own: Sequence[Mapping[str, Any]] = ()
) -> tuple[list[Build], str]:  # fmt: skip
    """Compile each launched kernel for each target: for its first launch, and for others as they need other code.

    Of those others, which are at most ``OTHERS``, the builds are those of the first that fails for the first target;
    what takes too long is not seen.  What was compiled before in this process is remembered by the text that decides
    it; a child sees that text only.

    Beside the builds, what no GPU has room for in a launch that is neither first nor one at the task's ``own`` sizes:
    a block as wide as the dimension fills a multiprocessor's memory somewhere, and a driver refuses it, aloud.
    """
    unlike, first = dict[str, Mapping[str, Any]](), dict[str, Mapping[str, Any]]()
    for launch in launches:
        unlike.setdefault(kernels.told(launch), launch)
        first.setdefault(launch["kernel"], launch)
    builds = _built([_job(source, launch, target) for launch in first.values() for target in targets])
    refused, asked = "", {kernels.told(launch) for launch in own}
    others = [launch for launch in unlike.values() if launch is not first[launch["kernel"]]][:OTHERS]
    for launch, build in zip(others, _each([_job(source, launch, targets[0]) for launch in others]), strict=True):
        error = build.error
        if error.startswith(FULL) and kernels.told(launch) not in asked:
            refused = refused or f"{launch['kernel']}: {error}"
        elif error and not error.startswith(ENDED):
            return builds + _built([_job(source, launch, target) for target in targets]), refused
    return builds, refused


def _job(source: str, launch: Mapping[str, Any], target: str) -> Job:
    return Job(kernels.text_of(source, launch), launch, target)


def _each(jobs: Sequence[Job]) -> list[Build]:
    """Builds of jobs in one process; in one for each where that ends early, for one of them may be what takes long."""
    builds = _built(jobs, BRIEF)
    ended = len(jobs) > 1 and any(build.error.startswith(ENDED) for build in builds)
    return [build for job in jobs for build in _built([job], BRIEF)] if ended else builds


def _built(wanted: Sequence[Job], limits: Limits = LIMITS) -> list[Build]:
    keys = [job.key for job in wanted]
    with _lock:
        found = {key: _known[key] for key in keys if key in _known}
    missing = {key: job for key, job in zip(keys, wanted, strict=True) if key not in found}
    made = dict(zip(missing, _compile(list(missing.values()), limits), strict=True)) if missing else {}
    with _lock:
        _known.update({key: build for key, build in made.items() if not build.error})
        while len(_known) > REMEMBERED:
            _known.popitem(last=False)
    return [_named((found | made)[key], job) for key, job in zip(keys, wanted, strict=True)]


def _named(build: Build, job: Job) -> Build:
    """A build that may be that of a kernel with another name."""
    return replace(build, kernel=job.launch["kernel"])


def forget() -> None:
    """Compile everything again from here on."""
    with _lock:
        _known.clear()


def _compile(jobs: Sequence[Job], limits: Limits) -> list[Build]:
    texts = list(dict.fromkeys(job.text for job in jobs))
    payload = [{**job.launch, "file": FILE.format(texts.index(job.text)), "target": list(parse(job.target))}
               for job in jobs]  # fmt: skip
    files = {FILE.format(n): text.encode() for n, text in enumerate(texts)}
    try:
        with lease("torch", "kdata.verify.compiling.compile:warm") as worker:
            reports = worker.call("kdata.verify.compiling.compile:answer", payload, limits, files).value
    except JobError as error:
        reports = [{"error": f"{ENDED} {error}"}] * len(jobs)
    return [
        Build(
            job.launch["kernel"], job.target, r.get("registers"), r.get("spills"), r.get("shared"), r.get("error", "")
        )
        for job, r in zip(jobs, reports, strict=True)
    ]

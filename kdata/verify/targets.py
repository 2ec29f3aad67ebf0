"""Compiling for GPUs that are not here: what to compile, and what has been compiled already. The trusted side."""

from __future__ import annotations

import json
import re
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

from kdata.record import Build, digest
from kdata.sandbox.guard import Limits
from kdata.sandbox.pool import lease
from kdata.sandbox.worker import JobError
from kdata.verify.source import kernels_only

NVIDIA = (75, 80, 86, 87, 89, 90, 100, 103, 120)
AMD = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1101", "gfx1200", "gfx1201")
LIMITS = Limits(wall=180.0, cpu=180.0, memory=8 << 30)
REMEMBERED = 4096
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


def compile_kernels(source: str, launches: Sequence[Mapping[str, Any]], targets: Sequence[str]) -> list[Build]:
    """Compile each launched kernel for each target, once for its first launch.

    What was compiled before in this process is remembered by the text that decides it, never by what a child said.
    """
    first: dict[str, Mapping[str, Any]] = {}
    for launch in launches:
        first.setdefault(launch["kernel"], launch)
    text = kernels_only(source)
    wanted = [(launch, target, _key(text, launch, target)) for launch in first.values() for target in targets]
    with _lock:
        missing = [(launch, target, key) for launch, target, key in wanted if key not in _known]
    made = _compile(source, [(launch, target) for launch, target, _ in missing]) if missing else []
    with _lock:
        _known.update({key: build for (_, _, key), build in zip(missing, made, strict=True)})
        builds = [_known[key] for _, _, key in wanted]
        while len(_known) > REMEMBERED:
            _known.popitem(last=False)
    return builds


def _key(text: str, launch: Mapping[str, Any], target: str) -> str:
    decides = [launch["kernel"], launch["arguments"], launch["options"]]
    return digest(text, target, json.dumps(decides, sort_keys=True))


def forget() -> None:
    """Compile everything again from here on."""
    with _lock:
        _known.clear()


def _compile(source: str, jobs: Sequence[tuple[Mapping[str, Any], str]]) -> list[Build]:
    payload = [{**launch, "target": list(parse(target))} for launch, target in jobs]
    try:
        with lease("torch", "kdata.verify.compile:warm") as worker:
            reports = worker.call(
                "kdata.verify.compile:answer", payload, LIMITS, {"candidate.py": source.encode()}
            ).value
    except JobError as error:
        reports = [{"error": f"compiling ended with {error}"}] * len(jobs)
    return [
        Build(launch["kernel"], target, r.get("registers"), r.get("spills"), r.get("shared"), r.get("error", ""))
        for (launch, target), r in zip(jobs, reports, strict=True)
    ]

"""What a device did and for how long, as its profiler (CUPTI, by way of torch.profiler) has it. In children only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch.profiler import ProfilerActivity, profile

SPIN = "spin_kernel"  # what torch.cuda._sleep starts
# Kept before any candidate is imported, so that patching does not change what is seen.
_profile, _sync, _kinds = profile, torch.cuda.synchronize, [ProfilerActivity.CUDA]


class Activity(NamedTuple):
    """A kernel, or bytes copied or set."""

    name: str
    stream: int
    start: int  # nanoseconds
    duration: int


def activities(work: Callable[[], object]) -> list[Activity]:
    """Everything that the device does for ``work``, until it rests, in the order in which it begins."""
    with _profile(activities=_kinds, acc_events=True) as seen:
        work()
        _sync()
    events = [e for e in seen.profiler.kineto_results.events() if e.device_type().name == "CUDA"]
    found = [Activity(e.name()[:200], e.device_resource_id(), e.start_ns(), e.duration_ns()) for e in events]
    return sorted(found, key=lambda a: a.start)


def after_shield(found: Sequence[Activity]) -> list[Activity]:
    """Without what a shield began with: bytes that are set, which nothing can precede, and the first that spins."""
    rest = list(found[1:])
    shield = next((a for a in rest if SPIN in a.name), None)
    return [a for a in rest if a is not shield]

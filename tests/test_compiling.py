"""Which launches of a candidate are compiled for GPUs that are not here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from kdata.record import Build
from kdata.verify.compiling import targets

SOURCE = """
import triton
import triton.language as tl

@triton.jit
def total(x_ptr, out_ptr, n, LOOPS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    best = 0
    if LOOPS:
        for start in range(0, n, BLOCK):
            best = best + tl.sum(tl.load(x_ptr + start + i, mask=start + i < n, other=0.0))
        tl.store(out_ptr, best)
    else:
        tl.store(out_ptr, tl.sum(tl.load(x_ptr + i, mask=i < n, other=0.0)))
"""


def _launch(loops: bool, n: int, block: int = 64) -> dict[str, Any]:
    given = {"x_ptr": {"type": "*fp32"}, "out_ptr": {"type": "*fp32"}, "n": {"type": "i32", "value": n}}
    given |= {"LOOPS": {"constant": loops}, "BLOCK": {"constant": block}}
    return {"kernel": "total", "arguments": given, "options": {}, "grid": [1]}


def test_each_launch_that_needs_other_code_is_compiled_and_told_of_if_it_fails() -> None:
    plain = [_launch(False, 60), _launch(False, 50), _launch(False, 30, 32)]
    builds, _ = targets.compile_kernels(SOURCE, plain, ("sm_90", "gfx942"))
    assert [(b.target, b.error) for b in builds] == [("sm_90", ""), ("gfx942", "")]
    both, _ = targets.compile_kernels(SOURCE, [*plain, _launch(True, 600)], ("sm_90",))
    assert [bool(b.error) for b in both] == [False, True]
    assert "Loop-carried variable best" in both[1].error


def test_the_first_launch_of_a_kernel_is_compiled_for_all_targets_and_others_for_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[int, str]] = []

    def built(jobs: Sequence[targets.Job], *_: Any) -> list[Build]:
        asked.extend((job.launch["arguments"]["BLOCK"]["constant"], job.target) for job in jobs)
        return [Build("total", job.target, None, None, None) for job in jobs]

    monkeypatch.setattr(targets, "_built", built)
    targets.compile_kernels(SOURCE, [_launch(False, 60), _launch(False, 500, 512), _launch(False, 50)], ("sm_90", "b"))
    assert asked == [(64, "sm_90"), (64, "b"), (512, "sm_90")]


def test_what_no_block_has_room_for_is_told_of_unless_the_task_has_such_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    def built(jobs: Sequence[targets.Job], *_: Any) -> list[Build]:
        wide = [job.launch["arguments"]["BLOCK"]["constant"] > 64 for job in jobs]
        error = f"{targets.FULL} 328768 bytes of shared memory"
        return [Build("total", job.target, 1, 0, 0, error * w) for job, w in zip(jobs, wide, strict=True)]

    monkeypatch.setattr(targets, "_built", built)
    narrow, wide = _launch(False, 60), _launch(False, 500, 512)
    builds, refused = targets.compile_kernels(SOURCE, [narrow, wide], ("sm_90",))
    assert not any(b.error for b in builds)
    assert refused.startswith("total: cannot be launched")
    for first, own in (([narrow, wide], [wide]), ([wide, narrow], [])):
        builds, _ = targets.compile_kernels(SOURCE, first, ("sm_90",), own)
        assert any(b.error for b in builds)


@pytest.mark.parametrize("ends", [False, True])
def test_other_launches_are_compiled_in_one_process_unless_one_of_them_ends_it(
    monkeypatch: pytest.MonkeyPatch, ends: bool
) -> None:
    asked: list[int] = []

    def built(jobs: Sequence[targets.Job], *_: Any) -> list[Build]:
        asked.append(len(jobs))
        slow = ends and any(job.launch["arguments"]["BLOCK"]["constant"] == 512 for job in jobs)
        return [Build("total", job.target, 1, 0, 0, f"{targets.ENDED} timeout" * slow) for job in jobs]

    monkeypatch.setattr(targets, "_built", built)
    builds, refused = targets.compile_kernels(SOURCE, [_launch(False, 60, n) for n in (64, 512, 32)], ("sm_90",))
    assert asked == ([1, 2, 1, 1] if ends else [1, 2])
    assert not refused and not any(build.error for build in builds)  # what takes too long is not seen

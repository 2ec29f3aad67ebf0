"""Which launches of a candidate are compiled for GPUs that are not here."""

from __future__ import annotations

from typing import Any

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
    builds = targets.compile_kernels(SOURCE, plain, ("sm_90", "gfx942"))
    assert [(b.target, b.error) for b in builds] == [("sm_90", ""), ("gfx942", "")]
    both = targets.compile_kernels(SOURCE, [*plain, _launch(True, 600)], ("sm_90",))
    assert [bool(b.error) for b in both] == [False, True]
    assert "Loop-carried variable best" in both[1].error

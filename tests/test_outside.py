"""Places beyond what a block has: as a GPU takes them, or as nobody does."""

from __future__ import annotations

import os
from typing import Any

os.environ["TRITON_INTERPRET"] = "1"

import torch
import triton
import triton.language as tl

from kdata.verify.interpreter import interpreter

interpreter.mend()


@triton.jit  # type: ignore[untyped-decorator]
def gather_kernel(x: Any, places: Any, y: Any) -> None:
    i: Any = tl.arange(0, 8)
    tl.store(y + i, tl.gather(tl.load(x + i), tl.load(places + i), 0))


@triton.jit  # type: ignore[untyped-decorator]
def count_kernel(x: Any, wanted: Any, y: Any, masked: tl.constexpr) -> None:
    i: Any = tl.arange(0, 8)
    mask: Any = tl.load(wanted + i) != 0
    counts: Any = tl.histogram(tl.load(x + i), 4, mask=mask) if masked else tl.histogram(tl.load(x + i), 4)
    tl.store(y + tl.arange(0, 4), counts)


def run(kernel: Any, *tensors: torch.Tensor, **more: Any) -> list[float]:
    """What a kernel stores in the last of these."""
    interpreter.give([(t.data_ptr(), t.data_ptr() + t.nbytes) for t in tensors])
    try:
        kernel[(1,)](*tensors, **more)
    finally:
        interpreter.give([])
    made: list[float] = tensors[-1].tolist()
    return made


def test_what_is_gathered_from_outside_a_block_is_nothing_of_it() -> None:
    places = torch.tensor([7, 0, 3, 3, -1, 8, 2, 1], dtype=torch.int32)
    for x in (torch.arange(1.0, 9.0), torch.arange(1, 9)):
        made = run(gather_kernel, x, places, torch.zeros_like(x))
        assert [*made[:4], *made[6:]] == [8, 1, 4, 4, 3, 2]
        assert not {*made[4:6]} & {*x.tolist()}


def test_what_no_bin_is_for_is_counted_by_its_lower_bits() -> None:
    x = torch.tensor([0, 1, 1, 3, -1, 4, 6, 2], dtype=torch.int32)
    within = ((x >= 0) & (x < 4)).to(torch.int32)
    counts = torch.zeros(4, dtype=torch.int32)
    assert run(count_kernel, x, within, counts, masked=False) == [2, 2, 2, 2]
    assert run(count_kernel, x, within, counts, masked=True) == [1, 2, 1, 1]

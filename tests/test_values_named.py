"""The numbers that a kernel's text gives away: where it may do other than elsewhere."""

from __future__ import annotations

import torch

from kdata.verify.draws import holding
from kdata.verify.source import values_named

KERNEL = """
import triton
@triton.jit
def kernel(x_ptr, y_ptr, BLOCK):
    x = x_ptr + 3.5
    bits = x.to(tl.int32, bitcast=True)
    y = tl.where((x > 0.25) & (x < 0.75), 0.0, x)
    z = tl.where((bits & 0xFF) == 17, y, -x)
def plain(x):
    return x == 9.5
"""


def test_numbers_compared_with_and_between_and_bits() -> None:
    """Those of kernels only, and of comparisons only."""
    found = values_named(KERNEL)
    assert found[:3] == (0.25, 0.75, 0.5)
    ends = torch.tensor(found[3:]).view(torch.int32) & 0xFF
    assert ends.tolist() == [17, 255]
    assert values_named("import triton\n") == ()


def test_inputs_hold_the_values_with_the_signs_they_may_have() -> None:
    """Of either sign where there are both; of one where there is one; integers stay."""
    generator = torch.Generator().manual_seed(0)
    signed, unsigned, whole = holding([torch.randn(20), torch.rand(3, 7), torch.arange(4)], [0.125], generator)
    assert {0.125, -0.125} <= set(signed.tolist())
    assert 0.125 in unsigned.flatten().tolist()
    assert -0.125 not in unsigned.flatten().tolist()
    assert whole.tolist() == [0, 1, 2, 3]

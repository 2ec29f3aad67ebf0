"""The numbers that a kernel's text gives away: where it may do other than elsewhere."""

from __future__ import annotations

import torch

from kdata.verify.candidate.source import values_named
from kdata.verify.reference.draws import holding

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


def test_numbers_compared_with_and_between_and_bits_and_all_others() -> None:
    """The first of kernels' comparisons, the last of anywhere."""
    found = values_named(KERNEL)
    assert found[:3] == (0.25, 0.75, 0.5)
    ends = torch.tensor(found[3:5]).view(torch.int32) & 0xFF
    assert ends.tolist() == [17, 255]
    assert found[5:9] == (17.0, 255.0, 3.5, 9.5)
    assert values_named("import triton\n") == ()


def test_what_is_a_little_more_or_less_than_a_number() -> None:
    """``where(x < -8.0, 0.0, x)`` shows nothing at the number itself; so of the least of two. Not of a largest one."""
    found = set(values_named(KERNEL))
    assert {0.25 * 65 / 64, 0.75 * 63 / 64, 17 * 65 / 64, 9.5 * 63 / 64} <= found
    capped = "import triton\n@triton.jit\ndef f(x):\n    return tl.minimum(tl.maximum(x, -3e38), 6.0)\n"
    assert set(values_named(capped)) == {3e38, 6.0, (3e38 + 6.0) / 2, 6.0 * 65 / 64, 6.0 * 63 / 64}


def test_bits_of_a_whole_number_are_a_float() -> None:
    """Where the text looks at bits, and only there."""
    kernel = "import triton\n@triton.jit\ndef f(b):\n    return b == 0x3FC00000\n"
    assert values_named(kernel) == (float(0x3FC00000),)
    assert values_named(kernel + "def g(x):\n    return f(x.view(torch.int32))\n") == (1.5, float(0x3FC00000))


def test_rests_and_masks_are_asked_by_numbers_too() -> None:
    """``places % 4096`` is right for all that a task draws, perhaps."""
    kernel = "import triton\n@triton.jit\ndef f(b):\n    return (b % 4096) + (b & 255)\n"
    assert {4096.0, 255.0} <= set(values_named(kernel))


def test_inputs_hold_the_values_with_the_signs_they_may_have() -> None:
    """Of either sign where there are both; of one where there is one; integers stay, and both ends."""
    generator = torch.Generator().manual_seed(0)
    given = [torch.randn(20), torch.rand(4, 7), torch.arange(4)]
    signed, unsigned, whole = holding(given, [0.125], generator)
    assert {0.125, -0.125} <= set(signed.tolist())
    assert 0.125 in unsigned.flatten().tolist()
    assert -0.125 not in unsigned.flatten().tolist()
    assert whole.tolist() == [0, 1, 2, 3]
    assert signed[[0, -1]].tolist() == given[0][[0, -1]].tolist()


def test_some_rows_hold_one_value_and_zeros() -> None:
    """What a kernel computes of such a row may be the value."""
    (held,) = holding([torch.rand(12, 7) + 1], [0.25, 0.5, 0.75], torch.Generator().manual_seed(0))
    alone = [row for row in held[1:-1] if int((row != 0).sum()) == 1]
    assert alone
    assert {float(row.sum()) for row in alone} <= {0.25, 0.5, 0.75}


def test_labels_hold_shares_and_nothing_beyond_one() -> None:
    plain, labels = torch.rand(8, 8) + 0.1, torch.eye(8)
    made = holding([plain, labels], [0.5, 1.0156], torch.Generator().manual_seed(0))
    assert (made[0] == 1.0156).any() and (made[1] == 0.5).any() and made[1].max() == 1


def test_large_integers_are_for_inputs_of_integers() -> None:
    text = KERNEL.replace("== 17", "== 0x3F3B2FEC")
    assert [v for v in values_named(text) if isinstance(v, int)] == [0x3F3B2FEC]

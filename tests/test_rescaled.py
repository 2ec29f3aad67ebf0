"""Which numbers of a text are about sizes, and the text with others in their place."""

from __future__ import annotations

import pytest

from kdata.verify.beyond.rescaled import Group, Numbers

KERNEL = """
import triton
import triton.language as tl

FIRST = 7918
LIMIT: tl.constexpr = 4090

@triton.jit
def kernel(x_ptr, y_ptr, n, rows, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    {line}
    tl.store(y_ptr + i, x, mask=i < n)

class ModelNew:
    def forward(self, x, y):
        n = x.numel()
        {wrapper}
        kernel[(triton.cdiv(n, 1024),)](x, y, n, BLOCK=1024)
"""


def numbers(line: str = "pass", wrapper: str = "pass") -> Numbers:
    return Numbers(KERNEL.replace("{line}", line).replace("{wrapper}", wrapper))


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("x = tl.where(tl.program_id(0) % 7919 == 7918, 0.0, x)", (7918, 7919)),
        ("x = tl.where(tl.program_id(0) == FIRST, 0.0, x)", (7918,)),
        ("rows = tl.minimum(rows, LIMIT)", (4090,)),
        ("x += n >> 28", (-28,)),
        ("x += n ^ (n >> 28)", (-28,)),
        ("x = tl.where(i > 3 * 10**8, 0.0, x)", (300_000_000,)),
    ],
)
def test_numbers_of_kernels(line: str, found: tuple[int, ...]) -> None:
    assert [group.numbers for group in numbers(line).groups] == [found]


@pytest.mark.parametrize(
    "line",
    [
        "x = tl.where(x > 60000, 60000, x)",  # a value is no size
        "x = tl.minimum(x, 1000.0)",
        "i = i ^ (i >> 16); i ^= i >> 8; i ^= i >> 4; i ^= i >> 2; i ^= i >> 1",  # a parity needs all of its bits
        "x += tl.where(i % 16 == 0, 1.0, 2.0)",
        "x = tl.where(n % 1024 == 0, x, x + 0.0)",  # what sizes are asked to be multiples of
        "x = tl.where(n % min(1024, triton.next_power_of_2(n)) == 0, x, x + 0.0)",  # or, as the least of two
    ],
)
def test_numbers_that_are_none_of_sizes(line: str) -> None:
    assert not numbers(line).groups


@pytest.mark.parametrize(
    ("wrapper", "found"),
    [
        ("y = {0: 1}.get(n % 10007)", (10007,)),
        ("y = y[: 5000]", (5000,)),
        ("for _ in range(n // 500_000_000): pass", (500_000_000,)),
        ("many = 70_000; y = y if n < many else x", (70_000,)),
    ],
)
def test_numbers_of_wrappers(wrapper: str, found: tuple[int, ...]) -> None:
    assert [group.numbers for group in numbers(wrapper=wrapper).groups] == [found]


def test_the_size_of_a_block_is_left_alone() -> None:
    assert not numbers(wrapper="block = min(triton.next_power_of_2(n), 65536)").groups


def test_the_task_s_own_numbers_are_left_alone() -> None:
    text = KERNEL.replace("{line}", "x = tl.where(i % 7919 < 5000, 0.0, x)").replace("{wrapper}", "pass")
    assert Numbers(text, {7919, 5000}).groups == []


def test_other_numbers_in_their_place() -> None:
    found = numbers("x = tl.where(tl.program_id(0) % 7919 == FIRST, 0.0, x)")
    (group,) = found.groups
    smaller = found.text(group.smaller())
    assert "% 3 == FIRST" in smaller
    assert "FIRST = 2" in smaller
    assert "cdiv(n, 1024)" in smaller
    assert str(7919 * 4096) in found.text(group.larger())
    assert "% 7919 == FIRST" in found.text({})  # the tree stays as it was


def test_shifts() -> None:
    assert Group((-28, 600), 1, equal=False).smaller() == {-28: 2, 600: 3}
    assert Group((-28, 600), 1, equal=False).larger() == {-28: 31, 600: 600 * 4096}

"""Numbers at which a candidate may stop short."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from kdata.verify.beyond.ends import Ends, ends
from kdata.verify.constants import whole

ROWS = """
@triton.jit
def rows(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + tl.program_id(0), tl.sum(tl.load(x_ptr + tl.program_id(0) * n + i, mask=i < n, other=0.0)))
"""
TILES = """
@triton.jit
def tiles(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)
"""


def launch(kernel: str, **constants: int) -> dict[str, Any]:
    return {"kernel": kernel, "arguments": {name: {"constant": value} for name, value in constants.items()}}


def test_a_block_that_takes_a_row_at_once_is_an_end() -> None:
    assert ends(ROWS, [launch("rows", BLOCK=2048)] * 2).sizes == (2048,)
    assert not ends(ROWS, [launch("rows", BLOCK=block) for block in (64, 128, 256)]), "it follows the size"
    assert ends(ROWS, [launch("rows", BLOCK=block) for block in (64, 2048, 64)]).sizes == (2048,), "it is one of two"
    assert not ends(TILES, [launch("tiles", BLOCK=1024)] * 2), "there are as many of them as are needed"


def test_a_block_that_follows_a_size_up_to_a_number_has_its_end_there() -> None:
    capped = "def run(n):\n    return min(triton.next_power_of_2(n), 1024), min(n, 500)\n"
    follows = [launch("rows", BLOCK=block) for block in (64, 128, 256)]
    assert ends(capped + ROWS, follows, wrapper=False).sizes == (1024,)
    assert not ends(capped + TILES, [launch("tiles", BLOCK=block) for block in (64, 128, 256)], wrapper=False)


def test_the_largest_block_that_an_autotuner_may_choose_is_an_end() -> None:
    tuned = "configs = [triton.Config({'BLOCK': b}) for b in (64, 128, 256)]\n"
    assert ends(tuned + ROWS, [launch("rows", BLOCK=block) for block in (64, 128, 256)]).sizes == (256,)


def test_blocks_of_one_kernel_that_another_counts_are_ends_of_elements() -> None:
    found = ends(ROWS + TILES, [launch("rows", BLOCK=64), launch("tiles", BLOCK=1024)])
    assert found == Ends((64,), (64 * 1024,))


def test_as_many_blocks_as_a_block_holds_are_an_end() -> None:
    back = TILES.replace("(x_ptr", "(sums_ptr, x_ptr", 1).replace(
        "    tl.store",
        "    carry = tl.sum(tl.load(sums_ptr + tl.program_id(0) - 1 - tl.arange(0, WINDOW)))\n    tl.store",
    )
    assert ends(back, [launch("tiles", BLOCK=512, WINDOW=16)] * 2).sizes == (16, 17 * 512)


@pytest.mark.parametrize(
    ("loop", "sizes"),
    [
        ("range(8):\n        i = s * BLOCK + tl.arange(0, BLOCK)", (1024,)),
        ("range(0, 600, BLOCK):\n        i = s + tl.arange(0, BLOCK)", (600,)),
        ("range(0, n, BLOCK):\n        i = s + tl.arange(0, BLOCK)", ()),
        ("range(tl.cdiv(n, BLOCK)):\n        i = s * BLOCK + tl.arange(0, BLOCK)", ()),
        ("tl.static_range(3):\n        i = s * n + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)", (384,)),
    ],
)
def test_loops_of_so_many_rounds_are_ends(loop: str, sizes: tuple[int, ...]) -> None:
    text = f"""
@triton.jit
def f(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    for s in {loop}
        tl.store(y_ptr + i, tl.load(x_ptr + i))
"""
    assert ends(text, [launch("f", BLOCK=128)], wrapper=False).sizes == sizes


@pytest.mark.parametrize(
    ("said", "sizes"),
    [
        ("f[(min(200, n),)](x)", (200,)),
        ("most = 300\n    y = x[:most]", (300,)),
        ("y = n - n // 400", (400,)),
        ("y = (n + 255) // 256", ()),  # rounded up
        ("if n > 100: y = x", (100,)),
        ("a, b = 20, 30\n    y = min(n, b)", (30,)),
        ("most = 300\n    most = n\n    y = x[:most]", ()),
    ],
)
def test_what_a_wrapper_says_is_an_end(said: str, sizes: tuple[int, ...]) -> None:
    text = f"def run(x, n):\n    {said}\n"
    assert ends(text, []).sizes == sizes
    assert not ends(text, [], wrapper=False)


def test_what_kernels_ask_about_places_is_an_end_and_about_values_is_none() -> None:
    text = TILES.replace("i < n), mask", "(i < n) & (tl.program_id(0) < 300)), mask")
    assert ends(text, [launch("tiles", BLOCK=1024)]) == Ends((300,), (301 * 1024,))
    share = TILES.replace("i < n), mask", "(i < n) & (tl.program_id(0) * 1e-3 < 1.0)), mask")
    assert ends(share, [launch("tiles", BLOCK=64)]) == Ends((1000,), (64 * 1001,))
    value = TILES.replace("tl.load(x_ptr + i, mask=i < n)", "tl.where(tl.load(x_ptr + i) > 300, 1, 0)")
    assert not ends(value, [launch("tiles", BLOCK=1024)])


def test_the_largest_that_costs_little_and_the_largest_of_all_are_tried() -> None:
    text = "def run(n):\n    return min(n, 100), min(n, 3000), min(n, 30000), min(n, 60000), min(n, 1 << 20)\n"
    assert ends(text, []).sizes == (3000, 60000)


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("int('2048')", 2048), ("1 << len('abcdefghijk')", 2048), ("ord('a') * 2", 194), ("float('1e3')", 1000),
        ("int(5000.0)", 5000), ("len([1, 2])", 2), ("float('inf')", None), ("float('nan')", None), ("int('x')", None),
        ("int(n)", None), ("len(n)", None), ("ord('ab')", None), ("int('12', 8)", None),
    ],
)  # fmt: skip
def test_numbers_in_strings_are_numbers(said: str, value: int | None) -> None:
    assert whole(ast.parse(said, mode="eval").body) == value


def test_a_loop_of_more_rounds_than_a_word_holds_is_no_end() -> None:
    endless = ROWS.replace("    i =", f"    for j in range({1 << 80}):\n        pass\n    i =", 1)
    assert ends(endless, [launch("rows", BLOCK=64)] * 2, wrapper=False).sizes == (64,)

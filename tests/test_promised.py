"""What kernels promise of their numbers, and what may be reordered: as a GPU takes it."""

from __future__ import annotations

import os
from typing import Any

os.environ["TRITON_INTERPRET"] = "1"

import pytest
import torch
import triton
import triton.language as tl

from kdata.verify.interpreter import interpreter

interpreter.mend()
PLACES = torch.tensor([12, 3, 7, 9, 4, 5, 6, 7, 2, 0, 1, 1, 8, 9, 10, 15], dtype=torch.int32)


@triton.jit  # type: ignore[untyped-decorator]
def take(x: Any, places: Any, y: Any, n: Any, kind: tl.constexpr) -> None:
    i: Any = tl.arange(0, 16)
    at: Any = tl.load(places + i)
    if kind == "neighbours":
        at = tl.multiple_of(tl.max_contiguous(at, 4), 4)
    elif kind == "not aligned":
        at = tl.max_contiguous(at, 4)
    elif kind == "another axis":
        at = tl.reshape(tl.multiple_of(tl.max_contiguous(at, 4), 4)[:, None], (16,))
    elif kind == "wrapped":
        at = tl.max_contiguous(tl.multiple_of(i % n, 16), 16)
    elif kind == "begins":
        at = tl.multiple_of(n, 16) + i
    tl.store(y + i, tl.load(x + at, mask=at < 16, other=-1))


@triton.jit  # type: ignore[untyped-decorator]
def keep(x: Any, wanted: Any, y: Any, parted: tl.constexpr) -> None:
    i: Any = tl.arange(0, 16)
    mask: Any = tl.max_constancy(tl.load(wanted + i) != 0, 4)
    mask = mask & ((i < 14) if parted else (i < 12))
    tl.store(y + i, tl.load(x + i, mask=mask, other=-1))


@triton.jit  # type: ignore[untyped-decorator]
def there_and_back(x: Any, y: Any, z: Any) -> None:
    i: Any = tl.arange(0, 16)
    folded: Any = tl.reshape(tl.load(x + i), (4, 4), can_reorder=True)
    tl.store(y + i, tl.reshape(folded, (16,)))
    tl.store(z + i, tl.reshape(folded, (16,), can_reorder=True))


def run(kernel: Any, *tensors: torch.Tensor, **more: Any) -> list[int]:
    """What a kernel stores, in the memory of these tensors."""
    y = torch.zeros(16, dtype=torch.int32)
    given = [(t.data_ptr(), t.data_ptr() + t.nbytes) for t in (*tensors, y)]
    interpreter.give(given)
    kernel[(1,)](*tensors, y, **more)
    interpreter.give([])
    return [int(n) for n in y]


@pytest.mark.parametrize(
    ("kind", "n", "expected"),
    [
        ("neighbours", 0, [12, 13, 14, 15, 4, 5, 6, 7, 0, 1, 2, 3, 8, 9, 10, 11]),
        ("not aligned", 0, PLACES.tolist()),
        ("another axis", 0, PLACES.tolist()),
        ("wrapped", 13, [*range(13), 13, 14, 15]),
        ("begins", 4, [*range(4, 16), -1, -1, -1, -1]),
        ("begins", 0, [*range(16)]),
    ],
)
def test_neighbours_share_an_access_where_they_are_promised_to_follow(kind: str, n: int, expected: list[int]) -> None:
    assert run(take, torch.arange(16, dtype=torch.int32), PLACES, n=n, kind=kind) == expected


def test_a_promise_leads_nowhere_outside_the_memory_that_was_given() -> None:
    x = torch.arange(16, dtype=torch.int32)[:13].clone()
    assert run(take, x, PLACES, n=13, kind="wrapped") == [*range(13), 0, 1, 2]


def test_neighbours_are_wanted_together_where_a_mask_is_promised_to_be_constant() -> None:
    x, wanted = torch.arange(16, dtype=torch.int32), torch.tensor([1, 0, 0, 1, 0, 1, 1, 1] * 2, dtype=torch.int32)
    assert run(keep, x, wanted, parted=False) == [0, 1, 2, 3, -1, -1, -1, -1, 8, 9, 10, 11, -1, -1, -1, -1]
    expected = [int(n) if n < 14 and w else -1 for n, w in zip(x, wanted, strict=True)]
    assert run(keep, x, wanted, parted=True) == expected


def test_what_may_be_reordered_is_and_comes_back() -> None:
    x = torch.arange(16, dtype=torch.int32)
    y = torch.zeros_like(x)
    back = run(there_and_back, x, y)
    assert sorted(y.tolist()) == back == x.tolist()
    assert y.tolist() != back

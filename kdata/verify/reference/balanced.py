"""Rows in half precision that balance each other where a reference looks them up or adds them beside a product.

``cancelling`` draws factors that cancel along an axis of their own. Which rows of a table are summed integers say: here
they name a row for each one that takes it off again. Where integers say what is put together, all of it is put into one
segment. And what is added up behind a product cancels where the product is the same for all terms: where rows and
weights have a one in their first column and nothing else. In the reference's child.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from kdata.verify.reference.cancelling import (
    ALLOWED,
    FEWEST,
    HALVES,
    MOST,
    MOST_TRIED,
    Answer,
    Found,
    Products,
    Tried,
    balanced_along,
    first_right,
    most_of,
    places_of,
)
from kdata.verify.reference.values import computes, integral

ROWS, ENDS = 2, 2  # of a list of edges; numbers at least that say where segments begin or end


def balanced(leaves: Sequence[Any], eager: Answer, golden: Answer, generator: torch.Generator) -> Found | None:
    """Such inputs and weights; None where the reference is not right there, or sums nothing so.

    ``eager`` and ``golden`` answer to leaves like these.
    """
    with Products() as products:
        eager([*leaves])
    if products.count > ALLOWED:
        return None
    tried = [_looked_up(leaves, generator)] if products.looks else []
    tried.append(_segments(leaves, generator))
    tried += [_behind(leaves, products, generator)] if products.count else []
    few = (itertools.islice(each, MOST_TRIED) for each in tried)
    return first_right(itertools.chain.from_iterable(few), eager, golden)


def _looked_up(leaves: Sequence[Any], generator: torch.Generator) -> Iterator[Tried]:
    """Tables whose last half takes the first one off, turned round, and rows of them that are named so."""
    for place, table in enumerate(leaves):
        if not (computes(table) and table.dtype in HALVES and table.ndim > 1):
            continue
        for other, rows in enumerate(leaves):
            if not (integral(rows) and rows.ndim and rows.shape[-1] >= FEWEST and int(rows.min()) >= 0):
                continue
            if int(rows.max()) >= len(table):
                continue
            terms = min(MOST, rows.shape[-1])
            changed = balanced_along(table, (0, 0), -1, most_of(table, terms), generator)
            changed[0], changed[-1] = 1.0, -1.0
            for named, held in itertools.product(_named(rows, len(table)), (_as_they_are, _one_segment, _one_number)):
                beside = held([t for n, t in enumerate(leaves) if n != other])
                if beside is not None:
                    whole = _beside([*beside[:other], named, *beside[other:]], place, changed)
                    yield from ((terms, each) for each in whole)


def _named(rows: Tensor, count: int) -> Iterator[Tensor]:
    """Rows of a table of so many of which the last half takes the first one off; and one list of two.

    An odd one is the table's first.
    """
    first = rows[..., : rows.shape[-1] // 2] % max(1, count // 2)
    odd = torch.zeros_like(rows[..., : rows.shape[-1] % 2])
    named = torch.cat([first, odd, count - 1 - first.flip(-1)], -1)
    yield named
    if rows.ndim == ROWS and len(rows) == ROWS:  # from where, and to where
        one = torch.zeros_like(named[0])
        yield from (torch.stack([named[0], one]), torch.stack([one, named[1]]))


def _segments(leaves: Sequence[Any], generator: torch.Generator) -> Iterator[Tried]:
    """All that there is in one segment, of which the last half takes the first one off."""
    held = _one_segment([*leaves])
    if held is None:
        return
    sizes = {t.shape[0]: None for t in leaves if computes(t) and t.dtype in HALVES and t.ndim}
    for terms in (n for n in sizes if FEWEST <= n <= MOST):
        for place, axes in places_of(held, terms):
            changed = balanced_along(held[place], axes, -1, most_of(held[place], terms), generator)
            yield from ((terms, each) for each in _beside(held, place, changed))


def _behind(leaves: Sequence[Any], products: Products, generator: torch.Generator) -> Iterator[Tried]:
    """What is added up behind a product."""
    for terms in (n for n in products.added if FEWEST <= n <= MOST):
        for place, axes in places_of(leaves, terms):
            changed = balanced_along(leaves[place], axes, -1, most_of(leaves[place], terms), generator)
            yield from ((terms, each) for each in _beside(leaves, place, changed))


def _beside(leaves: Sequence[Any], place: int, changed: Tensor) -> Iterator[list[Any]]:
    """The leaves with one of them changed, and the others in half precision ones, or such that products are ones."""
    for like in (torch.ones_like, _first_column):
        others = [like(t) if computes(t) and t.dtype in HALVES else t for t in leaves]
        yield [*others[:place], changed, *others[place + 1 :]]


def _first_column(like: Tensor) -> Tensor:
    """Ones in the first column and nothing else; of a row, a bias say, nothing at all."""
    column = torch.zeros_like(like, memory_format=torch.contiguous_format)
    if like.ndim > 1:
        column[..., 0] = 1.0
    return column


def _as_they_are(leaves: list[Any]) -> list[Any] | None:
    return leaves


def _one_number(leaves: list[Any]) -> list[Any] | None:
    """Integers that all are the first of theirs; None where there are none."""
    changed = [torch.full_like(t, int(t.flatten()[0])) if integral(t) else t for t in leaves]
    return changed if any(map(integral, leaves)) else None


def _one_segment(leaves: list[Any]) -> list[Any] | None:
    """Lengths, ends and beginnings of segments such that one of these holds all; None where there are none."""
    sizes = {t.shape[0] for t in leaves if isinstance(t, Tensor) and t.ndim}
    changed = [_all_in_one(t, sizes) for t in leaves]
    return None if all(a is b for a, b in zip(changed, leaves, strict=True)) else changed


def _all_in_one(value: Any, sizes: set[int]) -> Any:
    if not integral(value) or value.ndim != 1 or len(value) < ENDS or int(value.min()) < 0:
        return value
    one = torch.zeros_like(value)
    if int(value.sum()) in sizes - {0}:  # how long each is
        one[0] = value.sum()
    elif bool((value.diff() >= 0).all()) and int(value[0]) == 0:  # where each begins, and maybe where the last one ends
        one[1:] = value[-1] if int(value[-1]) in sizes else 0
    else:
        return value
    return one

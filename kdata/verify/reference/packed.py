"""Sequences of other lengths than a task draws, one after another or in rows. In the reference's child only.

How long each is, or where each ends, is drawn by a task as it likes: all alike, or none longer than a block of some
kernel. One that goes through a number of elements instead of all that a sequence has is right there and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from kdata.verify.reference.values import ends, integral, sizes_of

Change = partial[list[Any]]


def uneven(inputs: list[Any], said: Collection[Any], generator: torch.Generator) -> Iterator[Change]:
    """For each input of lengths or ends, and those that equal it: one sequence is nearly all, the others hold one each.

    ``said``: what the task says beside, its constructor's arguments, say. Of whole numbers there and among the inputs
    that are no less than the longest sequence each may be what the longest one is to be: none is longer than these.
    """
    leaves = tree_leaves(inputs)
    sizes, told = sizes_of(leaves), _told(said, leaves)
    done: list[Tensor] = []
    for leaf in leaves:
        if not (ends(leaf, sizes) or counts(leaf, sizes)) or any(_alike(leaf, other) for other in done):
            continue
        done.append(leaf)
        ended = ends(leaf, sizes)
        lengths = leaf.diff() if ended else leaf
        made = _lengths(lengths, [n for n in told if n >= int(lengths.max())], generator)
        value = torch.cat([leaf[:1], leaf[0] + made.cumsum(0)]).to(leaf.dtype) if ended else made
        if int(made.max()) > int(lengths.max()):
            places = [n for n, other in enumerate(leaves) if _alike(leaf, other)]
            yield partial(_put, places=places, value=value)


def filled(
    inputs: list[Any], room: Mapping[int, int], said: Collection[Any], generator: torch.Generator
) -> Iterator[Change]:  # fmt: skip
    """For each input of lengths that leave ``room``, by their places: some become one less than there are positions.

    One less, for what is compared with positions may be the last of them. ``said``: as for ``uneven``.
    """
    leaves = tree_leaves(inputs)
    for place, positions in room.items():
        longest = int(leaves[place].max())
        most = min([positions - 1, *(n for n in _told(said, leaves) if n >= longest)])
        if most > longest and not ends(leaves[place], sizes_of(leaves)):
            chosen = torch.rand(leaves[place].shape, generator=generator) < 0.5
            chosen.view(-1)[-1] = True
            yield partial(_put, places=[place], value=leaves[place].masked_fill(chosen, most))


def without_any(
    inputs: list[Any], room: Collection[int], answer: Callable[[list[Any]], Any], generator: torch.Generator
) -> Iterator[Change]:  # fmt: skip
    """For each input of lengths, by their places: one of them is zero, if its row of the ``answer`` is zeros then.

    There the reference says what the answer is of nothing; of a share of nothing it may be anything.
    """
    leaves = tree_leaves(inputs)
    for place in room:
        leaf = leaves[place]
        if leaf.ndim == 1 and len(leaf) > 1 and int(leaf.min()) > 0 and not ends(leaf, sizes_of(leaves)):
            row = int(torch.randint(len(leaf), (), generator=generator))
            change = partial(_emptied, place=place, row=row)
            made = [t for t in tree_leaves(answer(change(inputs))) if isinstance(t, Tensor)]
            if made and all(t.ndim and len(t) == len(leaf) and not t[row].any() for t in made):
                yield change


def _told(said: Collection[Any], leaves: Collection[Any]) -> set[int]:
    """Whole numbers that a task says."""
    return {int(n) for n in (*said, *leaves) if type(n) is int or integral(n) and n.numel() == 1}


def counts(leaf: Any, sizes: Collection[int]) -> bool:
    """Whether these are lengths that together are one of some sizes: of a sequence each, which lie in rows of those."""
    plain = integral(leaf) and leaf.ndim == 1 and len(leaf) > 1 and int(leaf.min()) >= 0
    return plain and int(leaf.sum()) > len(leaf) and int(leaf.sum()) in sizes


def _lengths(lengths: Tensor, most: Sequence[int], generator: torch.Generator) -> Tensor:
    """As many that are as much together: one each, if there is enough, and all that is left where there is room."""
    left = int(lengths.sum())
    made = torch.full_like(lengths, int(left >= len(lengths)))
    left -= int(made.sum())
    for place in torch.randperm(len(lengths), generator=generator).tolist():
        more = min([left, *(n - int(made[place]) for n in most)])
        made[place] += more
        left -= more
    return made


def _alike(one: Tensor, other: Any) -> bool:
    return integral(other) and one.shape == other.shape and bool((one == other).all())


def _emptied(inputs: list[Any], place: int, row: int) -> list[Any]:
    value = tree_leaves(inputs)[place].clone()
    value[row] = 0
    return _put(inputs, [place], value)


def _put(inputs: list[Any], places: Sequence[int], value: Tensor) -> list[Any]:
    leaves, form = tree_flatten(inputs)
    for place in places:
        leaves[place] = value.to(leaves[place].dtype)
    changed: list[Any] = tree_unflatten(leaves, form)
    return changed

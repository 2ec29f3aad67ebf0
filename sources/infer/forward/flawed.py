"""Rules over a call that ran, whose answer is worth nothing: not finite, always the same, deaf to an input, random."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sources.infer.forward.failure import Change, Failure
from sources.infer.forward.labels import numbered
from sources.infer.forward.optional import following
from sources.infer.inputs import FEATURES, TOKENS, Spec, Specs, Tensor, all_tensors, edited
from sources.infer.running.worth import CONSTANT, IGNORES, NOT_FINITE, RANDOM

MAX_LENGTH = 512  # of a side
MANY = 32  # of a batch


def flaws(f: Failure) -> Iterator[Change]:
    """It runs, but its answer is worth nothing."""
    found = all_tensors(f.specs)
    if f.message == NOT_FINITE:
        yield from _not_finite(f, found)
    elif f.message == CONSTANT:
        yield from numbered(f)
        for path, t in found:
            yield from (f.with_tensor(path, f.shaped(r), 0.5) for r in (3, 4, 2) if r != len(t.shape))
            yield from (f.with_tensor(path, t.resized(i, FEATURES), 0.7) for i, n in enumerate(t.shape) if i and n == 1)
    elif f.message == IGNORES:
        yield from numbered(f)
        if (tokens := _of_tokens(f, found)) != f.specs:
            yield 0.1, tokens
        path, t = found[0]
        kinds: list[Spec] = [replace(t, kind="float"), Tensor(t.shape, "int", 16), replace(t, kind="bool")]
        yield from (f.with_tensor(path, k, 0.3) for k in kinds if k != t)
        yield from _more_than_one(f, found)
    elif f.message == RANDOM:
        yield from ((0.1 * i, (*f.specs, more)) for i, more in enumerate(following(f.module, len(f.specs))))


def _not_finite(f: Failure, found: Sequence[tuple[tuple[int, ...], Tensor]]) -> Iterator[Change]:
    """Values of one sign, and more of them: of one there is no deviation, and of none no mean."""
    every = f.specs
    for path, t in found:
        if t.kind == "float":
            every = replace(f, specs=every).with_tensor(path, replace(t, kind="unit"), 0.0)[1]
            yield f.with_tensor(path, replace(t, kind="unit"), 0.2)
    yield 0.0, every
    batch = next((t.shape[0] for _, t in found if t.shape), 0)
    more = f.specs
    for path, t in found:  # a share of too few may be none
        more = edited(more, path, t.resized(0, MANY)) if t.shape[:1] == (batch,) else more
    yield 0.3, more
    wider = f.specs
    for path, t in found:  # of one column there is no place between its ends
        sides = (min(2 * n, MAX_LENGTH) for n in t.shape[2:])
        wider = edited(wider, path, replace(t, shape=(*t.shape[:2], *sides))) if len(t.shape) > 3 else wider
    yield 0.4, wider
    short = dict.fromkeys((i - len(t.shape), n) for _, t in found for i, n in enumerate(t.shape) if i and n < TOKENS)
    for at, n in short:  # a sequence of a few steps, perhaps, of which strides leave one
        longer = f.specs
        for path, t in found:
            if len(t.shape) >= -at and t.shape[at] == n:
                longer = edited(longer, path, t.resized(len(t.shape) + at, TOKENS))
        yield 0.1 if n == 1 else 0.5, longer


def _of_tokens(f: Failure, found: Sequence[tuple[tuple[int, ...], Tensor]]) -> Specs:
    """Rows as sequences: of one token each, what attention gives does not depend on the query."""
    specs = f.specs
    for path, t in found:
        if t.kind == "float" and len(t.shape) == 2:
            specs = edited(specs, path, replace(t, shape=(t.shape[0], TOKENS, t.shape[1])))
    return specs


def _more_than_one(f: Failure, found: Sequence[tuple[tuple[int, ...], Tensor]]) -> Iterator[Change]:
    """What is one number may do nothing where a matrix does, as between nodes of a graph."""
    sides = [n for n in dict.fromkeys(found[0][1].shape[1:]) if n > 1]
    for path, t in found[1:]:
        if math.prod(t.shape) == 1:
            yield from (f.with_tensor(path, Tensor((n, n)), 0.2 + 0.1 * i) for i, n in enumerate(sides))

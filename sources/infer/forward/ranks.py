"""Rules of ``sources.infer.forward.repairs`` that give an input more dimensions, or fewer."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace

import torch

from sources.infer.forward.failure import Change, Failure
from sources.infer.inputs import SIDE, TOKENS, Many, Specs, Tensor, all_tensors, edited, positional
from sources.infer.running.worth import ALONE


def _reranked(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Shapes of other ranks with the sizes that were found so far: of the batch, and of channels first or last."""
    if len(shape) < 2:
        return []
    batch, one, last = shape[0], shape[1], shape[-1]
    if len(shape) == 2:
        return [(batch, TOKENS, one), (batch, one, TOKENS), (batch, one, SIDE, SIDE), (batch, 8, 8, one), (batch,)]
    if len(shape) == 3:
        side = math.isqrt(one) if math.isqrt(one) ** 2 == one else 8
        return [(batch, side, side, last), (batch, last), (batch, one), (batch, one, SIDE, SIDE), (batch, 4, one, last)]
    if len(shape) == 4:
        height = shape[2]
        return [(batch, one, height * last), (batch, one * height, last), (batch, one), (batch, last),
                (batch, height, last), (batch, one, 8, height, last), (batch, 4, one, height, last)]  # fmt: skip
    return [(batch, one, *shape[-2:]), (batch, *shape[-3:])] if len(shape) == 5 else []


MAX_RANK, SMALL = 6, 8
_SIZES_DIFFER = re.compile(
    r"must match the size|cannot be multiplied|should contain|not broadcast|be broadcast"
    r"|exceeds dimension size"
)


def several(f: Failure) -> Iterator[Change]:
    """Where a number had a softmax to itself, some are to share it: steps of a sequence, or what there is one of."""
    if f.message != ALONE:
        return
    for path, t in all_tensors(f.specs):
        if t.kind in ("float", "unit") and len(t.shape) == 2:
            yield f.with_tensor(path, replace(t, shape=(t.shape[0], TOKENS, t.shape[1])), 0.1)
        for place in (i for i, size in enumerate(t.shape) if size == 1 and i):
            yield f.with_tensor(path, t.resized(place, TOKENS), 0.2)


def fewer(f: Failure) -> Iterator[Change]:
    """Sizes may differ because one of several inputs has dimensions that it should not have."""
    found = all_tensors(f.specs)
    if len(found) > 1 and _SIZES_DIFFER.search(f.message):
        for path, t in found:
            shapes = [shape for shape in _reranked(t.shape) if len(shape) < len(t.shape)]
            yield from (f.with_tensor(path, replace(t, shape=s), 1.0 + 0.05 * j) for j, s in enumerate(shapes))
        rows = f.specs  # what all are given of a sequence may be one step of it
        for path, t in found if len({len(t.shape) for _, t in found}) == 1 else ():
            rows = edited(rows, path, replace(t, shape=(t.shape[0], t.shape[-1]))) if len(t.shape) == 3 else rows
        if rows != f.specs:
            yield 0.6, rows


def by_use(f: Failure) -> Iterator[Change]:
    """An input, or a part of it, is indexed, or its shape taken apart, as one of another rank: it is to have that."""
    x = f.arguments[0] if f.arguments else None
    if not isinstance(x, torch.Tensor):
        return
    if f.function == "__getitem__" and "too many indices" in f.message and isinstance(f.arguments[1], tuple):
        more = sum(index is not None and index is not Ellipsis for index in f.arguments[1]) - x.dim()
    elif (told := re.search(r"to unpack \(expected (\d)", f.message)) and f.function in ("__get__", "size"):
        more = int(told[1]) - x.dim()
    else:
        return
    found = list(f.from_input(x))
    for path, t in all_tensors(f.specs) if not found and more == 1 else ():  # a layer made it of an input
        if t.shape[:-1] == x.shape[:-1]:
            yield f.with_tensor(path, replace(t, shape=(1, *t.shape)), 0.6)
    for path, t in found:
        kept = len(t.shape) - x.dim()  # dimensions by which the part was chosen
        if kept < 0 or not 1 <= len(t.shape) + more <= MAX_RANK:
            continue
        lead = t.shape[:kept]
        for i, shape in enumerate(_of_rank(t.shape[kept:], more)):
            yield f.with_tensor(path, replace(t, shape=(*lead, *shape)), 0.15 + 0.1 * i)
        if not kept and (specs := _of_list(f, path, t, more)) != f.specs:
            yield 0.1, specs


def _of_rank(shape: tuple[int, ...], more: int) -> list[tuple[int, ...]]:
    """Shapes of so many ``more`` dimensions, the likeliest first."""
    shapes = [s for s in _reranked(shape) if len(s) == len(shape) + more]
    shapes += [(*shape, *[SMALL] * more)] if more > 0 else [shape[:more]]
    shapes += [(1, *shape)] if more == 1 else []  # of a batch of one, which the program squeezes away
    return list(dict.fromkeys(shapes))


def _of_list(f: Failure, path: tuple[int, ...], t: Tensor, more: int) -> Specs:
    """The inputs with all of a list re-ranked that are of one rank: the next level of a pyramid would fail, too."""
    specs = f.specs
    for other, held in all_tensors(f.specs) if len(path) > 1 else ():
        if other[:-1] == path[:-1] and len(held.shape) == len(t.shape):
            specs = edited(specs, other, replace(held, shape=_of_rank(held.shape, more)[0]))
    return specs


def by_what_follows(f: Failure) -> Iterator[Change]:
    """What was made of an input is laid out as one of another rank: it, or all that are like it, have so many more.

    What an embedding looks up in a table of pairs is one: ``self.table(pairs).permute(0, 3, 1, 2)``.
    """
    x, axes = (f.arguments[0], f.arguments[1:]) if f.function in ("permute", "expand") and f.arguments else (None, ())
    if not isinstance(x, torch.Tensor) or not re.search(r"len\(dims\)|number of sizes|non-existing", f.message):
        return
    named = axes[0] if len(axes) == 1 and isinstance(axes[0], tuple | list) else axes
    more = len(named) - x.dim()
    together = f.specs
    for path, t in all_tensors(f.specs) if more else ():
        if t.shape and 1 <= len(t.shape) + more <= MAX_RANK:
            shape = (*t.shape, *[t.shape[-1]] * more) if more > 0 else _lowered(t.shape, -more)
            yield f.with_tensor(path, replace(t, shape=shape), 0.25 if t.kind == "int" else 0.5)
            together = edited(together, path, replace(t, shape=shape))
    if together != f.specs:
        yield 0.4, together


def laid_out(f: Failure) -> Iterator[Change]:
    """What does not fit where it is written to is laid out as that is: inputs have so many dimensions too much.

    ``table[:, 0] = x``, whose message tells both.
    """
    told = re.search(r"expand\(torch\.\w+\{\[([\d, ]+)\]\}, size=\[([\d, ]*)\]\)", f.message)
    if told is None or f.function == "expand":
        return
    left = told[1].count(",") - (told[2].count(",") if told[2] else -1)
    together = f.specs
    for path, t in all_tensors(f.specs):
        if len(t.shape) > left:
            lower = replace(t, shape=_lowered(t.shape, left))
            yield f.with_tensor(path, lower, 0.4)
            together = edited(together, path, lower)
    if together != f.specs:
        yield 0.3, together


MERGED = 2  # steps, or objects, of each sample that are laid behind those of the others


def merged(f: Failure) -> Iterator[Change]:
    """The first two dimensions were made one, ``x.flatten(0, 1)``, and that is too few for a layer of images.

    What was taken for channels is the steps, or the objects, of a sample: inputs have one dimension more.
    """
    x, weight = (*f.arguments[:2], None, None)[:2]
    if not isinstance(x, torch.Tensor):
        return
    told = re.search(r"Got (\d)D input, but \w+ mode needs (\d)D input|xpected (\d)D .*got (\d)D input", f.message)
    wanted = max(map(int, filter(None, told.groups()))) if told else 0
    if f.function.startswith("conv") and isinstance(weight, torch.Tensor):
        wanted = weight.dim()
    found = [(p, t) for p, t in all_tensors(f.specs) if len(t.shape) == wanted == x.dim() + 1]
    together, likely = f.specs, False
    for path, t in found:
        more = replace(t, shape=(t.shape[0], MERGED, *t.shape[1:]))
        together = edited(together, path, more)
        if x.shape[0] % (t.shape[0] * t.shape[1]) == 0:
            likely = True
            yield f.with_tensor(path, more, 0.15 if len(found) > 1 else 0.1)
    if likely and len(found) > 1:
        yield 0.05, together


def interpolated(f: Failure) -> Iterator[Change]:
    """A mask that is resized to maps, ``F.interpolate(mask[None].float(), size=x.shape[-2:])``, is one of an image."""
    told = re.search(
        r"spatial dimensions of \[([\d, ]+)\] and output size of (?:torch\.Size\()?[\[(]([\d, ]+)", f.message
    )
    got, wanted = (tuple(map(int, sizes.split(", "))) for sizes in told.groups()) if told else ((), ())
    images = [t for _, t in all_tensors(f.specs) if len(t.shape) == len(wanted) + 2]
    sides = images[0].shape[2:] if images else (SIDE,) * len(wanted)
    for path, t in all_tensors(f.specs) if len(wanted) > len(got) else ():
        if t.shape[-len(got) :] == got and t not in images:
            new = replace(t, shape=(*t.shape[: -len(got)], *sides))
            yield f.with_tensor(path, new, 0.0 if t.kind == "bool" else 0.2)


def _lowered(shape: tuple[int, ...], count: int) -> tuple[int, ...]:
    """A shape of ``count`` fewer dimensions: those of one behind the batch go first, then the last ones."""
    while count and 1 in shape[1:]:
        at = shape.index(1, 1)
        shape, count = (*shape[:at], *shape[at + 1 :]), count - 1
    return shape[: len(shape) - count]


def squeezed(f: Failure) -> Iterator[Change]:
    """What a pooling was to leave one of, and ``squeeze`` to take away, is still there: inputs are to be so much less.

    The layer that follows then finds what it takes one dimension before the last.
    """
    x, weight = f.arguments[:2] if len(f.arguments) > 1 else (None, None)
    if f.function != "linear" or not isinstance(x, torch.Tensor) or not isinstance(weight, torch.Tensor):
        return
    left = x.shape[-1] if x.dim() > 2 else 1
    if left < 2 or weight.shape[1] == left or weight.shape[1] not in x.shape[1:-1]:
        return
    for path, t in all_tensors(f.specs):
        for i, size in enumerate(t.shape):
            if i and size % left == 0:
                yield f.with_tensor(path, t.resized(i, size // left), 0.2)


_ALONE = re.compile(r"Dimension out of range|too many indices|not enough values to unpack|more than 1 value per")


def of_several(f: Failure) -> Iterator[Change]:
    """A batch of one that was squeezed away with the other dimensions of one: there are to be two."""
    alone = [(path, t) for path, t in all_tensors(f.specs) if len(t.shape) > 2 and t.shape[0] == 1]
    if alone and _ALONE.search(f.message):
        specs = f.specs
        for path, t in alone:
            specs = edited(specs, path, t.resized(0, 2))
        yield 0.4, specs


def without_rest(f: Failure) -> Iterator[Change]:
    """What goes by ``*args`` is handed on as a rule, and may be nothing."""
    named = len(positional(f.module.forward))
    if 0 < named < len(f.specs):
        yield 0.0 if re.search(r"takes .*positional arguments? but", f.message) else 1.0, f.specs[:named]


def rank(f: Failure) -> Iterator[Change]:
    """The rank that a message names, and others where dimensions are what it is about."""
    message = f.message
    ranks: list[tuple[int, float]] = [(int(n), 0.3) for n in re.findall(r"len\(dims\) = (\d)", message)]
    unpack = re.search(
        r"not enough values to unpack \(expected (\d)|too many values to unpack \(expected (\d)", message
    )
    if unpack:
        ranks.append((int(unpack[1] or unpack[2]), 0.4))
    ranks += [
        (int(n), 0.8) for n in re.findall(r"(\d)-?\s?[dD](?:imension|\b)|dims?(?:=|:| )+(\d)", message) for n in n if n
    ]
    if re.search(
        r"number of dim|permute|Dimension out of range|too many indices|must be at least|dimension|axes|dims"
        r"|is invalid for input|numel: integer multiplication overflow",
        message,
    ):
        ranks += [(r, 1.2 + 0.1 * i) for i, r in enumerate((3, 4, 2, 5))]
    for path, t in all_tensors(f.specs):
        for wanted, cost in ranks:
            if 1 <= wanted <= 5 and wanted != len(t.shape):
                kind = t.kind if t.kind != "int" else "float"
                yield f.with_tensor(path, replace(f.shaped(wanted), kind=kind), cost)
                kept = [shape for shape in _reranked(t.shape) if len(shape) == wanted]
                yield from (
                    f.with_tensor(path, replace(t, shape=s), cost + 0.05 + 0.05 * j) for j, s in enumerate(kept)
                )
        if unpack and t.shape:
            yield f.with_tensor(path, t.resized(0, int(unpack[1] or unpack[2])), 1.0)
        if unpack and int(unpack[1] or unpack[2]) <= 4:
            yield f.with_tensor(path, Many((t,) * int(unpack[1] or unpack[2]), "tuple"), 1.5)

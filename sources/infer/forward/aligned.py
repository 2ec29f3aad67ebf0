"""Rules of ``sources.infer.forward.repairs`` for inputs that meet in one operator, and for the views of them that do.

A view of an input lies in its memory, so strides tell which of its dimensions is which of the input's.
"""

from __future__ import annotations

import ast
import itertools
import math
import re
from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import nn

from sources.infer.forward.failure import APART, VIEWED, Change, Failure
from sources.infer.inputs import BATCH, SIDE, TOKENS, Many, Specs, Tensor, all_tensors, edited

_GATES = (1, 2, 3, 4)  # how many times the channels of its state a layer of a recurrent cell gives
_COLOURS = (3, 1)  # channels of images
MAX_LENGTH, MAX_PAIRED = 1 << 14, 256
FEW = 8  # of what is joined to none
_RANKS = re.compile(r"same number of dimensions: got (\d) and (\d)")
_AXES = re.compile(r"shape \(([\d, ]+)\) does not fit the axes (\[.*\]) with (\{.*\})")  # of our stand-in for einops
_MEETS = re.compile(r"must match the size|broadcast|only supports boolean masks|expand")
_BY_MASK = re.compile(r"masked_(fill|scatter|select)_?|where")


def joined(f: Failure) -> Iterator[Change]:
    """Tensors that are joined have one rank: an input is to have the shape of another.

    Where one is looked up in a table, that makes its rank one more: there is one index for each sample, perhaps.
    """
    if match := _RANKS.search(f.message):
        ranks = {int(match[1]), int(match[2])}
        for (path, t), (_, other) in itertools.permutations(all_tensors(f.specs), 2):
            if {len(t.shape), len(other.shape)} == ranks:
                more = len(other.shape) > len(t.shape)
                yield f.with_tensor(path, replace(t, shape=other.shape), 0.1 if more else 0.5)
            elif (
                t.kind == "int"
                and {len(t.shape) + 1, len(other.shape)} == ranks
                and len(t.shape) == len(other.shape) > 1
            ):
                yield f.with_tensor(path, replace(t, shape=t.shape[:-1]), 0.1)


def joined_to_own(f: Failure) -> Iterator[Change]:
    """What is joined to a tensor of the module's own is to have the shape of that, but for one size: tokens of prompts.

    What was made of the inputs may have the wrong rank as they have: each is to have so many dimensions less.
    """
    parts = f.arguments[0] if _RANKS.search(f.message) and f.arguments else ()
    tensors = [x for x in parts if isinstance(x, torch.Tensor)] if isinstance(parts, list | tuple) else []
    for x, other in itertools.permutations(tensors, 2):
        found = [(p, t) for p, t in f.from_input(x) if len(t.shape) == x.dim() != other.dim()]
        for path, t in found:
            shape = tuple(n or FEW for n in other.shape)
            yield f.with_tensor(path, replace(t, shape=shape), 0.2)
        for path, t in all_tensors(f.specs) if not found and x.dim() > other.dim() > 1 else ():
            if len(t.shape) in (x.dim(), x.dim() - 1):
                shape = (*t.shape[: other.dim() - 1], *t.shape[x.dim() - 1 :])
                yield f.with_tensor(path, replace(t, shape=shape), 0.4)


def turned(f: Failure) -> Iterator[Change]:
    """Maps of a list go to layers in the other order, ``self.lateral[n - i](maps[i])``: their channels are turned."""
    x, weight = f.arguments[:2] if len(f.arguments) > 1 else (None, None)
    if not re.fullmatch(r"conv\dd", f.function) or not all(isinstance(t, torch.Tensor) for t in (x, weight)):
        return
    if min(x.dim(), weight.dim()) < 2:
        return
    for i, spec in enumerate(f.specs):
        if not isinstance(spec, Many) or spec.kind not in ("list", "tuple"):
            continue
        plain = [t for t in spec.items if isinstance(t, Tensor) and len(t.shape) == x.dim()]
        channels, sides = [t.shape[1] for t in plain], {x.shape[1], weight.shape[1]}
        if 1 < len(spec.items) == len(plain) and len(sides) == 2 and sides <= {*channels}:
            items = tuple(t.resized(1, n) for t, n in zip(plain, reversed(channels), strict=True))
            yield f.with_tensor((i,), replace(spec, items=items), 0.05)


def shared(f: Failure) -> Iterator[Change]:
    """A layer is given inputs joined: of one it takes as many channels as it gives, or a share for each gate.

    Or as many of each.
    """
    x, weight = f.arguments[:2] if len(f.arguments) > 1 else (None, None)
    convolves = re.fullmatch(r"conv\dd", f.function)
    if not (convolves or f.function == "linear") or not isinstance(x, torch.Tensor) or x.dim() < 2:
        return
    if not isinstance(weight, torch.Tensor) or convolves and x.dim() != weight.dim():
        return
    at = 1 if convolves else x.dim() - 1
    own, wanted = weight.shape[0], weight.shape[1]
    found = [(p, t) for p, t in all_tensors(f.specs) if len(t.shape) == x.dim()]
    more = 0
    if not found and convolves:  # samples and their steps, or objects, were made one dimension
        ranked = ((p, t) for p, t in all_tensors(f.specs) if len(t.shape) == x.dim() + 1)
        found, more = [(p, t) for p, t in ranked if t.shape[0] * t.shape[1] == x.shape[0]], 1
        if sum(t.shape[2] for _, t in found) != x.shape[1]:
            return
    for (path, t), (other_path, other) in itertools.permutations(found, 2):
        rest = x.shape[at] - t.shape[at + more] - other.shape[at + more]  # of what else is joined to them
        if rest < 0 or x.shape[at] == wanted:
            continue
        for j, channels in enumerate(own // n for n in _GATES if own % n == 0 and own // n < wanted - rest):
            specs = edited(f.specs, path, t.resized(at + more, channels))
            specs = edited(specs, other_path, other.resized(at + more, wanted - rest - channels))
            yield 0.1 + 0.1 * j + (0.2 if rest else 0.0), specs
    left = wanted - x.shape[at] + sum(t.shape[at + more] for _, t in found)
    if left >= len(found) > 1 and wanted != x.shape[at]:
        yield 0.15, _of_shares(f.specs, found, at + more, left)


def _of_shares(specs: Specs, found: list[tuple[tuple[int, ...], Tensor]], at: int, total: int) -> Specs:
    """Inputs with as many features each, which are so many together; the first has what is left."""
    share, rest = divmod(total, len(found))
    for n, (path, t) in enumerate(found):
        specs = edited(specs, path, t.resized(at, share + (rest if n == 0 else 0)))
    return specs


def labelled(f: Failure) -> Iterator[Change]:
    """A convolution is given an image joined with a vector that was repeated over it: of images, it takes the rest."""
    x, weight = f.arguments[:2] if len(f.arguments) > 1 else (None, None)
    if not re.fullmatch(r"conv\dd", f.function) or not all(isinstance(t, torch.Tensor) for t in (x, weight)):
        return
    every = all_tensors(f.specs)
    for (path, image), (other_path, vector) in itertools.permutations(every, 2):
        of_both = len(image.shape) == x.dim() and len(vector.shape) == 2 and x.dim() == weight.dim() > 2
        if of_both and image.shape[1] + vector.shape[1] == x.shape[1] != weight.shape[1]:
            for j, channels in enumerate(c for c in _COLOURS if c < weight.shape[1]):
                specs = edited(f.specs, path, image.resized(1, channels))
                yield 0.1 * j, edited(specs, other_path, vector.resized(1, weight.shape[1] - channels))


def traded(f: Failure) -> Iterator[Change]:
    """A part of what was joined meets what has another size: what it takes on another part is to give."""
    if not (match := APART.search(f.message)):
        return
    a, b = int(match[1]), int(match[2])
    for (path, t), (other_path, other) in itertools.permutations(all_tensors(f.specs), 2):
        square = len(t.shape) > 3 and t.shape[-1] == t.shape[-2]  # sides of images, which are joined by their channels
        for i, size in enumerate(t.shape[1 : len(t.shape) - 2 * square], 1):
            new = a if size == b else b if size == a else size
            if len(other.shape) == len(t.shape) and other.shape[i] + size > new != size:
                specs = edited(f.specs, path, t.resized(i, new))
                yield 0.3, edited(specs, other_path, other.resized(i, other.shape[i] + size - new))


def aligned(f: Failure) -> Iterator[Change]:
    """A view of an input meets a tensor of other sizes: the input is to have these where its dimensions come to lie."""
    tensors = [a for a in f.arguments[:3] if isinstance(a, torch.Tensor)]
    if not _MEETS.search(f.message):
        return
    masks = _BY_MASK.fullmatch(f.function) is not None
    for view, other in itertools.permutations(tensors, 2):
        for path, t in f.from_input(view):
            kind = "bool" if masks and view is f.arguments[0 if f.function == "where" else 1] else t.kind
            if (shape := _as_wide(view, t, other)) and (shape, kind) != (t.shape, t.kind):
                yield f.with_tensor(path, replace(t, shape=shape, kind=kind), 0.0)
            if len(t.shape) != view.dim() > other.dim():  # what was made wider for it had a dimension too many
                yield from (f.with_tensor(path, replace(t, shape=s, kind=kind), 0.2) for s in _shorter(t))


def expanded(f: Failure) -> Iterator[Change]:
    """An input is expanded to sizes that it cannot have: it is to have them, or ones, or a dimension less."""
    match = re.search(r"must match the existing size.*Target sizes: \[([-\d, ]+)\]", f.message)
    wanted = [int(n) for n in match[1].split(",")] if match else []
    for path, t in f.from_input(f.arguments[0]) if wanted else ():
        if len(t.shape) == f.arguments[0].dim() <= len(wanted):
            yield from (f.with_tensor(path, replace(t, shape=s), 0.2) for s in _shorter(t))
            last = wanted[len(wanted) - len(t.shape) :]
            told = tuple(n if n > 0 else old for n, old in zip(last, t.shape, strict=True))
            yield f.with_tensor(path, replace(t, shape=told), 0.3)


def longer(f: Failure) -> Iterator[Change]:
    """The program says what inputs have too little of: ``length (32) must be larger than the largest window (64)``."""
    match = re.search(r"(\d+)\D{0,3} must be (?:larger|greater|longer|bigger|at least|more)\D*(\d+)", f.message)
    got, least = (int(match[1]), int(match[2])) if match else (0, 0)
    every = f.specs
    for path, t in all_tensors(f.specs) if 0 < got <= least <= MAX_LENGTH else ():
        for i in [i for i, size in enumerate(t.shape) if size == got and i][-1:]:
            yield f.with_tensor(path, t.resized(i, 2 * least), 0.3)
            every = edited(every, path, t.resized(i, 2 * least))
    if every != f.specs:
        yield 0.1, every


def repeated(f: Failure) -> Iterator[Change]:
    """A view of an input has more dimensions than it is repeated along, or elements than it is given another shape of.

    The input is to have one less.
    """
    if "of repeat dims can not be smaller" in f.message and f.arguments:
        for path, t in f.from_input(f.arguments[0]):
            yield from (f.with_tensor(path, replace(t, shape=s), 0.2) for s in _shorter(t))
    match = VIEWED.search(f.message)
    size, wanted = (int(match[2]), math.prod(map(int, match[1].split(",")))) if match else (1, 0)
    for path, t in all_tensors(f.specs) if 0 < wanted < size and size % wanted == 0 else ():
        without = (t.shape[:i] + t.shape[i + 1 :] for i in range(1, len(t.shape)) if t.shape[i] == size // wanted)
        yield from (f.with_tensor(path, replace(t, shape=s), 0.6) for s in dict.fromkeys(without))


def padded(f: Failure) -> Iterator[Change]:
    """A mask of the places that attention is to leave out has as many as there are keys."""
    match = re.search(r"mask\.shape\[1\] to be (\d+), but got (\d+)", f.message)
    for path, t in all_tensors(f.specs) if match else ():
        if match and "mask" in f.names()[path[0]] and len(t.shape) == 2 and t.shape[1] == int(match[2]):
            yield f.with_tensor(path, t.resized(1, int(match[1])), 0.0)


def looked_up(f: Failure) -> Iterator[Change]:
    """A part of an input is made an index into a table, as the hour of what is known of a moment."""
    if f.function != "embedding" or "out of range" not in f.message or len(f.arguments) < 2:
        return
    index, table = f.arguments[:2]
    tables = [m.num_embeddings for m in f.module.modules() if isinstance(m, nn.Embedding) and m.num_embeddings > 1]
    if isinstance(index, torch.Tensor) and isinstance(table, torch.Tensor) and not list(f.from_input(index)):
        for path, t in all_tensors(f.specs):
            if t.kind == "float" and t.shape[: index.dim()] == tuple(index.shape):
                yield f.with_tensor(path, replace(t, kind="int", high=min([table.shape[0], *tables])), 0.3)


def columns(f: Failure) -> Iterator[Change]:
    """A list of layers, one for each column, tells how many of these there are: ``index 9 is out of range``."""
    match = re.fullmatch(r"IndexError: index (\d+) is out of range", f.message)
    number = int(match[1]) if match else 0
    for path, t in all_tensors(f.specs) if number else ():
        for i, size in enumerate(t.shape):
            if size > number:
                yield f.with_tensor(path, t.resized(i, number), 0.1 if i == 1 else 0.3)


def paired(f: Failure) -> Iterator[Change]:
    """What has no batch but something for each pair of rows: a first dimension is to be as the second.

    So are pair representations and their masks beside the alignments of AlphaFold's networks.
    """
    if (match := APART.search(f.message)) and str(BATCH) in match.groups():
        for path, t in all_tensors(f.specs):
            first, rows = t.shape[:2] if len(t.shape) > 1 else (0, 0)
            if first == BATCH != rows < MAX_PAIRED and str(rows) in match.groups():
                yield f.with_tensor(path, replace(t, shape=(rows, *t.shape[1:])), 0.1)


def rearranged(f: Failure) -> Iterator[Change]:
    """Axes of a pattern that share a dimension tell what divides it, and all of them together the rank."""
    match = _AXES.search(f.message)
    if not match:
        return
    groups, known = ast.literal_eval(match[2]), ast.literal_eval(match[3])
    got = tuple(int(n) for n in re.findall(r"\d+", match[1]))
    shape = []
    for i, group in enumerate(groups):
        size, least = got[i] if len(got) == len(groups) else TOKENS, math.prod(known.get(name, 1) for name in group)
        open_ended = any(name not in known for name in group)
        shape.append(least * max(1, size // least) if open_ended or not group else least)
    for path, t in all_tensors(f.specs):
        if t.shape == got and math.prod(shape) <= 1 << 22:
            yield f.with_tensor(path, replace(t, shape=tuple(shape)), 0.0)
        elif len(got) + 1 == len(groups) == 3 and t.shape[:1] == got[:1]:  # it was made of rows: of sequences, then
            if t.kind == "float" and len(t.shape) == 2:
                yield f.with_tensor(path, replace(t, shape=(got[0], TOKENS, t.shape[1])), 0.1)
            elif t.kind == "int" and len(t.shape) == 1:
                yield f.with_tensor(path, replace(t, shape=(got[0], TOKENS)), 0.3)


def multiplied(f: Failure) -> Iterator[Change]:
    """Letters of an equation tell the ranks of what it multiplies, and which of their sizes are one."""
    operands = f.arguments[1] if len(f.arguments) == 2 and isinstance(f.arguments[1], list | tuple) else f.arguments[1:]
    equation = f.arguments[0] if f.arguments else None
    if f.function != "einsum" or not isinstance(equation, str) or "." in equation:
        return
    letters = [part.strip() for part in equation.replace(" ", "").split("->")[0].split(",")]
    tensors = [t for t in operands if isinstance(t, torch.Tensor)]
    sizes: dict[str, int] = {}
    for said, tensor in zip(letters, tensors, strict=False):  # those of the first that fits count
        sizes |= {
            a: n for a, n in zip(said, tensor.shape, strict=False) if a not in sizes and len(said) == tensor.dim()
        }
    for said, tensor in zip(letters, tensors, strict=False):
        wanted = tuple(sizes.get(a, SIDE) for a in said)
        if wanted != tuple(tensor.shape):
            yield from ((0.1 * i, specs) for i, specs in enumerate(_in_place_of(f.specs, tuple(tensor.shape), wanted)))


def _in_place_of(specs: Specs, shape: tuple[int, ...], new: tuple[int, ...]) -> Iterator[Specs]:
    """The inputs with one whose tensors have a shape, or rows of it, of another one; the last of them first."""
    for lead, at in itertools.product((0, 1), reversed(range(len(specs)))):
        other = specs
        for path, t in all_tensors(specs):
            if path[0] == at and t.shape[lead:] == shape and len(t.shape) > lead:
                other = edited(other, path, replace(t, shape=(*t.shape[:lead], *new)))
        if other != specs:
            yield other


def _shorter(t: Tensor) -> list[tuple[int, ...]]:
    """Its shape without one of its dimensions, inner ones first: those are of sequences and images."""
    if len(t.shape) < 2:
        return []
    order = [*range(len(t.shape) - 2, 0, -1), len(t.shape) - 1, 0]
    return list(dict.fromkeys(t.shape[:i] + t.shape[i + 1 :] for i in order))


def _as_wide(view: torch.Tensor, t: Tensor, other: torch.Tensor) -> tuple[int, ...]:
    """The shape of an input of which a view is as wide as another tensor; none where the view has more dimensions."""
    if view.dim() > other.dim():
        return ()
    strides = torch.empty(t.shape, device="meta").stride()
    at = {stride: i for i, (stride, size) in enumerate(zip(strides, t.shape, strict=True)) if size > 1}
    shape = list(t.shape)
    for d in range(-view.dim(), 0):
        if min(view.shape[d], other.shape[d]) < 2:  # it is spread over whatever there is
            continue
        if view.stride(d) in at and shape[at[view.stride(d)]] == view.shape[d]:
            shape[at[view.stride(d)]] = other.shape[d]
    return tuple(shape)


ALIGNED = (joined, joined_to_own, turned, shared, labelled, traded, aligned, expanded, longer, repeated, padded,
           looked_up, columns, rearranged, paired, multiplied)  # fmt: skip

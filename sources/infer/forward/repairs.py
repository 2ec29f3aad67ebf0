"""A failed call of ``forward`` and what to change about its inputs.

Rules over the operator that failed, its real arguments, and the numbers of its message.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import torch

from sources.infer.forward.aligned import ALIGNED
from sources.infer.forward.failure import VIEWED, Change, Failure
from sources.infer.forward.influence import differing
from sources.infer.forward.kinds import KINDS
from sources.infer.forward.mismatches import mismatch, resized, stacked
from sources.infer.forward.ranks import (
    by_use,
    by_what_follows,
    fewer,
    interpolated,
    laid_out,
    merged,
    of_several,
    rank,
    several,
    squeezed,
    without_rest,
)
from sources.infer.forward.sampled import sampled
from sources.infer.forward.told_shapes import SHAPES
from sources.infer.forward.variants import of_one
from sources.infer.forward.windows import WINDOWS, longer
from sources.infer.inputs import BATCH, SPATIAL, TOKENS, Specs, Tensor, all_tensors, edited, extent

SIDES = (32, 64, 28, 16, 128, 224, 8, 256, 48, 4)
SIZES = (64, 16, 4, 32, 128, 8, 256, 196, 49, 1, 3)
MAX_ELEMENTS = 1 << 22  # of one input that is proposed
MAX_DIMENSION = 4096
_FREQUENCIES = re.compile(r"n_fft=(\d+).*to match n_fft( / 2 \+ 1)?.* but got (\d+)", re.S)
MANY_PARTS = 4  # of an input that is cut into such


def repairs(failure: Failure) -> list[Change]:
    """Inputs to try next, with costs; the cheapest first, of one where many are larger than a limit."""
    fit: list[Change] = []
    for cost, specs in (change for rule in RULES for change in rule(failure)):
        if _sane(specs):
            fit.append((cost, specs))
        elif _sane(alone := of_one(specs)):
            fit.append((cost, alone))
    return sorted(fit, key=lambda c: c[0])


def _sane(specs: Specs) -> bool:
    _, largest, shortest = extent(specs)
    return shortest > 0 and largest <= MAX_ELEMENTS


def _layer(f: Failure) -> Iterator[Change]:
    """Convolution, linear, embedding and norm layers say what they want."""
    if len(f.arguments) < 2 or not isinstance(x := f.arguments[0], torch.Tensor):
        return
    weight = f.arguments[1]
    if (match := re.fullmatch(r"conv(_transpose)?(\d)d", f.function)) and isinstance(weight, torch.Tensor):
        groups = f.arguments[6] if len(f.arguments) > 6 and isinstance(f.arguments[6], int) else 1
        channels, spatial = weight.shape[0] if match[1] else weight.shape[1] * groups, int(match[2])
        for path, t in f.of_shape(x):
            framed = len(t.shape) == spatial + 3 and t.shape[2] == channels  # one of the steps that a comment tells of
            alike = len(t.shape) == spatial + 2
            sides = t.shape[2 + framed :] if framed or alike else SPATIAL[spatial]
            yield f.with_tensor(path, Tensor((t.shape[0] if alike else BATCH, channels, *sides)), 0.0)
        if x.dim() == spatial + 2:
            yield from _wanted(f, x.shape[1], channels)
    elif f.function == "linear" and isinstance(weight, torch.Tensor) and x.dim():
        for path, t in f.of_shape(x):
            yield f.with_tensor(path, Tensor((*t.shape[:-1], weight.shape[1])), 0.0)
            if len(t.shape) not in (2, 3):  # a row alone, which later calls seldom take, or an image
                yield f.with_tensor(path, Tensor((BATCH, weight.shape[1])), 0.05)
        yield from _wanted(f, x.shape[-1], weight.shape[1])
    elif f.function == "embedding" and isinstance(weight, torch.Tensor):
        for path, t in f.of_shape(x):
            shape = t.shape[:2] if len(t.shape) < 4 else (t.shape[0], TOKENS)
            yield f.with_tensor(path, Tensor(shape, "int", weight.shape[0]), 0.0)
    elif f.function == "layer_norm" and isinstance(weight, list | tuple):
        for path, t in f.of_shape(x):
            lead = t.shape[: -len(weight)] if len(t.shape) > len(weight) else (BATCH, TOKENS)
            yield f.with_tensor(path, Tensor((*lead, *weight)), 0.0)
        yield from _wanted(f, x.shape[-1], int(weight[-1]))
    elif f.function in ("batch_norm", "group_norm", "instance_norm") and x.dim() > 1:
        scale = next((a for a in f.arguments[1:] if isinstance(a, torch.Tensor)), None)
        if x.shape[0] == 1 and re.search(r"should contain \d+ elements not", f.message):
            yield 0.1, of_one(f.specs)  # samples side by side, and a scale for one
        if scale is not None:
            yield from _wanted(f, x.shape[1], scale.shape[0])


def _of_part(f: Failure) -> Iterator[Change]:
    """A layer is given a part of an input, ``state[0][1]``: each such part is to be as the layer wants it."""
    x, weight = f.arguments[:2] if len(f.arguments) > 1 else (None, None)
    if not isinstance(weight, torch.Tensor) or weight.dim() < 2:
        return
    convolves = re.fullmatch(r"conv(_transpose)?(\d)d", f.function)
    for path, t in f.from_input(x):
        if x.dim() >= len(t.shape):
            continue
        lead = t.shape[: len(t.shape) - x.dim()]
        if x.numel() == math.prod(t.shape) and math.prod(lead) > 1:  # it is all of it, laid out otherwise
            continue
        if convolves:
            groups = f.arguments[6] if len(f.arguments) > 6 and isinstance(f.arguments[6], int) else 1
            channels = weight.shape[0] if convolves[1] else weight.shape[1] * groups
            shape = (BATCH, channels, *SPATIAL[int(convolves[2])])
        elif f.function == "linear":
            shape = (*(x.shape[:-1] or (BATCH,)), weight.shape[1])
        else:
            continue
        yield f.with_tensor(path, replace(t, shape=(*(min(n, MANY_PARTS) for n in lead), *shape)), 0.1)


def _positions(f: Failure) -> Iterator[Change]:
    """A sequence that is longer than a table of positions has rows is to be as long as that."""
    x, weight = f.arguments[:2] if len(f.arguments) > 1 else (None, None)
    if f.function != "embedding" or not isinstance(x, torch.Tensor) or not isinstance(weight, torch.Tensor):
        return
    if "out of range" not in f.message or x.is_meta or not x.numel() or not x.dim():
        return
    row, length = x.reshape(-1, x.shape[-1])[0], x.shape[-1]
    after = int(row[-1]) + 1 - weight.shape[0]
    if length > after > 0 and bool((row.diff() == 1).all()):  # numbers that were counted, not drawn
        yield from ((cost / 2, specs) for cost, specs in _wanted(f, length, length - after))


def _masked(f: Failure) -> Iterator[Change]:
    """A mask of what an input is long picks from what is as long as the module says: the input is to be so, too."""
    if "shape of the mask" in f.message and (sizes := differing(f.message)):
        yield from ((0.0, specs) for _, specs in _together(f, *sizes))
        yield from _wanted(f, *sizes)


def _of_attention(f: Failure) -> Iterator[Change]:
    """Masks of torch's attention: what is to be another square, or to have the batch first where sequences have not."""
    square = re.search(r"attn_mask is torch\.Size\(\[([\d, ]+)\]\), but should be \(([\d, ]+)\)", f.message)
    padded = re.search(r"key_padd\w+_mask\.shape\[(\d)\] to be (\d+), but got (\d+)", f.message)
    names = f.names() if square or padded else []
    for path, t, name in ((p, t, names[p[0]]) for p, t in all_tensors(f.specs) if names and len(t.shape) > 1):
        if square and list(t.shape) == [*map(int, square[1].split(","))]:
            wanted = tuple(map(int, square[2].split(",")))
            yield f.with_tensor(path, replace(t, shape=wanted), 0.0 if "mask" in name and "pad" not in name else 0.5)
        at, wanted_there, got = map(int, padded.groups()) if padded else (0, 0, 0)
        if padded and len(t.shape) == 2 and (t.shape[at], t.shape[::-1][at]) == (got, wanted_there):
            yield f.with_tensor(path, replace(t, shape=t.shape[::-1]), 0.0 if "pad" in name else 0.5)


def _unbatched(f: Failure) -> Iterator[Change]:
    """Convolutions take inputs without a batch, what comes next seldom does: they are to have one."""
    x, weight = f.arguments[:2] if len(f.arguments) > 1 else (None, None)
    if f.function.startswith("conv") and isinstance(x, torch.Tensor) and isinstance(weight, torch.Tensor):
        found = [path for path, t in all_tensors(f.specs) if len(t.shape) == x.dim() == weight.dim() - 1]
        together = f.specs
        for path in found:
            yield f.with_tensor(path, f.shaped(weight.dim()), 0.1)
            together = edited(together, path, f.shaped(weight.dim()))
        if len(found) > 1:
            yield 0.05, together
        # of which one was taken, perhaps, and its frames laid one after another
        for path, t in all_tensors(f.specs) if x.dim() == weight.dim() - 1 else ():
            if len(t.shape) == weight.dim():
                yield f.with_tensor(path, f.shaped(weight.dim() + 1), 0.3)


def _wanted(f: Failure, got: int, wanted: int) -> Iterator[Change]:
    """A dimension was ``got`` where the operator needs ``wanted``: inputs may have it as it is, shifted or scaled."""
    if got == wanted or min(got, wanted) < 1:
        return
    if got > wanted and got % wanted == 0:  # inputs that are concatenated, or multiplied, take a share each
        yield 0.3, _shared(f.specs, got // wanted)
    yield from _together(f, got, wanted)
    for path, t in all_tensors(f.specs):
        whole, left = divmod(math.prod(t.shape) * wanted, got)  # all of it may be one row
        if t.kind == "int" and not left and whole:
            yield f.with_tensor(path, replace(t, shape=(*[1] * (len(t.shape) - 1), whole)), 0.75)
        for i, size in enumerate(t.shape):
            if size == got:
                yield f.with_tensor(path, t.resized(i, wanted), 0.2)
                yield from _traded(f, path, t, i, wanted)
            if i and size + wanted - got > 0:
                yield f.with_tensor(path, t.resized(i, size + wanted - got), 0.8)
            if i and size * wanted % got == 0 and size * wanted // got <= MAX_DIMENSION:
                yield f.with_tensor(path, t.resized(i, size * wanted // got), 0.7)
        if len(t.shape) >= 3:
            spatial = len(t.shape) - 2
            side = round(t.shape[-1] * (wanted / got) ** (1 / spatial))
            likely = 1.2 if f.function.startswith("conv") else 0.6  # only what was folded turns sides to channels
            for other in dict.fromkeys([side, side - 1, side + 1]):
                yield f.with_tensor(path, _of_side(t, other), likely)
            if spatial > 1 and t.shape[-1] * wanted % got == 0:
                yield f.with_tensor(path, _of_side(t, t.shape[-1] * wanted // got), likely + 0.1)


def _traded(f: Failure, path: tuple[int, ...], t: Tensor, at: int, wanted: int) -> Iterator[Change]:
    """A dimension gives to another one what it has too much: joints times channels were seen first, then channels."""
    times, left = divmod(t.shape[at], wanted)
    for other in range(2, len(t.shape)) if at and not left else ():
        if other != at and t.shape[other] * times <= MAX_DIMENSION:
            moved = t.resized(at, wanted).resized(other, t.shape[other] * times)
            yield f.with_tensor(path, moved, 0.3 if t.shape[other] == 1 else 0.6)


def _of_side(t: Tensor, side: int) -> Tensor:
    return replace(t, shape=(*t.shape[:2], *[side] * (len(t.shape) - 2)))


def _together(f: Failure, got: int, wanted: int) -> Iterator[Change]:
    """All inputs that have a size, or a share of it, at the same place from the end: they may have to agree."""
    found = all_tensors(f.specs)
    every = ((i - len(t.shape), size) for _, t in found for i, size in enumerate(t.shape) if i or size == got)
    for at, size in dict.fromkeys((at, size) for at, size in every if size == got or size * wanted % got == 0):
        if size * wanted // got <= MAX_DIMENSION and (specs := resized(f.specs, at, size, size * wanted // got)):
            yield 0.25 if size == got else 0.65, specs


def _shared(specs: Specs, times: int) -> Specs:
    """The inputs with their channels divided."""
    for path, t in all_tensors(specs):
        at = 1 if len(t.shape) > 3 else len(t.shape) - 1
        for i in dict.fromkeys((at, 1)):
            if 0 < i < len(t.shape) and t.shape[i] % times == 0 and t.shape[i] > times:
                specs = edited(specs, path, t.resized(i, t.shape[i] // times))
                break
    return specs


def _broadcast(f: Failure) -> Iterator[Change]:
    """Of two tensors that are combined one is an input, a mask perhaps: it is to have the other's shape, or ones."""
    tensors = [a for a in f.arguments[:3] if isinstance(a, torch.Tensor)]
    if "must match" not in f.message and "broadcast" not in f.message and "not match" not in f.message:
        return
    for given, other in itertools.permutations(tensors[:3], 2):
        shape = tuple(other.shape)
        lead = range(1, len(shape) - 1)
        wanted = [shape, *(tuple(1 if 1 <= i <= n else size for i, size in enumerate(shape)) for n in lead)]
        for path, t in all_tensors(f.specs):
            if math.prod(t.shape) == given.numel() <= other.numel() and len(shape) > 1:
                likely = 0.0 if t.kind == "bool" and len(shape) > 3 else 0.4 if t.kind == "bool" else 0.7
                new = dict.fromkeys([w for w in (wanted[-1], *wanted) if w != t.shape])
                yield from (f.with_tensor(path, replace(t, shape=w), likely + 0.1 * j) for j, w in enumerate(new))


def _split(f: Failure) -> Iterator[Change]:
    """A split into parts tells how long the dimension is."""
    match = re.search(r"sum exactly to (\d+) \(input tensor's size at dimension (-?\d)\).*=\[([\d, ]+)\]", f.message)
    if match:
        yield from _wanted(f, int(match[1]), sum(map(int, match[3].split(","))))


def _spectrum(f: Failure) -> Iterator[Change]:
    """A sound is made of a spectrum of as many frequencies as its windows have, half of them where it is real."""
    match = _FREQUENCIES.search(f.message)
    if match is None:
        return
    wanted, got = (int(match[1]) // 2 + 1 if match[2] else int(match[1])), int(match[3])
    x = f.arguments[0] if f.arguments else None
    for path, t in dict([*f.from_input(x), *all_tensors(f.specs)]).items():
        if got not in t.shape[1:]:  # it was reshaped: no dimension of it is that of the frequencies
            continue
        at = len(t.shape) - 1 - t.shape[::-1].index(got)
        if at == len(t.shape) - 1 or t.shape[at - 1] == got:  # frequencies stand before the steps
            at -= 1
        if at > 0:
            yield f.with_tensor(path, t.resized(at, wanted), 0.0)
    yield from _wanted(f, got, wanted)


def _matmul(f: Failure) -> Iterator[Change]:
    told = re.search(
        r"cannot be multiplied \(|dimensions of batch2 tensor to be|previously seen size|, vec \(", f.message
    )
    if f.function != "linear" and told and (sizes := differing(f.message)):
        yield from _wanted(f, *sizes)
        yield from _wanted(f, *sizes[::-1])


def _numbers(f: Failure) -> Iterator[Change]:
    """Any number of the message that is an input's dimension may have to be any other number of it."""
    numbers = [int(n) for n in re.findall(r"(?<![\w.])\d+(?![\w.])", f.message)]
    numbers = [n for n in dict.fromkeys(numbers) if 0 < n < 20000][:8]
    for path, t in all_tensors(f.specs):
        for got in numbers:
            for wanted in numbers:
                if got == wanted:
                    continue
                for i, size in enumerate(t.shape):
                    if size == got:
                        yield f.with_tensor(path, t.resized(i, wanted), 1.0)
                if len(t.shape) >= 4 and t.shape[-1] == t.shape[-2] == got:
                    yield f.with_tensor(path, replace(t, shape=(*t.shape[:-2], wanted, wanted)), 0.9)


def _view(f: Failure) -> Iterator[Change]:
    """A view whose fixed sizes do not divide the input."""
    match = VIEWED.search(f.message)
    if not match:
        return
    wanted = tuple(map(int, match[1].split(",")))
    lead = wanted[: max((i + 1 for i, n in enumerate(wanted) if n > 1), default=1)]
    for path, t in all_tensors(f.specs):
        if len(lead) < min(len(wanted), len(t.shape)) and t.shape[: len(lead)] == lead:
            yield f.with_tensor(path, replace(t, shape=lead), 0.2)  # x.view(n, c, 1, 1): it has two dimensions
    shorter = ((path, t) for path, t in f.from_input((*f.arguments, None)[0]) if len(t.shape) < len(lead))
    yield from (f.with_tensor(path, replace(t, shape=lead), 0.3) for path, t in shorter)  # x.view(n, c, 1) of a row
    fixed = math.prod(n for n in wanted if n > 0)
    size = int(match[2])
    if size % BATCH == 0 and fixed > 1 and wanted[0] < 0:  # it was joined of several, of samples in a row
        yield from ((cost + 0.2, specs) for cost, specs in _wanted(f, size // BATCH, fixed))
    for path, t in all_tensors(f.specs):
        for i, old in enumerate(t.shape):
            rest = size // old if size % old == 0 else 0
            for times in (1, 2, 4) if rest else ():
                if fixed * times % rest == 0 and fixed * times // rest not in (0, old):
                    yield f.with_tensor(path, t.resized(i, fixed * times // rest), 0.6 + 0.1 * times)


def _small(f: Failure) -> Iterator[Change]:
    if not re.search(
        r"[Kk]ernel size|stride should not be zero|too small|[Oo]utput size|greater than 0|smaller|Padding size"
        r"|negative dim|Expected more than|expects 'from' to be less than 'to'|division by zero",
        f.message,
    ):
        return
    for path, t in all_tensors(f.specs):
        yield from longer(f, path, t)
        if "more than 1 value" in f.message and t.shape[:1] == (1,):
            yield f.with_tensor(path, t.resized(0, 2), 0.1)
        if len(t.shape) == 4:
            yield from f.with_alike(path, replace(t, shape=(t.shape[0] // 2 or 1, t.shape[1], 256, 256)), 1.2)
        for side in (64, 128, 224):
            if len(t.shape) >= 3 and side > t.shape[-1]:
                yield from f.with_alike(path, _of_side(t, side), 0.7 + side / 1000)
            if len(t.shape) == 5 and side > t.shape[-1]:  # of images: the third dimension is frames, or channels
                yield from f.with_alike(path, replace(t, shape=(*t.shape[:3], side, side)), 0.6 + side / 1000)


def _divisible(f: Failure) -> Iterator[Change]:
    words = r"divisible|invalid for input|multiple|split|chunk|reshape|view|unflatten|[Aa]ssert|does not fit|match"
    if not re.search(words, f.message):
        return
    for path, t in all_tensors(f.specs):
        for i in range(1, len(t.shape)):
            for j, size in enumerate(SIZES):
                if size != t.shape[i]:
                    yield f.with_tensor(path, t.resized(i, size), 2.0 + 0.03 * j)
        for j, side in enumerate(SIDES if len(t.shape) >= 4 else ()):
            yield f.with_tensor(path, replace(t, shape=(*t.shape[:-2], side, side)), 1.5 + 0.05 * j)


def _equal(f: Failure) -> Iterator[Change]:
    """Two inputs may have to be alike."""
    found = all_tensors(f.specs)
    for path, t in found:
        yield from (f.with_tensor(path, other, 1.4) for _, other in found if other != t)


RULES: tuple[Callable[[Failure], Iterator[Change]], ...] = (
    _layer, _of_part, _positions, _masked, _of_attention, _unbatched, *ALIGNED, *SHAPES, mismatch, stacked,
    _broadcast, _split, _spectrum, _matmul, _numbers, _view, by_use, by_what_follows, laid_out, merged, of_several,
    interpolated, sampled, rank,
    *WINDOWS, _small, _divisible, _equal, fewer, several, squeezed, without_rest, *KINDS,
)  # fmt: skip

"""Rules over a failed call whose inputs were of the wrong kind: dtypes, lists, numbers, values that mean nothing."""

from __future__ import annotations

import ast
import itertools
import math
import re
from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import nn

from sources.hints.guesses import values
from sources.hints.uses import Uses
from sources.infer.forward.constrained import constrained
from sources.infer.forward.entries import keys
from sources.infer.forward.failure import NO_TENSOR, Change, Failure
from sources.infer.forward.flawed import flaws
from sources.infer.forward.graphs import OWN, graph
from sources.infer.forward.influence import differing
from sources.infer.forward.input_guesses import LEVELS, part, takes_any
from sources.infer.forward.keyed import mappings
from sources.infer.forward.labels import listed, single
from sources.infer.forward.optional import flagged, following, given_last, up_to
from sources.infer.forward.truths import truths, unpacked_by_name
from sources.infer.inputs import (
    BATCH,
    FEATURES,
    SIDE,
    TOKENS,
    Many,
    Plain,
    Tensor,
    all_tensors,
    edited,
    positional,
)
from sources.infer.running.worth import RAGGED

_NUMBER = re.compile(
    r"only one element|ambiguous|as an integer|scalar|tuple of ints|must be .*int|only integer|not callable"
    r"|got \(.*Tensor|type must be|only one element tensors|'str'|unhashable|must be str|must be real number"
    r"|takes an iterable of 'int'"
)
_WHOLE = re.compile(
    r"Long|Int\b|indices|integer|int64|dtype|index|one_hot|one-hot|scatter|gather|not implemented for 'Float'"
)
_LENGTHS = re.compile(r"(?i)len(gth)?s?$")
# Something was left out that is needed after all; in scripted code, a tensor of no rows stands for it.
_LACKING = re.compile(r"NoneType|missing \d+ required positional|UnboundLocalError|x0 and \d+x|tensor [ab] \(0\)")
_SIZES = re.compile(r"must match|exceeds dimension size|shape|batch_size|out of bounds|same|equal")
_ASKS = re.compile(r"(?i)\b(provide|specify|requires?|required|pass|need|needs|give|given)\b")
_PRODUCT = re.compile(r"mat1 and mat2 shapes cannot be multiplied \(\d+x\d+ and (\d+)x\d+\)")
_LACKS_BATCH = re.compile(r"Got (\d)D input, but \w+ mode needs (\d)D input")
_NAMED_AXES = re.compile(r"shape \(([\d, ]+)\) does not fit the axes \[(.*?)\] with")  # our einops'
_TURNED = "step must be greater than zero"  # of a tensor: ``features[::-1]``
_UNPACKS = re.compile(r"values to unpack \(expected (\d+)")
_RANKS = re.compile(r"same number of dimensions|number of dims don't match|Dimension out of range|too many values")
SPECIAL = 4  # numbers that may stand for padding, for what is unknown, and for where a sentence begins and ends
MAX_LENGTH = 512
_SEVERAL = re.compile(
    r"not subscriptable|not iterable|must be tuple|expected Tensor as element|sequence|cat\(\)|of Tensors|non-iterable"
    r"|concatenate list \(not \"Tensor\"|'Tensor' and 'list'"
)


def dtypes(f: Failure) -> Iterator[Change]:
    """Numbers, masks and indices in place of each other, as the message asks for."""
    message = f.message
    for path, t in all_tensors(f.specs):
        if _WHOLE.search(message):
            if t.kind != "int":
                yield f.with_tensor(path, Tensor(t.shape[:2], "int", 16), 1.0)
                yield f.with_tensor(path, Tensor(t.shape, "int", 2), 1.3)
            else:
                yield f.with_tensor(path, Tensor(t.shape), 1.1)
        yield from _lengths(f, path, t)
        if re.search(r"[Bb]ool|mask|bitwise", message):
            yield f.with_tensor(path, replace(t, kind="float" if t.kind == "bool" else "bool"), 1.2)
        if re.search(r"[Ff]loat|Half|Double", message) and t.kind != "float":
            yield f.with_tensor(path, Tensor(t.shape), 0.9)
            if t.kind == "int":  # a part of it may still be cut down to an index
                yield f.with_tensor(path, Tensor(t.shape, "unit"), 1.0)
        if re.search(r"out of range|out of bounds|must be smaller than num_classes", message) and t.kind == "int":
            size = re.search(r"for dimension \d+ with size (\d+)", message)
            told = [int(size[1])] if size else []
            fewer = dict.fromkeys(n for n in (*told, t.high // 2, t.high // 4, 2) if 2 <= n < t.high)
            yield from (f.with_tensor(path, replace(t, high=n), 0.3 + 0.1 * j) for j, n in enumerate(fewer))
        if "out of range in self" in message and t.kind == "float":  # a part of it is cut down to an index
            yield f.with_tensor(path, replace(t, kind="unit"), 0.25 if _below_zero(f) else 1.35)
        if re.search("between 0 and 1|p_in >= 0 && p_in <= 1", message) and t.kind == "float":
            yield f.with_tensor(path, replace(t, kind="unit"), 0.0)


def _below_zero(f: Failure) -> bool:
    """Whether an index is: it was drawn as other numbers are."""
    x = f.arguments[0] if f.arguments else None
    return isinstance(x, torch.Tensor) and not x.is_meta and bool((x < 0).any())


def _lengths(f: Failure, path: tuple[int, ...], t: Tensor) -> Iterator[Change]:
    """Lengths of sequences are no more than the sequences have, and one is as long as they are."""
    named = _LENGTHS.search(f.names()[path[0]]) and _SIZES.search(f.message)
    if t.kind not in ("int", "full") or not t.shape or not (named or "lengths" in f.message.lower()):
        return
    others = [other for at, other in all_tensors(f.specs) if at != path]
    longest = sorted({n for other in others for n in other.shape[1:]})
    first = sorted({other.shape[0] for other in others if other.shape and other.kind == "int"}.difference(longest))
    said = [n for n in map(int, re.findall(r"\d+", f.message)) if 1 < n <= MAX_LENGTH] if named else []
    for j, n in enumerate(dict.fromkeys([*longest, *first, *said])):
        if (t.kind, t.high) != ("full", n):
            yield f.with_tensor(path, Tensor(t.shape[:1], "full", n), 0.1 + 0.1 * j)
    turned = {other.shape[:2] for other in others if len(other.shape) > 1 and other.shape[1:2] != t.shape[:1]}
    for length, batch in sorted(turned):  # sequences that are laid down time first
        yield f.with_tensor(path, Tensor((batch,), "full", length), 0.3)


def containers(f: Failure) -> Iterator[Change]:
    """Numbers, lists and tensors in place of each other."""
    message, names = f.message, f.names()
    for i, spec in enumerate(f.specs):
        if isinstance(spec, Tensor) and "view(): argument 'size'" in message:  # its items are sizes, as of an image
            yield f.with_tensor((i,), Plain((SIDE, SIDE)), 0.3)
            yield f.with_tensor((i,), Plain((math.isqrt(TOKENS),) * 2), 0.2)
        if isinstance(spec, Tensor) and _NUMBER.search(message):
            likely = 0.0 if names[i] in message or i else 0.3
            options = dict.fromkeys([*_numbers(names[i]), 4, 1, None, False])
            yield from (f.with_tensor((i,), Plain(v), 0.7 + likely + 0.2 * j) for j, v in enumerate(options))
        elif isinstance(spec, Tensor) and _SEVERAL.search(message):
            yield f.with_tensor((i,), Many((spec,) * 3), 1.0)
            yield f.with_tensor((i,), Many((spec,) * 2, "tuple"), 1.2)
        elif isinstance(spec, Many) and spec.items and not spec.keys and "index out of range" in message:
            yield f.with_tensor((i,), replace(spec, items=(*spec.items, spec.items[-1])), 0.5)
        elif isinstance(spec, Many) and len(spec.items) > 1 and not spec.keys and "UnboundLocalError" in message:
            yield from (f.with_tensor((i,), replace(spec, items=spec.items[:n]), 0.5 - 0.1 * n) for n in (1, 2))
        elif isinstance(spec, Many) and spec.items and "object has no attribute" in message:
            yield f.with_tensor((i,), spec.items[0], 0.8)
        elif isinstance(spec, Plain) and type(spec.value) is int and (sizes := differing(message)):
            one, other = sizes
            if spec.value in sizes and one != other:
                yield f.with_tensor((i,), Plain(one + other - spec.value), 0.1)
        elif isinstance(spec, Plain) and re.search(r"'int'|'float'|'bool'|NoneType|not int", message):
            yield f.with_tensor((i,), Tensor((BATCH, FEATURES)), 1.0)
            yield f.with_tensor((i,), Tensor((BATCH, TOKENS, FEATURES)), 1.1)


def _numbers(name: str) -> list[int]:
    """Numbers that a parameter of this name is usually given."""
    usual = (v for v in values(name, "int", Uses()) if re.fullmatch(r"-?\d+", v))
    return [ast.literal_eval(v) for v in usual][:2]


def classes(f: Failure) -> Iterator[Change]:
    """Targets of a classification are numbers of classes, one for each place of the prediction."""
    if f.function not in ("cross_entropy", "nll_loss", "nll_loss_nd") or len(f.arguments) < 2:
        return
    prediction, target = f.arguments[:2]
    if not isinstance(prediction, torch.Tensor) or prediction.dim() < 1:
        return
    if isinstance(target, torch.Tensor) and target.dim() == 1 and prediction.dim() > 2:
        for path, t in f.of_shape(prediction):
            yield f.with_tensor(path, replace(t, shape=t.shape[:2]), 0.0)
    shape = tuple(prediction.shape)
    number = shape[1] if len(shape) > 1 else shape[0]
    places = (shape[0], *shape[2:]) if len(shape) > 1 else ()
    for path, _ in f.of_shape(target):
        yield f.with_tensor(path, Tensor(places, "int", number), 0.0)
    yield from _flattened(f, prediction, number)
    if "defined either for all" in f.message:  # the weights of the classes
        known = {tuple(t.shape) for t in (prediction, target) if isinstance(t, torch.Tensor)}
        yield from (f.with_tensor(p, Tensor((number,), "unit"), 0.0) for p, t in all_tensors(f.specs)
                    if t.shape not in known and t.kind != "int")  # fmt: skip


def _flattened(f: Failure, prediction: torch.Tensor, number: int) -> Iterator[Change]:
    """Both were flattened: the target has a number for each place of the input that became rows of the prediction."""
    found = all_tensors(f.specs)
    for (_, t), (path, _) in itertools.permutations(found, 2):
        rows = math.prod(t.shape) == prediction.numel() and prediction.dim() == 2
        if rows and len(t.shape) > 2 and number in (t.shape[1], t.shape[-1]):
            places = (t.shape[0], *t.shape[2:]) if t.shape[1] == number else t.shape[:-1]
            yield f.with_tensor(path, Tensor(places, "int", number), 0.1)


def special(f: Failure) -> Iterator[Change]:
    """Numbers that stand for padding or an end were counted or taken out, so rows differ: there are to be none.

    ``tokens[tokens != eos].view(batch, -1)``, and weights for as many words as are not 0.
    """
    if not RAGGED.search(f.message):
        return
    words = [(path, t) for path, t in all_tensors(f.specs) if t.kind == "int" and not t.low and t.high > 2 * SPECIAL]
    every = f.specs
    for path, t in words:
        every = edited(every, path, replace(t, low=SPECIAL))
        yield f.with_tensor(path, replace(t, low=SPECIAL), 0.3)
    if len(words) > 1:
        yield 0.1, every


def attributes(f: Failure) -> Iterator[Change]:
    """An input is a record of which an attribute is read that it has not."""
    match = re.search(r"'([\w.]+)' object has no attribute '([a-zA-Z]\w*)'", f.message)
    if not match:
        return
    kind, name = match[1].split(".")[-1], match[2]
    for i, spec in enumerate(f.specs):
        if isinstance(spec, Many) and spec.kind == "record" and kind == "SimpleNamespace" and name not in spec.keys:
            for j, option in enumerate(part(f.module, name)[:4]):
                more = replace(spec, items=(*spec.items, option), keys=(*spec.keys, name))
                yield f.with_tensor((i,), more, 0.2 * j)
        elif isinstance(spec, Tensor) and kind == "Tensor" and OWN.fullmatch(name):
            yield f.with_tensor((i,), graph(), 0.1 * i)
        elif isinstance(spec, Tensor) and kind == "Tensor":
            for j, option in enumerate(part(f.module, name)[:2]):
                yield f.with_tensor((i,), Many((option,), "record", (name,)), 0.7 + 0.2 * j + 0.1 * i)


def maps(f: Failure) -> Iterator[Change]:
    """A part of an image is to be an image, ``inputs[3]``, or they are turned: there are several, which are a list."""
    for path, t in all_tensors(f.specs) if _TURNED in f.message else ():
        if len(path) == 1 and len(t.shape) > 3:
            yield f.with_tensor(path, Many((replace(t, shape=t.shape[-4:]),) * LEVELS), 0.0)
    match = _LACKS_BATCH.search(f.message)
    got, wanted = map(int, match.groups()) if match else (0, 0)
    for path, t in all_tensors(f.specs):
        if len(path) == 1 and len(t.shape) == wanted == got + 1:
            yield f.with_tensor(path, Many((t,) * LEVELS), 0.0)
    yield from _pairs(f)


def _pairs(f: Failure) -> Iterator[Change]:
    """A part of an input is to have as many axes as it has: it is taken apart, ``sin, cos = map(turned, angles)``."""
    match = _NAMED_AXES.search(f.message)
    shape = tuple(map(int, re.findall(r"\d+", match[1]))) if match else ()
    wanted = len(re.findall(r"\[[^\[\]]*\]", match[2])) if match else 0
    for path, t in all_tensors(f.specs) if wanted == len(shape) + 1 else ():
        if len(path) == 1 and t.shape[1:] == shape:
            yield from (f.with_tensor(path, Many((t,) * n, "tuple"), 0.1 * i) for i, n in enumerate((2, LEVELS)))


def taken_apart(f: Failure) -> Iterator[Change]:
    """A dimension is taken apart into variables, ``x, y, z = points.unbind(-1)``: it is as long as these are many."""
    match = _UNPACKS.search(f.message)
    if f.function != "unbind" or match is None or not f.arguments or not isinstance(f.arguments[0], torch.Tensor):
        return
    whole, rest = f.arguments[0], [a for a in f.arguments[1:] if type(a) is int]
    back = (rest[0] if rest else 0) % max(whole.dim(), 1) - whole.dim()  # the place from the end
    for path, t in dict([*f.of_shape(whole), *f.from_input(whole)]).items():
        if len(t.shape) >= -back:
            yield f.with_tensor(path, t.resized(len(t.shape) + back, int(match[1])), 0.0)


def rows(f: Failure) -> Iterator[Change]:
    """Of a batch that goes by the names of its columns some have one number a row, and others a sequence.

    What comes of them is joined: those whose part has a dimension too many are to have one less.
    """
    match = _RANKS.search(f.message)
    for i, spec in enumerate(f.specs) if match else ():
        if not isinstance(spec, Many) or spec.kind != "dict":
            continue
        long = [j for j, s in enumerate(spec.items) if isinstance(s, Tensor) and len(s.shape) > 1]
        for cost, chosen in enumerate([long, *([j] for j in long if len(long) > 1)]):
            items = [
                replace(s, shape=s.shape[:1]) if j in chosen and isinstance(s, Tensor) else s
                for j, s in enumerate(spec.items)
            ]
            if chosen:
                yield f.with_tensor((i,), replace(spec, items=tuple(items)), 0.1 * cost - 0.5)


def pairs(f: Failure) -> Iterator[Change]:
    """What is seen as complex numbers has two real ones for each: in a dimension of their own, most likely."""
    x = f.arguments[0] if f.function == "view_as_complex" and f.arguments else None
    for path, t in dict([*f.of_shape(x), *f.from_input(x)]).items():
        if t.shape and t.shape[-1] != 2:
            yield f.with_tensor(path, replace(t, shape=(*t.shape, 2)), 0.0)
            yield f.with_tensor(path, t.resized(len(t.shape) - 1, 2), 0.3)


def states(f: Failure) -> Iterator[Change]:
    """An input is what a recurrent layer starts from: a tensor of its layers, or the two of an LSTM."""
    if not re.search(r"\bhx\b|hidden", f.message):
        return
    layer = next((m for m in f.module.modules() if isinstance(m, nn.RNNBase)), None)
    first = next((t for _, t in all_tensors(f.specs) if len(t.shape) > 1), None)
    if layer is None or first is None:
        return
    count = layer.num_layers * (2 if layer.bidirectional else 1)
    sizes = first.shape[:2] if layer.batch_first else first.shape[1::-1]
    for batch in dict.fromkeys(sizes):
        state = Tensor((count, batch, layer.hidden_size))
        given = Many((state, state), "tuple") if isinstance(layer, nn.LSTM) else state
        yield from (f.with_tensor((i,), given, 0.2 + 0.1 * i) for i in range(1, len(f.specs)))


def flags(f: Failure) -> Iterator[Change]:
    """It answers with words or numbers: a flag of its own may ask for the tensors."""
    if f.message == NO_TENSOR:
        yield from ((0.3 + 0.1 * i, specs) for i, specs in enumerate(flagged(f.module, f.specs)))


def optional(f: Failure) -> Iterator[Change]:
    """A parameter that may be left out has to be given; what an embedding looks up are indices."""
    if f.function == "embedding" and len(f.arguments) > 1 and f.arguments[0] is None:
        number = f.arguments[1].shape[0] if isinstance(f.arguments[1], torch.Tensor) else 2
        for j, shape in enumerate(((_batch(f),), (_batch(f), TOKENS))):
            yield from ((j - 3.0, specs) for specs in given_last(f.module, f.specs, Tensor(shape, "int", number)))
    if wide := _PRODUCT.search(f.message):  # what is attended to, perhaps, and not the input itself
        attended = Tensor((_batch(f), TOKENS, int(wide[1])))
        yield from ((0.6 + 0.1 * i, specs) for i, specs in enumerate(given_last(f.module, f.specs, attended)))
    if _LACKING.search(f.message):
        others = following(f.module, len(f.specs)) or ([f.specs[-1]] if f.specs and takes_any(f.module) else [])
        yield from ((0.8 + 0.1 * i, (*f.specs, more)) for i, more in enumerate(others))
    few = re.search(r"not enough values to unpack \(expected (\d), got (\d)\)", f.message)
    if few and int(few[2]) == len(f.specs) and takes_any(f.module):  # ``preds, target = inputs``
        yield 0.2, (*f.specs, *f.specs[-1:] * (int(few[1]) - len(f.specs)))
    for j, name in enumerate(positional(f.module.forward)[len(f.specs) :] if _ASKS.search(f.message) else ()):
        if re.search(rf"\b{name}\b", f.message):  # should provide either lengths or mask
            yield from ((0.2 + 0.1 * (i + j), specs) for i, specs in enumerate(up_to(f.module, f.specs, name)))


def _batch(f: Failure) -> int:
    return next((t.shape[0] for _, t in all_tensors(f.specs) if t.shape), BATCH)


KINDS = (
    dtypes, containers, classes, special, constrained, flaws, attributes, keys, mappings, maps, taken_apart, rows,
    pairs, states, flags, optional, truths, unpacked_by_name, single, listed,
)  # fmt: skip

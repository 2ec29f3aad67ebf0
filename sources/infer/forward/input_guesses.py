"""First guesses for the inputs of ``forward``, from their names, annotations and uses, and from the module's layers."""

from __future__ import annotations

import functools
import inspect
import keyword
import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, cast
from weakref import WeakKeyDictionary

import torch
from torch import nn

from sources.hints.layouts import Sizes, told
from sources.infer.forward.consumers import (
    as_given,
    by_place,
    consumed,
    decides,
    each,
    extents,
    first_layers,
    handed_on,
)
from sources.infer.forward.graphs import beside, edge_list, ends, graphs, with_rows
from sources.infer.forward.initial_states import initial
from sources.infer.forward.keyed import by_names, keyed, of_each, of_objects, with_words
from sources.infer.forward.labels import matched
from sources.infer.forward.passed_on import is_matrix, of_methods
from sources.infer.forward.plain import chosen, plain
from sources.infer.forward.sides import as_made_for
from sources.infer.forward.spaces import shown
from sources.infer.forward.unpacked import unpacked
from sources.infer.forward.usual_shapes import channels_of, features_of, ranks_told, shaped, spread_over, usual_ranks
from sources.infer.inputs import BATCH, SIDE, SPATIAL, TOKENS, Many, Plain, Spec, Tensor, parameters

LEVELS = 5  # of a pyramid
MAPS = 4  # of several sizes, to which attention is paid at once
BOXES = 16  # of a few images
_FED = re.compile(r"(input|in|feat(ure)?|mel)_?(dim|size|features)|i_?dim|n_?mels?(_channels)?|num_(features|mel_bins)")
MAX_SERIES = 1024  # steps, and variables, of one
_LENGTH = re.compile(r"(seq|input|context|history|lookback|window)_?(len(gth)?|size)|look_?back|n_?steps_?in|window")
_NO_BATCH = r"(?<!batch_size = )(?<!batch = )(?<!bsz = )(?<!bs = )(?<!B = )"  # what is counted next is no batch
_OF_WORDS = re.compile(r"(\w+_)?(seqs?|sequences?|src|tgt|trg|caps?|captions?|sents?|utterances?|questions?|docs?)")
_VARIABLES = re.compile(
    r"enc_in|c_in|n_?(vars?|variates|features|series)|num_?(vars?|variates|features|series|nodes)|channels?"
)


def takes_any(module: nn.Module) -> bool:
    """Whether ``forward`` takes as many inputs as it is given."""
    return any(p.kind is p.VAR_POSITIONAL for p in parameters(module.forward))


def guesses(module: nn.Module, known: Mapping[str, int] = MappingProxyType({})) -> list[list[Spec]]:
    """For every required parameter of ``forward``, specs worth trying, best first.

    ``known`` are sizes that the constructor was given, by name.
    """
    return of_parameters(module, known, parameters(module.forward))


def of_parameters(module: nn.Module, known: Mapping[str, int], wanted: Sequence[inspect.Parameter]) -> list[list[Spec]]:
    """For each of these parameters of ``forward``, specs to try, likeliest first."""
    function = _does_the_work(module)
    text = source(function)
    above = re.sub(r"(?m)^\s*#+", "", _comments(function))
    documentation = "\n".join(filter(None, [inspect.getdoc(function), above, _documentation(type(module))]))
    own = {name: value for name, value in vars(module).items() if type(value) is int}
    layers = first_layers(module)
    sizes = Sizes({**own, **known}, channels_of(layers), _fed(known, layers) or features_of(layers))
    hints = {name: str(p.annotation) for name, p in inspect.signature(function).parameters.items()}
    found = []
    for p in wanted:
        p = p.replace(annotation=hints.get(p.name, p.annotation))
        inner = handed_on(module, p.name, text)
        handed = of_parameters(inner, {}, parameters(inner.forward)[:1])[0] if inner else []
        if inner and as_given(p.name, text) is text:
            found.append(handed)
            continue
        said = told(p.name, documentation, as_given(p.name, text), str(p.annotation))
        shapes = [sizes.shape(shape) for shape in said or of_methods(type(module), p.name, text)]
        image = [t for t in handed[:1] if isinstance(t, Tensor) and len(t.shape) > 3]  # of patches it tells no rank
        found.append(list(dict.fromkeys([*image, *_of_parameter(module, p, text, shapes)])))
    found = beside(module, [p.name for p in wanted], text, found, {**own, **known})
    found = as_made_for(module, known, found)
    return [_of_series(options, known) for options in found]


def _fed(known: Mapping[str, int], layers: Sequence[nn.Module]) -> int:
    """The features of a sequence, as the constructor was told, where an image is made of it: 0 where nothing tells."""
    first = next((m for m in layers if not m._modules and m._parameters), None)
    return next((v for n, v in known.items() if isinstance(first, nn.Conv2d) and _FED.fullmatch(n)), 0)


@functools.lru_cache(maxsize=256)
def _comments(function: Any) -> str:
    """What stands in comments right above a function."""
    try:
        return inspect.getcomments(function) or ""
    except (OSError, TypeError):
        return ""


def _documentation(kind: type[nn.Module]) -> str:
    """What a class says of itself, or of the layer that it is a kind of; containers speak of what they may hold."""
    told = (c for c in kind.__mro__ if c.__dict__.get("__doc__"))
    own = next(told, nn.Module)
    return "" if own in _CONTAINERS else inspect.cleandoc(own.__doc__ or "")


# How far the training is that a loss changes with: a number, whatever is done with it.
_OF_TRAINING = re.compile(r"(global|current|cur|train|n)?_?(step|epoch|iter|iteration|optimizer)s?(_?(idx|num|no))?")
_CONTAINERS = (nn.Module, nn.Sequential, nn.ModuleList, nn.ModuleDict)


def _of_series(options: list[Spec], known: Mapping[str, int]) -> list[Spec]:
    """The options, a series of as many steps and variables as are ``known`` first, where they begin with a sequence."""
    sizes = {n: v for n, v in known.items() if 1 < v <= MAX_SERIES}
    length, width = (next((v for n, v in sizes.items() if p.fullmatch(n)), 0) for p in (_LENGTH, _VARIABLES))
    first = options[0] if length and width and options else None
    fits = isinstance(first, Tensor) and first.kind == "float" and len(first.shape) in (2, 3)
    return list(dict.fromkeys([Tensor((BATCH, length, width)), *options])) if fits else options


def _does_the_work(module: nn.Module) -> Any:
    """The forward of a module, or the function or method that a forward only wraps."""
    forward = type(module).forward
    code = getattr(forward, "__code__", None)
    if code is not None and len(code.co_names) == 1:
        method = getattr(type(module), code.co_names[0], None)
        function = forward.__globals__.get(code.co_names[0]) if not module._modules else None
        if inspect.isfunction(function) or inspect.isfunction(function := method):
            return function
    return forward


@functools.lru_cache(maxsize=256)
def source(function: Any) -> str:
    """The source text of a function or class of the task, "" where there is none; each failure asks anew."""
    try:
        return textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        return ""


def _of_parameter(
    module: nn.Module, parameter: inspect.Parameter, text: str, shapes: list[tuple[int, ...]]
) -> list[Spec]:
    name, hint = parameter.name, str(parameter.annotation)
    if known := graphs(module, name, text):
        return known
    low = name.lower()
    ranks = ranks_told(name, as_given(name, text)) or [2] * is_matrix(type(module), name, text)
    found = _by_use(module, parameter, text)
    said = {len(shape) for shape in shapes}  # the layer knows how wide an input is, its rank the text knows better
    taken = sorted(consumed(module, name, text), key=lambda t: len(t.shape) not in said)
    found += [*taken, *(Tensor(shape) for shape in shapes if 1 <= len(shape) <= 6)]
    found += [shaped(module, rank) for rank in ranks]
    common: list[Spec] = [shaped(module, rank) for rank in usual_ranks(module, text)]
    ints: list[Spec] = [Tensor((BATCH, TOKENS), "int", 16), Tensor((BATCH,), "int", 16)]
    if "mask" in low:
        common = [*_masks(module), Plain(None), *common]
        found = [*(replace(s, kind="bool") for s in found if isinstance(s, Tensor)), *found]
    elif _OF_TRAINING.fullmatch(low) and not ranks:
        found = [Plain(8), *found]  # one number, though a schedule is looked up by it
    elif _is_number(module, low):
        found = [Tensor((), "unit"), *found]
    elif re.search(
        r"ids?$|(^|_)inds?$|^durations?$|idx|indices|index|tokens?$|timesteps?$|^t$|captions|words|^texts?$|sentences?$|lengths?$|(^|_)len$|lens$",
        low,
    ):
        told = [Tensor(shape, "int", 16) for shape in shapes]
        told += [Tensor((BATCH, *[MAPS] * (rank - 2), TOKENS), "int", 16) for rank in ranks if rank > 2]
        if re.search(r"len(gth)?s$|(^|_)len$", low):
            ints.insert(0, Tensor((BATCH,), "full", TOKENS))
        common = [*ints, *common]
        found = [*told, *found]
    elif _OF_WORDS.fullmatch(low) and any(isinstance(m, nn.Embedding) for m in module.modules()):
        common = [*ints, *common]  # whatever is done with them before they are looked up
    elif re.fullmatch(r"batch_?size|bsz?", low):
        found.insert(0, Plain(BATCH))
    elif re.fullmatch(r"rois?", low):  # the number of its image and two corners of each
        found.insert(0, Tensor((BOXES, 5), "unit"))
    elif re.search(r"spatial_shapes?$", low):  # the sides of maps that are laid end to end
        found.insert(0, Tensor((MAPS, 2), "full", math.isqrt(TOKENS)))
    elif re.search(
        r"cross_entropy|nll_loss|CrossEntropy|NLLLoss|scatter|one_hot|\.long\(\)|arange", text
    ) and re.search(r"targets?$|^y$|labels?$", low):
        common = [ints[1], ints[0], *common]
    elif re.search(r"target|^y$|labels?$", low):
        common = [*common, *ints]
        if not any(isinstance(t, Tensor) and t.kind == "int" for t in found):
            found = [*_words(module, shapes), *found]
    elif re.search(r"^(h|w|height|width|size|n|k|step|num_.*|.*_size)$", low) and not ranks:
        number = Plain(SIDE if low in ("h", "w", "height", "width") else 8)
        state = low == "h" and not re.search(r"(?i)\bw\b", text)  # no height: there is no width beside it
        common = [*common, number] if state else [number, *common]
    found = [*edge_list(name, text), *ends(name), *found, *_several(name, hint, text, common)]
    return list(dict.fromkeys(_squeezed(name, as_given(name, text), [*found, *common, *ints, Plain(4)])))


def _is_number(module: nn.Module, name: str) -> bool:
    """Whether an input is one number: what logits are scaled by, or a time beside a state at that.

    As solvers of differential equations give the time.
    """
    if name != "t":
        return re.fullmatch(r"(\w+_)?logit_(scale|bias)", name) is not None
    taken = [p.name for p in parameters(module.forward)]
    return taken[0] == "t" and len(taken) > 1 and re.fullmatch(r"x|y|z|h|s|u|states?", taken[1]) is not None


def _squeezed(name: str, text: str, options: list[Spec]) -> list[Spec]:
    """The options with one in the dimension that the text takes away: ``x.squeeze(-1)`` leaves others as they are."""
    found = re.search(rf"\b{re.escape(name)}\.squeeze\((?:dim ?= ?)?(-?\d)\)", text)
    if found is None:
        return options
    at = int(found[1])
    return [
        t.resized(at % len(t.shape), 1) if isinstance(t, Tensor) and -len(t.shape) <= at < len(t.shape) else t
        for t in options
    ]


def _by_use(module: nn.Module, parameter: inspect.Parameter, text: str) -> list[Spec]:
    """What the uses of a parameter, and its type hint, tell of it."""
    name, kind = parameter.name, cast("Any", type(module))  # of which mypy does not see that it is hashable
    whole = functools.partial(source, kind)
    found: list[Spec] = [
        *shown(module, name),
        *with_rows(keyed(name, with_words(name, text, module), functools.partial(_by_key, module), whole)),
        *of_each(name, text, whole),
        *by_names(name, whole(), module, shaped(module, len(SPATIAL[2]) + 2)),
        *_recorded(module, parameter, text),
        *plain(name, str(parameter.annotation)),
        *chosen(name, text),
        *matched(name, text),
        *unpacked(module, name, text),
        *initial(module, name),
    ]
    if re.search(rf"pack_padded_sequence\((?:[^()]|\([^()]*\))*?,\s*{re.escape(name)}\b", text):
        found.append(Tensor((BATCH,), "full", TOKENS))  # each as long as the longest
    if spread_over(text, re.escape(name)):
        found.append(Tensor((BATCH,), "unit"))
    found += each(module, name, text)
    found += extents(name, text, usual_ranks(module, text)[0])
    found += [*by_place(module, name, text), *_indexed(module, name, text)]
    found += _levels(module, name, text)
    if re.search(rf"[\w)]\[(?:[^\[\]]*, ?)?{re.escape(name)}(?:, ?[^\[\]]*)?\]", text.partition(":\n")[2]):
        found += [Tensor((BATCH,), "int", 2), Tensor((BATCH, TOKENS), "int", 2)]
    found += [Plain("cpu")] if name.lower() == "device" else []
    found += [Plain(False), Plain(True)] if decides(module, name, text) else []
    return found


def _several(name: str, hint: str, text: str, common: list[Spec]) -> list[Spec]:
    """As many of the likeliest as a text tells, where it goes through them; nothing where it does not."""
    if not re.search(r"list|tuple|sequence", hint, re.I) and not re.search(
        rf"\bin (?:enumerate\()?{name}\b|{_NO_BATCH}len\({name}\)|[(,]\s*\*{name}\s*[,)]", text
    ):
        return []
    said = re.search(rf"len\({name}\) == ([1-8])\b", text)
    return [Many(tuple(common[:1]) * (int(said[1]) if said else 3))]


def _by_key(module: nn.Module, key: str, text: str) -> Spec:
    """What a dictionary holds by a key: as it is documented, or as an input that is called so would be."""
    function = _does_the_work(module)
    documentation = "\n".join(filter(None, [inspect.getdoc(function), _documentation(type(module))]))
    layers = first_layers(module)
    sizes = Sizes({n: v for n, v in vars(module).items() if type(v) is int}, channels_of(layers), features_of(layers))
    shapes = [sizes.shape(shape) for shape in told(key, documentation, "")]
    for usual in of_objects(key):
        return replace(usual, shape=shapes[0]) if shapes else usual
    called = re.search(rf"\bself\.(\w+)\({re.escape(key)}[,)]", text)
    table = module._modules.get(called[1]) if called else None
    if isinstance(table, nn.Embedding):
        return Tensor(shapes[0] if shapes else (BATCH, TOKENS), "int", table.num_embeddings)
    return _of_parameter(module, _parameter(key), text, shapes)[0]


def _parameter(name: str) -> inspect.Parameter:
    """What takes an input of a name, which as a key may be none: ``features["0"]``."""
    plain = name.isidentifier() and not keyword.iskeyword(name)
    return inspect.Parameter(name if plain else "x", inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _masks(module: nn.Module) -> list[Spec]:
    """What a mask may be; beside a convolution along one dimension it most likely has one channel, or is an image."""
    shapes = [(BATCH, TOKENS), (BATCH, TOKENS, TOKENS), (TOKENS, TOKENS), (BATCH, 1, TOKENS, TOKENS)]
    layers = first_layers(module)
    along = any(isinstance(m, nn.Conv1d) for m in layers)
    shapes.insert(0 if along else len(shapes), (BATCH, 1, TOKENS))
    if any(isinstance(m, nn.Conv2d) for m in layers) and not any(isinstance(m, nn.Linear) for m in layers):
        shapes = [(BATCH, SIDE, SIDE), (BATCH, 1, SIDE, SIDE), *shapes]
    return [Tensor(shape, "bool") for shape in shapes]


def _words(module: nn.Module, shapes: Sequence[tuple[int, ...]]) -> list[Spec]:
    """Numbers of words, where a module looks some up first."""
    table = next((m for m in first_layers(module) if isinstance(m, nn.Embedding)), None)
    if table is None:
        return []
    return [Tensor(shape, "int", table.num_embeddings) for shape in shapes if len(shape) < 3]


def _levels(module: nn.Module, name: str, text: str) -> list[Spec]:
    """A list of maps, each half as large as the one before, where the text only takes items, of varying places."""
    body = text.partition(":\n")[2]
    places = re.findall(rf"\b{re.escape(name)}\[([^\[\]:,]+)\]", body)
    varying = any(not re.fullmatch(r"\d+|['\"].*", place.strip()) for place in places)
    if not varying or len(places) < len(re.findall(rf"\b{re.escape(name)}\b", body)):
        return []
    first = shaped(module, usual_ranks(module, text)[0])
    from_end = [int(place) for place in places if re.fullmatch(r"-\d+", place.strip())]
    count = -min(from_end) if len(set(from_end)) > 1 and len(from_end) == len(places) else LEVELS
    if len(first.shape) != 4:
        return [Many((first,) * count)]
    sides = [2 * SIDE >> i for i in range(count)]
    return [Many(tuple(replace(first, shape=(*first.shape[:2], n, n)) for n in sides)), Many((first,) * count)]


def _recorded(module: nn.Module, parameter: inspect.Parameter, text: str) -> list[Spec]:
    """A record with the attributes that the text reads, where tensors have none of these names: a graph, a batch."""
    body = text.partition(":\n")[2]
    read = re.findall(rf"\b{re.escape(parameter.name)}\.([a-z]\w*)\b(?! ?\()", body)
    known = tuple(dict.fromkeys(name for name in read if name not in ("shape", "device", "dtype")))
    if not known or all(hasattr(torch.Tensor, name) for name in known):
        return []
    inner = re.sub(rf"\b{re.escape(parameter.name)}\.(?=[a-z])", "", text)  # ``obs.obs`` ends there
    parts = [_of_parameter(module, inspect.Parameter(n, parameter.kind), inner, [])[0] for n in known]
    return [Many(tuple(parts), "record", known)]


_parts: WeakKeyDictionary[nn.Module, dict[str, list[Spec]]] = WeakKeyDictionary()


def part(module: nn.Module, name: str) -> list[Spec]:
    """Specs for what a module takes out of one of its inputs by name, best first; remembered: each failure asks."""
    known = _parts.setdefault(module, {})
    if name not in known:
        text = source(_does_the_work(module))
        known[name] = [*of_objects(name), *_of_parameter(module, _parameter(name), text, [])]
    return known[name]


def _indexed(module: nn.Module, name: str, text: str) -> list[Spec]:
    """A tuple, where the text only takes its parts."""
    body = as_given(name, text).partition(":\n")[2]
    if names := _unpacked(name, body):
        first = shaped(module, usual_ranks(module, text)[0])
        named = [
            Plain(None) if n in ("", "_") else first if n == name or _unpacked(n, body) else part(module, n)[0]
            for n in names
        ]
        same = [Many((t,) * len(names), "tuple") for t in (Tensor((BATCH, TOKENS), "int", 16), first)]
        return [Many(tuple(named), "tuple"), *same]
    parts = re.findall(rf"\b{re.escape(name)}\[(\d)\]", body)
    if not parts or len(parts) < len(re.findall(rf"\b{re.escape(name)}\b", body)):
        return []
    count = max(2, 1 + max(map(int, parts)))
    first = shaped(module, usual_ranks(module, text)[0])
    alike: list[Spec] = [Many((t,) * count, "tuple") for t in (Tensor((BATCH, TOKENS), "int", 16), first)]
    called = (re.search(rf"\b(\w+) ?= ?{re.escape(name)}\[{i}\]", body) for i in range(count))
    known = [m[1] if m and m[1] != name else "" for m in called]
    mixed = Many(tuple(part(module, n)[0] if n else first for n in known), "tuple")
    return [mixed, *alike] if any(known) else alike


def _unpacked(name: str, body: str) -> list[str]:
    """The names that the text gives to the parts of a tuple, "" to those that it leaves out: ``a, b = batch[2:]``."""
    pattern = rf"^\s*\(?\s*(\w+(?:,\s*\w+)+),?\s*\)? = {re.escape(name)}(?:\[(\d*):\])?\s*(?:#.*)?$"
    found = re.search(pattern, body, re.M)
    return [""] * int(found[2] or 0) + re.findall(r"\w+", found[1]) if found else []

"""Other arguments and inputs in place of ones that are too large, too deep or do not fit."""

from __future__ import annotations

import ast
import inspect
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from sources.infer.forward.influence import differing
from sources.infer.inputs import Specs, all_tensors, edited

Arguments = dict[str, str]  # parameter, or "config.attribute" -> expression
LARGE_COUNT = 8  # a number from which on it may be too many layers
MAX_WIDTH = 4096  # of channels that arguments are given to make two tensors fit
_WIDTH = re.compile(
    r"^(\w*_)?(dim|dims|width|channels|planes|filters|features|hidden(_size)?|d_model|chn?|n[cf]|ngf|ndf|units)$"
    r"|^(\w*_)?(rnn|lstm|gru|hid|emb(ed(ding)?)?|enc(od(er|ing))?|dec(oder)?|feat(ure)?|att|state|memory|latent|code|ffn?"
    r"|inner|intermediate|mlp|model|proj(ection)?)_?(size|dim)$|^(n|num)_?hid(den)?$|^ninp$|^vocab_size$|^(d|dim)_?(ff|feedforward|inner|hid)$"
)
# Parameters that say how many layers there are, or points of a cloud that are chosen, one after another.
_DEPTH = re.compile(
    r"^(depths?|(num_|n_?)?(hidden_)?(layers?|blocks?|blks?|stages)|(n|num)_(\w+_)?(layers?|blocks?|stages|modules)"
    r"|stage_?\d_(modules|blocks|layers|depth)|(n|num)_?points?)$"
)
_IMAGE = re.compile(r"^(im(age|g)|input(?!.*chan)|resolution)|_(im(age|g)|input|crop)_?(s|size|res\w*|[hw]\w*)$|^size$")
_IMAGES = re.compile(rf"{_IMAGE.pattern}|(out|output)_size$")
_SIZES = re.compile("|".join(f"(?:{p.pattern})" for p in (_WIDTH, _DEPTH, _IMAGES)))
_TOO_SMALL = re.compile(
    r"Expected more than 1 value per channel|Output size is too small|can't be greater than actual"
    r"|non-positive stride"  # of as many pixels as there are to each of some patches
)
_EMBEDDING = re.compile(
    r"^(word_?|w_?)?emb(ed(ding)?s?)?(_?(dim|size|width))?$|^(words?|glove|w2v|vec(tor)?s?)_?(dim|size)$"
)
_MATRIX = re.compile(r"(?<=torch\.randn)\((\d+), (\d+)\)")
WORDS = 1024
WORDS_OF = "vocab_size"  # of a record: its ids of padding and ends lie within
_COUNTS = re.compile(r"len|seq|max|num|steps|size|pos")
LEAST_LEFT = 64  # of what was less than nothing
VECTORS = f"({WORDS}, 64)"  # as ``sources.hints.guesses`` has them
FEW = 4  # steps of a sequence that a loop goes through
GROUPS = 32  # of channels that are normalised together: widths stay their multiples
MANY = 4  # items of a list whose number nothing tells
LARGER = 4  # times as many pixels on each side


def halved(specs: Specs, first: bool = False, masks: bool = False) -> Specs:
    """The inputs with all long dimensions but the channels halved; a long first one is a sequence.

    Of three dimensions the last are the channels, or, with ``first``, those after the batch: of waves and sequences.
    With ``masks``, what has the shape of another but for its channels has none.
    """
    every = all_tensors(specs)
    rest = {t.shape[:-1] for _, t in every if len(t.shape) == 3} if masks else ()
    for path, t in every:
        kept = 1 if len(t.shape) >= (3 if first else 4) else len(t.shape) - (t.shape not in rest)
        shape = tuple(n // 2 if i != kept and n >= (16 if i else 32) else n for i, n in enumerate(t.shape))
        specs = edited(specs, path, replace(t, shape=shape))
    return specs


def smaller(specs: Specs) -> list[Specs]:
    """What may be tried in place of inputs that are too large: one of a batch, half the steps or sides."""
    halves = (halved(specs), halved(specs, first=True), halved(specs, masks=True))
    return [*dict.fromkeys((of_one(specs), *halves))]


def shortened(specs: Specs) -> Specs:
    """The inputs with sequences of a few steps: what a loop goes through is each dimension but the channels, perhaps.

    Words have no channels; an image is no sequence.
    """
    for path, t in all_tensors(specs):
        kept = len(t.shape) - 1 if t.kind == "float" else len(t.shape)
        if 1 < len(t.shape) < 4:
            few = tuple(min(n, FEW) if i < kept else n for i, n in enumerate(t.shape))
            specs = edited(specs, path, replace(t, shape=few))
    return specs


def of_one(specs: Specs) -> Specs:
    """The inputs with one batch in place of many; beside images a row of integers has one for each of these."""
    every = all_tensors(specs)
    batch = next((t.shape[0] for _, t in every if t.shape), 1)
    images = any(len(t.shape) > 3 for _, t in every)
    for path, t in every:
        if t.shape and (t.shape[0] == batch or images and t.kind == "int" and len(t.shape) == 1):
            specs = edited(specs, path, t.resized(0, 1))
    return specs


def rescaled(arguments: Arguments, message: str) -> list[Arguments]:
    """Arguments that make two tensors, or a tensor and a layer, fit that differ in their channels.

    A residual connection asks for this, where the inner layers multiply a width that the input must already have; and
    a constant of the module, a mean of three colours, tells the number of channels.
    """
    if outside := re.search(r"index (\d+) is out of bounds for dimension \d+ with size (\d+)", message):
        return _within(arguments, outside[1], int(outside[2]))
    if lacking := re.search(r"negative dimension -(\d+)", message):
        more = int(lacking[1]) + LEAST_LEFT
        counts = sorted((n for n, t in arguments.items() if t.isdecimal()), key=lambda n: not _COUNTS.search(n))
        return [{**arguments, n: str(int(arguments[n]) + more)} for n in counts]
    match = re.search(r"tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at .* 1$", message)
    channels = re.search(r"to have (\d+) channels, but got (\d+) channels", message)
    match = match or channels
    one, other = map(int, match.groups()) if match else (1, 1)
    if channels and one == 1:  # a layer of one channel was written so: what made the others is to be one
        return [{**arguments, name: "1"} for name, text in arguments.items() if text == str(other)]
    if channels and one == 0:  # a call of the package that counts them knows of none
        return [{**arguments, name: str(other)} for name, text in arguments.items() if text == "0"]
    if min(one, other) < 2 or max(one, other) > MAX_WIDTH:
        return []
    return [
        {**arguments, name: str(new)}
        for old, new in ((min(one, other), max(one, other)), (max(one, other), min(one, other)))
        if new < old or new % old == 0
        for name, text in arguments.items()
        if text == str(old)
    ]


def _within(arguments: Arguments, index: str, size: int) -> list[Arguments]:
    """Arguments that are an index beyond what there is, each made another one that is not."""
    outside = [name for name, text in arguments.items() if text == index]
    inside = {name: str(i) for i, name in enumerate(outside[:size])}
    return [arguments | inside] if inside else []


def constructed(arguments: Arguments, message: str) -> list[Arguments]:
    """Arguments in which a layer's class, that a message names, is a layer.

    A class that is called with a tensor constructs one more layer, on which the next operator fails.
    """
    words = set(re.findall(r"\w+", message))
    classes = [n for n, text in arguments.items() if text.startswith("nn.") and text.removeprefix("nn.") in words]
    return [{**arguments, **{n: f"{arguments[n]}()" for n in classes}}] if classes else []


MAX_TIMES = 4  # parts that one size may be made of
MAX_REFITTED = 6


def refitted(arguments: Arguments, defaults: Mapping[str, str], message: str) -> list[Arguments]:
    """Arguments in which a number that one of two sizes that differ comes from is changed so that they are the same.

    Two arguments may say the same width, and were guessed apart.
    """
    one, other = differing(message) or (1, 1)
    if one == other or min(one, other) < 2 or max(one, other) > MAX_WIDTH:
        return []
    for times in range(1, MAX_TIMES + 1):
        found = [
            arguments | changed
            for old, new in ((one, other), (other, one))
            if old % times == 0 and new % times == 0
            for changed in _with_number({**defaults, **arguments}, old // times, new // times)
        ]
        if found:
            return found[:MAX_REFITTED]
    return []


def _with_number(arguments: Arguments, old: int, new: int) -> Iterator[Arguments]:
    """Arguments in whose expressions a number is replaced: where parts of several call it alike, then one at a time.

    The number 1 tells nothing.
    """
    plain = {n: t for n, t in arguments.items() if min(old, new) > 1 and not t.startswith("<") and str(old) in t}
    trees = {name: ast.parse(text, mode="eval") for name, text in plain.items()}
    found = [(name, word, node) for name, tree in trees.items() for word, node in _numbers(tree, old)]
    words = Counter(word for _, word, _ in found if word)
    for word in [w for w, count in words.items() if count > 1]:
        yield _replaced(trees, [(n, node) for n, w, node in found if w == word], new)
    for name, _, node in found:
        yield _replaced(trees, [(name, node)], new)


def _numbers(tree: ast.AST, number: int) -> Iterator[tuple[str, ast.Constant]]:
    """Where a number stands in an expression, and the keyword whose value it is, "" for others."""
    words = {id(k.value): k.arg or "" for k in ast.walk(tree) if isinstance(k, ast.keyword)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and type(node.value) is int and node.value == number:
            yield words.get(id(node), ""), node


def _replaced(trees: Mapping[str, ast.AST], places: Sequence[tuple[str, ast.Constant]], new: int) -> Arguments:
    """The expressions in which numbers were replaced; the trees stay as they are."""
    before = [(node, node.value) for _, node in places]
    for _, node in places:
        node.value = new
    changed = {name: ast.unparse(trees[name]) for name, _ in places}
    for node, value in before:
        node.value = value
    return changed


def embedded(arguments: Arguments) -> Arguments:
    """The arguments with vectors of words as wide as another one says: they come together."""
    said = (t for n, t in arguments.items() if _EMBEDDING.search(n.split(".")[-1]) and t.isdecimal())
    width = next(said, "")
    return {n: t.replace(VECTORS, f"({WORDS}, {width})") if width else t for n, t in arguments.items()}


def lengthened(arguments: Arguments, message: str) -> list[Arguments]:
    """Arguments with windows of as many dimensions as a convolution has: ``(3, 3)`` where it is over volumes."""
    match = re.search(r"a list of (\d) values to match .* dimensions, but got \w+=\[(\d+(?:, \d+)*)\]", message)
    have, wanted = (int(match[1]), match[2].count(",") + 1) if match else (0, 0)
    longer = dict(arguments)
    for name, text in arguments.items():
        numbers = re.findall(r"-?\d+", text) if re.fullmatch(r"[(\[][-\d, ]+[)\]]", text) else []
        if have and len(numbers) == have:
            longer[name] = str(tuple(map(int, (numbers * wanted)[:wanted])))
    return [longer] if longer != arguments else []


def enlarged(arguments: Arguments, message: str, usual: Mapping[str, str] = MappingProxyType({})) -> list[Arguments]:
    """The arguments with larger images, where a constructor computes on one of which too little was left.

    As large as the package says that they are, ``usual``, if that is larger.
    """
    if not _TOO_SMALL.search(message):
        return []
    larger = dict(arguments)
    for name, text in arguments.items():
        last = name.split(".")[-1]
        side = re.fullmatch(r"(\d+)|\((\d+), \2\)", text)
        if side and _IMAGE.search(last.lower()):
            said, now = usual.get(last, ""), side[1] or side[2]
            larger[name] = text.replace(
                now, said if said.isdecimal() and int(said) > int(now) else str(LARGER * int(now))
            )
    return [larger] if larger != arguments else []


def reshaped(arguments: Arguments, message: str) -> list[Arguments]:
    """The arguments with a matrix whose rows are as long as a view of it asks for: anchors are pairs."""
    match = re.search(r"shape '\[(\d+(?:, \d+)*)\]' is invalid for input of size (\d+)", message)
    wanted, size = (math.prod(map(int, match[1].split(","))), int(match[2])) if match else (0, 0)
    found = []
    for name, text in arguments.items():
        rows, columns = map(int, m.groups()) if (m := _MATRIX.search(text)) else (0, 0)
        if rows and rows * columns == size and wanted % rows == 0:
            found.append({**arguments, name: _MATRIX.sub(f"({rows}, {wanted // rows})", text, count=1)})
    return found


def in_place_of_empty(parameter: inspect.Parameter, options: Callable[[str], list[str]]) -> str:
    """The likeliest of a parameter's ``options`` in place of a default that is empty; "" where it is not.

    A number is none in place of a mapping: of what that holds nothing tells.
    """
    if type(parameter.default) not in (list, tuple, dict) or parameter.default:
        return ""
    first = options(parameter.name)[0]
    return "" if type(parameter.default) is dict and first.isdecimal() else first


def filled(text: str, item: str) -> str:
    """A list with as many items, or a few more, each made by one expression; of pairs, a list of pairs of such."""
    tree = ast.parse(text, mode="eval").body
    items = tree.elts if isinstance(tree, ast.List) else []
    count, first = max(MANY, len(items)), items[0] if items else None
    if isinstance(first, ast.List | ast.Tuple) and first.elts:
        return f"[[{', '.join([item] * len(first.elts))}] for _ in range({len(items)})]"
    return f"[{item} for _ in range({count})]"


def shallower(arguments: Arguments, defaults: Mapping[str, str] = MappingProxyType({})) -> Arguments:
    """The arguments with half as many layers; the same where they, and the ``defaults``, say nothing about layers."""
    return _smaller(arguments, defaults, _DEPTH)


def narrower(arguments: Arguments, defaults: Mapping[str, str] = MappingProxyType({})) -> Arguments:
    """The arguments with half as many features."""
    return _smaller(arguments, defaults, _WIDTH, GROUPS)


def coarser(arguments: Arguments, defaults: Mapping[str, str] = MappingProxyType({})) -> Arguments:
    """The arguments with images of half the sides."""
    return _smaller(arguments, defaults, _IMAGES)


def _smaller(arguments: Arguments, defaults: Mapping[str, str], which: re.Pattern[str], multiple: int = 1) -> Arguments:
    every = {**defaults, **arguments}
    changed = {
        n: _half(t, multiple) if which.search(n.split(".")[-1].lower()) else _inside(t, which, multiple)
        for n, t in every.items()
    }
    return arguments | {n: t for n, t in changed.items() if t != every[n]}


def reduced(arguments: Arguments, defaults: Mapping[str, str] = MappingProxyType({})) -> Arguments:
    """The arguments with images of a quarter of the sides, a quarter of the layers, and half the features."""
    for smaller in (coarser, coarser, shallower, shallower, narrower):
        arguments = smaller(arguments, defaults)
    return arguments


def opened(arguments: Arguments, namespace: Mapping[str, Any]) -> Arguments:
    """The arguments that are made by classes of the program, with the sizes said that these leave to their defaults."""
    return {name: _opened(text, namespace) if text.endswith(")") else text for name, text in arguments.items()}


def _opened(text: str, namespace: Mapping[str, Any]) -> str:
    tree = ast.parse(text, mode="eval")
    for node in ast.walk(tree):
        kind = namespace.get(node.func.id) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else None
        if isinstance(node, ast.Call) and isinstance(kind, type) and not node.args:
            given = {k.arg for k in node.keywords}
            sizes = {
                n: t
                for n, t in defaults_of(kind).items()
                if n not in given and _SIZES.search(n.lower()) and n != WORDS_OF
            }
            node.keywords += [ast.keyword(n, ast.parse(t, mode="eval").body) for n, t in sizes.items()]
    return ast.unparse(tree)


def defaults_of(kind: type) -> Arguments:
    """What a class's constructor takes for numbers, and sequences of them, that it is not given."""
    try:
        every = inspect.signature(kind).parameters.values()
    except (TypeError, ValueError):
        return {}
    return {p.name: repr(p.default) for p in every if type(p.default) in (int, tuple, list)}


def _half(text: str, multiple: int) -> str:
    if text.startswith("<"):
        return text
    tree = ast.parse(text, mode="eval")
    _halve(tree, multiple)
    return ast.unparse(tree)


def _inside(text: str, which: re.Pattern[str], multiple: int) -> str:
    """An expression with half of what its calls and dictionaries name so."""
    if text.startswith("<") or "=" not in text and ":" not in text:
        return text
    tree = ast.parse(text, mode="eval")
    found = [value for name, value in _named(tree) if which.search(name.lower()) and name != WORDS_OF]
    for value in found:
        _halve(value, multiple)
    return ast.unparse(tree) if found else text


def _named(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """What keywords and keys name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg:
            yield node.arg, node.value
        elif isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            yield from ((k.value, v) for k, v in pairs if isinstance(k, ast.Constant) and isinstance(k.value, str))


def _halve(tree: ast.AST, multiple: int) -> None:
    """Halve the numbers of a tree that are more than one and half a ``multiple``, large ones to a multiple of it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and type(node.value) is int and node.value > max(1, multiple // 2):
            node.value //= 2
            node.value -= node.value % multiple if node.value > multiple else 0


def left_out(arguments: Arguments, message: str, text: str) -> list[Arguments]:
    """Where an assertion fails, the arguments with None for one that the program compares with it: either or, perhaps.

    ``assert type_given ^ params_given``, where ``type_given = config.model_type is not None``.
    """
    if not message.startswith(AssertionError.__name__):
        return []
    given = (n for n, value in arguments.items() if value != "None")
    may = [n for n in given if re.search(rf"\b{re.escape(n.split('.')[-1])} is (not )?None\b", text)]
    return [{**arguments, name: "None"} for name in may]


def one_fewer(arguments: Arguments) -> Iterator[Arguments]:
    """The arguments with one number after the other made small: one of them counts layers."""
    for name, text in arguments.items():
        if text.isdecimal() and int(text) >= LARGE_COUNT:
            yield {**arguments, name: "2"}

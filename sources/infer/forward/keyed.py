"""Inputs that go by keys: a batch as a dictionary, and a list with a dictionary for each image of a batch."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from torch import nn

from sources.infer.forward.failure import Change, Failure
from sources.infer.inputs import BATCH, SIDE, TOKENS, Many, Spec, Specs, Tensor, edited

Guess = Callable[[str, str], Spec]  # of what goes by a key, from a text that speaks of it by that name
OBJECTS, CLASSES = 8, 16  # of one image, and of all objects
_OF_OBJECTS = {
    "labels": Tensor((OBJECTS,), "int", 2), "boxes": Tensor((OBJECTS, 4), "unit"), "area": Tensor((OBJECTS,), "unit"),
    "masks": Tensor((OBJECTS, SIDE, SIDE), "bool"), "size": Tensor((2,), "full", SIDE),
    "orig_size": Tensor((2,), "full", SIDE), "image_id": Tensor((1,), "int", BATCH),
    "iscrowd": Tensor((OBJECTS,), "int", 2), "keypoints": Tensor((OBJECTS, 17, 3), "unit"),
}  # fmt: skip


def keyed(name: str, text: str, guess: Guess, whole: Callable[[], str] = str) -> list[Spec]:
    """A dictionary with what the text takes out of it, but for what it laid into it before, or asks for first.

    Of one that it only goes through, or hands on, the ``whole`` class says more, by the same name.
    """
    name = re.escape(name)
    known = _taken(name, text)
    if not known and (_OF_MAPPING.search(text) and re.search(rf"\b{name}{_OF_MAPPING.pattern}", text)):
        text = whole()
        known = _taken(name, text)
    if not known:
        return []
    return [Many(tuple(guess(k, _called_by_key(name, k, text)) for k in known), "dict", known)]


def with_words(name: str, text: str, module: nn.Module) -> str:
    """The text with words in place of the constants, and the module's settings, by which it takes something out.

    ``inputs[POSITIONS]`` and ``inputs[self.key]``.
    """
    space = getattr(type(module).forward, "__globals__", {})

    def said(found: re.Match[str]) -> str:
        of_self, key = found[2], found[3]
        local = not of_self and re.search(rf"(?<![.\w]){key}\s*(?:,[^=\n]*)?(?:=(?!=)|\bin\b)", text)
        word = None if local else (vars(module) if of_self else space).get(key)
        return f'{found[1]}"{word}"{found[4]}' if isinstance(word, str) and re.fullmatch(r"\w+", word) else found[0]

    return re.sub(rf"(\b{re.escape(name)}(?:\[|\.get\()\s*)(self\.)?([^\W\d]\w*)(\s*[\]),])", said, text)


def by_names(name: str, text: str, module: nn.Module, level: Tensor) -> list[Spec]:
    """A dictionary of maps, each half as large as the one before, by words that the module holds.

    ``for f in self.in_features: x = features[f]``.
    """
    for variable, held in re.findall(r"\bfor (?:\w+, ?)?(\w+) in (?:\w+\()*self\.(\w+)", text):
        words = vars(module).get(held)
        if not isinstance(words, list | tuple) or not words or not all(isinstance(w, str) for w in words):
            continue
        if re.search(rf"\b{re.escape(name)}\[{variable}\]", text):
            sides = [tuple(max(n >> i, 1) for n in level.shape[2:]) for i in range(len(words))]
            items = tuple(replace(level, shape=(*level.shape[:2], *side)) for side in sides)
            return [Many(items, "dict", (*words,))]
    return []


_OF_MAPPING = re.compile(r"\.(items|keys|values|update)\(")


def _taken(name: str, text: str) -> tuple[str, ...]:
    keys = re.findall(rf"\b{name}(?:\[|\.get\()\s*(?:\"(\w+)\"|'(\w+)')\s*[\]),]", text)
    known = tuple(k for k in dict.fromkeys(a or b for a, b in keys) if not _laid_in(name, k, text))
    asked = set(re.findall(rf"\bif [\"'](\w+)[\"'] in {name}\b", text))
    return tuple(k for k in known if k not in asked)


def of_each(name: str, text: str, whole: Callable[[], str] = str) -> list[Spec]:
    """A dictionary for each image, where the text takes something out of each: ``[t["boxes"] for t in targets]``."""
    known = _of_items(name, text.partition(":\n")[2])
    known = known and tuple(dict.fromkeys([*known, *_of_items(name, whole())]))
    return [Many((Many(tuple(map(of_one, known)), "dict", known),) * BATCH)] if known else []


def _of_items(name: str, body: str) -> tuple[str, ...]:
    keys = (k for item in dict.fromkeys(_items(name, body)) for k in re.findall(rf"\b{item}\[[\"'](\w+)[\"']\]", body))
    return tuple(dict.fromkeys(keys))


def of_objects(key: str) -> list[Tensor]:
    """What a batch usually holds by a key for the objects that were found in its images."""
    if key.endswith("boxes"):
        return [Tensor((BATCH, TOKENS, 4), "unit")]
    return [Tensor((BATCH, TOKENS, CLASSES))] if re.fullmatch(r"pred_\w*(logits|scores)", key) else []


def of_one(key: str) -> Tensor:
    """What one image's dictionary usually holds by a key; for others numbers, one an object."""
    return _OF_OBJECTS.get(key) or next((t for k, t in _OF_OBJECTS.items() if key.endswith(f"_{k}")), _NUMBERS)


_NUMBERS = Tensor((OBJECTS,), "unit")


def with_key(spec: Many, key: str) -> Many | None:
    """A list of dictionaries with one more entry in each; None for what is none, or has it."""
    items = [i for i in spec.items if isinstance(i, Many) and i.kind == "dict" and key not in i.keys]
    if spec.keys or not items or len(items) < len(spec.items):
        return None
    return Many(tuple(Many((*i.items, of_one(key)), "dict", (*i.keys, key)) for i in items), spec.kind)


_LACKS = re.compile(
    r"'(?:Tensor|list|int)' object has no attribute '(?:items|keys|values)'|values expected sparse tensor"
)
MAX_KEYS = 8
_ORDINALS = ("first", "second", "third", "fourth", "fifth")  # keys of what is gone through in order, whatever they are


def mappings(f: Failure) -> Iterator[Change]:
    """An input is asked for its keys, or for what goes by them: all inputs are dictionaries, or one of them is."""
    if "list index out of range" in f.message:  # of what the mapping holds, more are taken
        for i, spec in enumerate(f.specs):
            if isinstance(spec, Many) and spec.keys and spec.keys == _ORDINALS[: len(spec.keys)]:
                more = Many((*spec.items, spec.items[-1]), "dict", _ORDINALS[: len(spec.keys) + 1])
                yield from [f.with_tensor((i,), more, 0.3)] * (len(more.items) == len(more.keys))
    if _LACKS.search(f.message):
        *each, every = as_mappings(f.specs, f.module) or [f.specs]
        yield from ((0.1 * i, specs) for i, specs in enumerate(each))
        if every != f.specs:
            yield -0.1 if each else 0.0, every


def as_mappings(specs: Specs, module: nn.Module) -> list[Specs]:
    """The inputs with one as a dictionary, for each of them, and with all of them so.

    By the keys of what the module holds by words, if it holds anything so.
    """
    keys, every, found = _held_by(module) or _ORDINALS[:2], specs, list[Specs]()
    for i, spec in enumerate(specs):
        if not isinstance(spec, Many) or spec.kind == "list":
            value = spec if isinstance(spec, Tensor) else Tensor((BATCH, TOKENS))
            made = Many((value,) * len(keys), "dict", keys)
            every = edited(every, (i,), made)
            found.append(edited(specs, (i,), made))
    return [*found, every] if len(found) > 1 else found


def _held_by(module: nn.Module) -> tuple[str, ...]:
    tables = (m for m in module.modules() if isinstance(m, nn.ModuleDict) and len(m))
    return tuple(next(tables, nn.ModuleDict()))[:MAX_KEYS]


def _items(name: str, body: str) -> Iterator[str]:
    """What the text calls each item of a list that it goes through."""
    name = re.escape(name)
    yield from re.findall(rf"\bfor (\w+) in {name}\b(?![.\[(])", body)
    yield from re.findall(rf"\bfor \(?\w+, ?(\w+)\)? in enumerate\({name}\)", body)
    yield from re.findall(rf"\bfor \(?(\w+),[^\n]*? in zip\({name}\b", body)
    yield from re.findall(rf"\bfor [^\n]*?\b(\w+)\)? in zip\([^\n()]*\b{name}\)", body)


def _laid_in(name: str, key: str, text: str) -> bool:
    """Whether a dictionary is first given what it has by a key: ``batch["answer"] = ...``."""
    item = rf"\b{name}\[\s*[\"']{key}[\"']\s*\]"
    first = re.search(rf"{item}(\s*=(?!=)(.*))?", text)
    return first is not None and first[1] is not None and not re.search(item, first[2])


def _called_by_key(name: str, key: str, text: str) -> str:
    """The text with a key in place of the item of a dictionary, and of the variable that is given it."""
    if not key.isidentifier():
        return text
    text = re.sub(rf"\b{name}\[\s*[\"']{key}[\"']\s*\]", key, text)
    variable = re.search(rf"(?m)^\s*(\w+) = {key}\s*(?:#.*)?$", text)
    return re.sub(rf"\b{variable[1]}\b", key, text) if variable else text

"""Rules over a failed call that asked an input for an entry by a word: it is a dictionary, or lacks one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any

from sources.infer.forward.failure import Change, Failure
from sources.infer.forward.graphs import with_field
from sources.infer.forward.input_guesses import part
from sources.infer.forward.keyed import with_key
from sources.infer.graph_object import KIND
from sources.infer.inputs import Many, Spec, Specs, Tensor, edited

OPTIONS = 4  # of what may be held by a key
_ASKED = ("__getitem__", "__contains__")  # of a tensor, by a word: it is none


def keys(f: Failure) -> Iterator[Change]:
    """An input is a dictionary of which an entry is read that it has not: one like the others, perhaps."""
    if (match := re.fullmatch(r"KeyError: '(\w+)'", f.message)) is not None:
        yield from _lacking(f, match[1])
    elif f.function in _ASKED and len(f.arguments) == 2 and isinstance(name := f.arguments[1], str):
        for path, t in f.of_shape(f.arguments[0]):
            made = Many((part(f.module, name)[0],), "dict", (name,))
            yield f.with_tensor(path, made, 0.1)
            if len(path) > 1 and (every := _of_list(f.specs, path, t, made)) != f.specs:
                yield 0.0, every


def _lacking(f: Failure, key: str) -> Iterator[Change]:
    for i, spec in enumerate(f.specs):
        if isinstance(spec, Many) and spec.kind == KIND:
            yield from (f.with_tensor((i,), more, 0.2 * j) for j, more in enumerate(with_field(spec, key)))
        elif isinstance(spec, Many) and spec.kind != "dict" and (each := with_key(spec, key)) is not None:
            maps = [len(t.shape) > 2 for _, t in spec.inside()]  # of a whole batch, and not of one image's objects
            yield f.with_tensor((i,), each, 0.3 if all(maps) else 0.0)
    found = [(path, held) for path, held in _dictionaries(f.specs) if key not in held.keys]
    for path, held in found:
        alike = [s for s in held.items[-1:] if isinstance(s, Tensor) and s.kind == "int"]
        for j, option in enumerate([*alike, *part(f.module, key)[:OPTIONS]]):
            more = Many((*held.items, option), "dict", (*held.keys, key))
            yield f.with_tensor(path, more, 0.2 * j + 0.05 * (len(path) > 1))
            same = [p for p, other in found if other == held]
            if path == same[0] != same[-1]:  # both images of a pair are told of alike
                specs = f.specs
                for p in same:
                    specs = edited(specs, p, more)
                yield 0.2 * j - 0.05, specs


def _dictionaries(specs: Specs, before: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Many]]:
    """All dictionaries among some inputs, and in these, with where they are."""
    for i, spec in enumerate(specs):
        if isinstance(spec, Many):
            if spec.kind == "dict":
                yield (*before, i), spec
            yield from _dictionaries(spec.items, (*before, i))


def _of_list(specs: Specs, path: tuple[int, ...], t: Tensor, made: Spec) -> Specs:
    """The inputs with something else in place of all tensors beside one, and like it but for their sizes."""
    holder: Spec = specs[path[0]]
    for at in path[1:-1]:
        assert isinstance(holder, Many)
        holder = holder.items[at]
    assert isinstance(holder, Many)
    alike = [i for i, s in enumerate(holder.items) if isinstance(s, Tensor) and len(s.shape) == len(t.shape)]
    for i in alike if not holder.keys and len(alike) == len(holder.items) else ():
        specs = edited(specs, (*path[:-1], i), made)
    return specs


def with_asked(node: ast.Compare, values: Mapping[str, Any], specs: Specs, module: Any) -> Iterator[Specs]:
    """The inputs with an entry that a test asks for: ``assert key in data``; ``values`` are those of its names."""
    held = values.get(ast.unparse(node.comparators[0]))
    key = node.left.value if isinstance(node.left, ast.Constant) else values.get(ast.unparse(node.left))
    if not isinstance(held, dict) or not isinstance(key, str):
        return
    for path, spec in _dictionaries(specs):
        if list(held) == list(spec.keys) and key not in spec.keys:
            for option in part(module, key)[:OPTIONS]:
                yield edited(specs, path, Many((*spec.items, option), "dict", (*spec.keys, key)))

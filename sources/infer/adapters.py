"""Modules that take records, a graph or a batch with a mask, as ones that take the records' tensors.

A task's inputs are tensors, numbers, and lists, tuples and dictionaries of them.  A subclass makes the records.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterator
from typing import Any

from sources.infer.inputs import Many, Spec, parameters
from sources.infer.search import Solution
from sources.text.parsers import NAMESPACE_IMPORT


def adapted(cut: dict[str, Any], namespace: dict[str, Any], solution: Solution) -> tuple[dict[str, Any], Solution]:
    """The cut with a class that takes no records, which ``namespace`` then holds too, and its inputs."""
    if not any(_has_record(spec) for spec in solution.specs):
        return cut, solution
    known = [p.name for p in parameters(namespace[cut["name"]].forward)[1:]]
    names = known + [f"x{i}" for i in range(len(known), len(solution.specs))]
    flat: dict[str, Spec] = {}
    given = [_made(spec, name, flat) for name, spec in zip(names, solution.specs, strict=False)]
    name = f"{cut['name']}OfTensors"
    text = (
        f"class {name}({cut['name']}):\n"
        f'    """The record that it takes, made of its tensors."""\n\n'
        f"    def forward(self, {', '.join(flat)}):\n"
        f"        return super().forward({', '.join(given)})\n"
    )
    head = "" if NAMESPACE_IMPORT in cut["source"] else f"{NAMESPACE_IMPORT}\n\n\n"
    exec(head + text, namespace)  # noqa: S102 - in the sandbox
    source = f"{cut['source'].rstrip()}\n\n\n{head}{text}"
    return cut | {"source": source, "name": name}, Solution(solution.arguments, tuple(flat.values()))


def _has_record(spec: Spec) -> bool:
    return isinstance(spec, Many) and (spec.kind == "record" or any(map(_has_record, spec.items)))


def _made(spec: Spec, name: str, flat: dict[str, Spec]) -> str:
    """The expression of an input, from parameters that are added to ``flat``."""
    if not isinstance(spec, Many) or not _has_record(spec):
        while name in flat:  # data.x beside an input that is called x
            name = f"{name}_"
        flat[name] = spec
        return name
    parts = list(_parts(spec, name, flat))
    if spec.kind == "record":
        return f"SimpleNamespace({', '.join(f'{k}={p}' for k, p in zip(spec.keys, parts, strict=True))})"
    if spec.kind == "dict":
        return "{" + ", ".join(f"{k!r}: {p}" for k, p in zip(spec.keys, parts, strict=True)) + "}"
    return f"[{', '.join(parts)}]" if spec.kind == "list" else f"({', '.join(parts)},)"


def _parts(spec: Many, name: str, flat: dict[str, Spec]) -> Iterator[str]:
    for i, item in enumerate(spec.items):
        key = spec.keys[i] if spec.keys else str(i)
        inner = key if key.isidentifier() and key not in flat else f"{name}_{key}"
        plain = inner.isidentifier() and inner != "self" and not keyword.iskeyword(inner)
        yield _made(item, inner if plain else f"{name}_{i}", flat)

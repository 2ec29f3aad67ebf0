"""Modules that take records, a graph or a batch with a mask, as ones that take the records' tensors.

A task's inputs are tensors, numbers, and lists, tuples and dictionaries of them.  A subclass makes the records.
Likewise one gives zeros for what a module asks for and does not use: all inputs of a task matter.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterator
from typing import Any

from sources.infer import graph_object
from sources.infer.inputs import Many, Spec, Tensor, parameters, positional
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
        f'    """What it takes, made of its tensors."""\n\n'
        f"    def forward(self, {', '.join(flat)}):\n"
        f"        return super().forward({', '.join(given)})\n"
    )
    head = _head(cut["source"], text)
    exec(head + text, namespace)  # noqa: S102 - in the sandbox
    source = f"{cut['source'].rstrip()}\n\n\n{head}{text}"
    return cut | {"source": source, "name": name}, Solution(solution.arguments, tuple(flat.values()))


def _head(source: str, text: str) -> str:
    """What a text needs that the source lacks."""
    head = f"{NAMESPACE_IMPORT}\n\n\n" if "SimpleNamespace(" in text and NAMESPACE_IMPORT not in source else ""
    graphs = f"{graph_object.NAME}(" in text and f"\nclass {graph_object.NAME}:" not in source
    return f"{head}{graph_object.CLASS.rstrip()}\n\n\n" if graphs else head


def spared(
    cut: dict[str, Any], namespace: dict[str, Any], solution: Solution, ignored: str
) -> tuple[dict[str, Any], Solution] | None:  # fmt: skip
    """The cut with a class that gives zeros for one input that is ignored, and the others; None where it cannot be."""
    cut, solution = adapted(cut, namespace, solution)  # it may be what a record holds
    names = positional(namespace[cut["name"]].forward)[1:][: len(solution.specs)]
    spec = dict(zip(names, solution.specs, strict=False)).get(ignored)
    kept = {n: s for n, s in zip(names, solution.specs, strict=False) if n != ignored}
    if not isinstance(spec, Tensor) or len(names) < len(solution.specs) or not kept:
        return None
    name = f"{cut['name']}Without{''.join(word.capitalize() for word in ignored.split('_'))}"
    given = ", ".join(_zeros(spec, kept) if n == ignored else n for n in names)
    text = (
        f"class {name}({cut['name']}):\n"
        f'    """It does not use ``{ignored}``: zeros stand for it."""\n\n'
        f"    def forward(self, {', '.join(kept)}):\n"
        f"        return super().forward({given})\n"
    )
    exec(text, namespace)  # noqa: S102 - in the sandbox
    source = f"{cut['source'].rstrip()}\n\n\n{text}"
    return cut | {"source": source, "name": name}, Solution(solution.arguments, tuple(kept.values()))


def _zeros(spec: Tensor, kept: dict[str, Spec]) -> str:
    """Zeros in place of an input, of sizes that follow those of others as far as these are the same."""
    sides = [_side(i, size, kept) for i, size in enumerate(spec.shape)]
    dtype = _DTYPES.get(spec.kind, "")
    return f"torch.zeros({', '.join([*sides, *([f'dtype={dtype}'] if dtype else [])])})"


def _side(dimension: int, size: int, kept: dict[str, Spec]) -> str:
    known = ((n, s.shape) for n, s in kept.items() if isinstance(s, Tensor) and len(s.shape) > dimension)
    return next((f"{n}.shape[{dimension}]" for n, shape in known if shape[dimension] == size), str(size))


_DTYPES = {"int": "torch.long", "full": "torch.long", "bool": "torch.bool"}


def _has_record(spec: Spec) -> bool:
    return isinstance(spec, Many) and (spec.kind in ("record", graph_object.KIND) or any(map(_has_record, spec.items)))


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
    if spec.kind == graph_object.KIND:
        return graph_object.expression(spec.keys, parts)
    if spec.kind == "dict":
        return "{" + ", ".join(f"{k!r}: {p}" for k, p in zip(spec.keys, parts, strict=True)) + "}"
    return f"[{', '.join(parts)}]" if spec.kind == "list" else f"({', '.join(parts)},)"


def _parts(spec: Many, name: str, flat: dict[str, Spec]) -> Iterator[str]:
    for i, item in enumerate(spec.items):
        key = spec.keys[i].rpartition(".")[2] if spec.keys else str(i)
        inner = key if key.isidentifier() and key not in flat else f"{name}_{key}"
        plain = inner.isidentifier() and inner != "self" and not keyword.iskeyword(inner)
        yield _made(item, inner if plain else f"{name}_{i}", flat)

"""Outputs of forward that are not plain tensors: structures, literals, and buffers and inputs that it updates."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any

from torch.utils._pytree import is_namedtuple_instance, tree_unflatten

from kdata.align.errors import AlignError
from kdata.align.trace import Traced


class Outputs:
    """How forward ends: updates of buffers and inputs, then the outputs in the reference's structure."""

    def __init__(self, traced: Traced) -> None:
        self.traced = traced

    def classes(self) -> list[str]:
        """Names of the classes that the structure is made of, beyond Python's own and torch's."""
        tree = self.traced.output_tree
        return sorted(set(_classes(tree_unflatten([""] * tree.num_leaves, tree))))

    def lines(self, values: Sequence[str]) -> list[str]:
        """The last lines of forward, given the text of every value that the graph returns."""
        pairs = list(zip(values, self.traced.updated, strict=False))
        updates = [f"{target}.copy_({value})" for value, target in pairs]
        inputs = {value: target for value, target in pairs if not target.startswith("self")}  # returned as themselves
        returned = [inputs.get(value, value) for value in values[len(pairs) :]]
        returned = [self.traced.literals.get(i, value) for i, value in enumerate(returned)]
        if len(returned) > self.traced.output_tree.num_leaves:  # a kernel would set them anew at each call
            raise AlignError("changes its weights", "forward writes into parameters")
        structure = tree_unflatten(returned, self.traced.output_tree)
        return [*updates, f"return {_text(structure)}"]


def _classes(value: Any) -> Iterator[str]:
    if is_namedtuple_instance(value) or type(value) is OrderedDict:
        yield type(value).__name__
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ():
        yield from _classes(part)


def _text(value: Any) -> str:
    match value:
        case str():
            return value
        case tuple() if is_namedtuple_instance(value):
            return f"{type(value).__name__}({', '.join(map(_text, value))})"
        case tuple() if type(value) is tuple or type(value).__module__ == "torch.return_types":
            return f"({', '.join(_text(v) for v in value)}{',' if len(value) == 1 else ''})"
        case list():
            return f"[{', '.join(_text(v) for v in value)}]"
        case dict() if type(value) in (dict, OrderedDict):
            said = "{" + ", ".join(f"{k!r}: {_text(v)}" for k, v in value.items()) + "}"
            return said if type(value) is dict else f"OrderedDict({said})"
    raise AlignError("output structure", f"forward returns a {type(value).__name__}")

"""A call of one operator as a program, in one of the ways that people write it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from sources.aten import words
from sources.aten.form import Drawn, Form, camel, pick


def spelled(name: str) -> str:
    """How an operator of the database is called: ``F.elu`` for ``nn.functional.elu``; "" for what has no such name."""
    for prefix, short in (("nn.functional.", "F."), ("", "torch.")):
        if name.startswith(prefix):
            there: Any = torch.nn.functional if prefix else torch
            for part in name.removeprefix(prefix).split("."):
                there = getattr(there, part, None)
            return short + name.removeprefix(prefix) if callable(there) else ""
    return ""


def literal(value: Any) -> str | None:
    """A plain value as Python text; None for anything else."""
    if isinstance(value, bool | int | str) or value is None:
        return repr(value)
    if isinstance(value, float):
        return repr(value) if value - value == 0 else f'float("{value}")'
    if isinstance(value, torch.dtype):
        return str(value)
    if isinstance(value, list | tuple):
        inner = [literal(v) for v in value]
        if any(i is None for i in inner):
            return None
        text = ", ".join(i for i in inner if i is not None)
        return f"[{text}]" if isinstance(value, list) else f"({text}{',' if len(inner) == 1 else ''})"
    return None


def call(
    function: str, family: str, inputs: Sequence[Drawn], sizes: Mapping[str, int],
    keywords: Mapping[str, str] | None = None, results: Sequence[str] = (), tag: str = "",
) -> Form:  # fmt: skip
    """A form that calls ``function`` on its inputs, with ``keywords`` as texts.

    ``results`` name the parts of a result that has several.  ``tag`` tells apart programs that are otherwise alike.
    """
    given, key = dict(keywords or {}), (function, tag, *(len(i.shape) for i in inputs), *(keywords or {}).items())
    short = function.rpartition(".")[2]
    kept = _kept(given) if pick(("written", "kept"), "attributes", *key) == "kept" and not results else {}
    said = {name: f"self.{name}" if name in kept else text for name, text in given.items()}
    expression = _expression(function, short, [i.name for i in inputs], said, key)
    layers = tuple(f"self.{name} = {name}" for name in kept)
    body = (f"return {expression}",) if not results else (
        f"{', '.join(results)} = {expression}", f"return {', '.join(results)}")  # fmt: skip
    name = camel(short) + pick(("", "", "Model", "Layer", "Op"), "class", *key)
    return Form(_symbol(function), name, family, tuple(inputs), body, sizes, layers, kept)


def _kept(given: Mapping[str, str]) -> dict[str, str]:
    """The keywords as parameters of the constructor, where their names may stand there."""
    return {k: v for k, v in given.items() if k not in ("dtype", "reduction", "mode", "out")}


def _expression(function: str, short: str, names: list[str], said: Mapping[str, str], key: tuple[object, ...]) -> str:
    rest = [f"{k}={v}" for k, v in said.items()]
    method = function.startswith("torch.") and function.count(".") == 1 and hasattr(torch.Tensor, short)
    if method and pick(("function", "function", "method"), "style", *key) == "method":
        return f"{names[0]}.{short}({', '.join([*names[1:], *rest])})"
    return f"{function}({', '.join([*names, *rest])})"


def _symbol(function: str) -> str:
    return function.replace("F.", "torch.nn.functional.", 1) if function.startswith("F.") else function


def drawn(rank: int, name: str, draw: str, *key: object) -> tuple[Drawn, dict[str, int]]:
    """One input of that rank, in words and sizes chosen by ``key``."""
    names = words.names(rank, *key)
    return Drawn(name, names, draw), words.values(names, *key)

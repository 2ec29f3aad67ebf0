"""Values that would do where a program checks for something: of a rank or length, instances of a class."""

from __future__ import annotations

import ast
import enum
import inspect
import itertools
from collections.abc import Mapping
from typing import Any

from torch import nn

from sources.hints.configs_tiny import by_halves
from sources.hints.expressions import value
from sources.hints.guesses import values as guessed
from sources.hints.uses import Uses
from sources.infer.constructor.configs import CONFIG

MAX_VALUES = 6  # of one wish
MAX_KINDS = 3  # classes that are made of one that is asked for
_BUILT_IN = {"int": "2", "float": "0.5", "bool": "True", "str": "'relu'", "list": "[32, 64]", "tuple": "(8, 8)",
             "dict": "{}"}  # fmt: skip


def of_rank(name: str, rank: int) -> list[str]:
    """Arrays of so many dimensions; a mask of one is of zeros and ones in turn."""
    sizes = ", ".join(["64"] * rank)
    return [*(["[0, 1] * 32"] if rank == 1 and "mask" in name else []), f"torch.rand({sizes})"] if rank else ["0.5"]


def of_length(given: Any, length: int) -> list[str]:
    """The sequence cut or repeated to a length."""
    if not isinstance(given, list | tuple) or not given or not 0 < length < 32:
        return []
    longer = [given[min(i, len(given) - 1)] for i in range(length)]
    return spelled([type(given)(longer)]) if type(given) in (list, tuple) else []


def instances(node: ast.expr, values: Mapping[str, Any]) -> list[str]:
    """Instances of a class, or of one of several."""
    found = []
    for kind in node.elts if isinstance(node, ast.Tuple) else [node]:
        meant, name = value(kind, values), ast.unparse(kind)
        if name in _BUILT_IN:
            found.append(_BUILT_IN[name])
        elif isinstance(meant, type) and issubclass(nn.Identity, meant):
            found.append("nn.Identity()")
        elif isinstance(meant, type) and name.isidentifier():
            # a base of configurations holds too little: one of those that are made of it is meant
            further = ((n, v) for n, v in values.items() if isinstance(v, type) and v is not meant and n.isidentifier())
            for other, kind_of in itertools.islice((f for f in further if issubclass(f[1], meant)), MAX_KINDS):
                found += _made(kind_of, other)[:1]
            found += _made(meant, name)
    return found


def _made(kind: type, name: str) -> list[str]:
    """Calls of a class: with its defaults made small where it has large ones, and guesses for what has none."""
    try:
        every = list(inspect.signature(kind).parameters.values())
    except (TypeError, ValueError):
        return [f"{name}()"]
    plain = [p for p in every if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    required = {p.name: guessed(p.name, "", Uses())[0] for p in plain if p.default is p.empty}
    smaller = {p.name: repr(by_halves(p.name, p.default)) for p in plain if p.default is not p.empty
               and by_halves(p.name, p.default) != p.default}  # fmt: skip
    texts = [", ".join(f"{n}={v}" for n, v in given.items()) for given in (required | smaller, required)]
    return [f"{name}({text})" for text in dict.fromkeys(texts) if CONFIG not in text]


def spelled(choices: Any) -> list[str]:
    """Plain values, and members of enumerations, as expressions."""
    plain = (bool, int, float, str, type(None))
    found = []
    for choice in sorted(choices, key=str) if isinstance(choices, set | frozenset) else choices:
        if type(choice) in plain or type(choice) in (list, tuple) and all(type(c) in plain for c in choice):
            found.append(repr(choice))
        elif isinstance(choice, enum.Enum):
            found.append(f"{type(choice).__name__}.{choice.name}")
    return found[:MAX_VALUES]

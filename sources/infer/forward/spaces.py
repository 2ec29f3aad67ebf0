"""Spaces of an environment, as networks are told what they see and what they do: kinds of them in place of each other.

What a program's own stand-in, or package, calls a space is not known here: only the names that all of them use.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from sources.infer.inputs import BATCH, Many, Spec, Tensor

IMAGE = "Box(low=0, high=255, shape=(3, 64, 64), dtype='uint8')"
VECTOR = "Box(low=-1.0, high=1.0, shape=(64,))"
NUMBER = "Discrete(16)"
TABLE = f"Dict({{'image': {IMAGE}, 'vector': {VECTOR}}})"
SEEN = (IMAGE, VECTOR, NUMBER, TABLE, "MultiDiscrete([4, 8])", "MultiBinary(16)")
_DONE = re.compile(r"^(action|act|ac)(_|s?$)")
_SEEN = re.compile(r"^(ob|obs|observations?|x|inputs?|states?)$")
_CALLS = re.compile(r"(Box|Discrete|MultiDiscrete|MultiBinary|Dict|Tuple|Space)\(")
_COUNTS = {"Discrete": "n", "MultiDiscrete": "nvec", "MultiBinary": ""}  # where a space says how many there are
_LACKS = re.compile(r"object has no attribute '(\w+)'")


def others(name: str, text: str, namespace: Mapping[str, Any], message: str) -> list[str]:
    """Spaces that an argument of a ``name`` may be in place of one, best first; none in place of anything else.

    Those of a kind that the program has not are left out; what the one lacks, as a ``message`` says, comes first.
    """
    if not _CALLS.match(text) or not isinstance(namespace.get("Box"), type):
        return []
    first = (NUMBER, VECTOR) if _DONE.search(name) else ()
    found = [t for t in dict.fromkeys((*first, *SEEN)) if t != text and namespace.keys() >= _names(t)]
    lacks = _LACKS.search(message)
    return sorted(found, key=lambda t: not _has(t, lacks[1], namespace)) if lacks else found


def _has(text: str, attribute: str, namespace: Mapping[str, Any]) -> bool:
    try:
        return hasattr(eval(text, dict(namespace)), attribute)  # noqa: S307 - our own expression, in the sandbox
    except Exception:  # noqa: BLE001 - a space of this name that is made in another way
        return False


def _names(text: str) -> set[str]:
    return {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)}


def shown(module: nn.Module, name: str) -> list[Spec]:
    """A batch of what an input of a ``name`` is by the space that the module holds of it, if it holds one."""
    kind = "action" if _DONE.search(name) else "observation" if _SEEN.search(name) else ""
    held = (space for n, space in vars(module).items() if kind and n.lstrip("_") == f"{kind}_space")
    return [spec for space in held if (spec := _batch_of(space)) is not None]


def _batch_of(space: Any) -> Spec | None:
    called, shape = type(space).__name__, getattr(space, "shape", None)
    if called == "Dict":
        parts = {key: _batch_of(inner) for key, inner in space.spaces.items()}
        known = {key: part for key, part in parts.items() if part is not None}
        return Many(tuple(known.values()), "dict", tuple(known)) if len(known) == len(parts) else None
    if shape is None or called not in ("Box", *_COUNTS):
        return None
    if called == "Box":
        return Tensor((BATCH, *shape))
    counts = getattr(space, _COUNTS[called]) if _COUNTS[called] else 2  # so many are there to choose of
    return Tensor((BATCH, *shape), "int", int(torch.as_tensor(counts).min()))

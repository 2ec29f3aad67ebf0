"""Parts that a program takes from outside and that no layer stands for: they are given more, or hold settings, too.

``layer(x, mask=mask, cache=None)``, and ``encoder.width`` beside ``encoder(x)``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any

import torch
from torch import nn

from sources.hints.guesses import values
from sources.hints.uses import Uses
from sources.infer.forward.variants import Arguments

NAME = "StubModule"
CALLED = "layer"  # the setting that says with what a part answers
ANSWERS = ["nn.Identity()", "nn.Linear(64, 64)", "nn.Conv2d(64, 64, 3, padding=1)", "nn.Embedding(1024, 64)"]
STUB = f"{NAME}({ANSWERS[0]})"
CLASS = f'''class {NAME}(nn.Module):
    """Stands for a module that is given from outside: a layer of the first tensor it takes, and settings."""

    def __init__(self, layer, **settings):
        super().__init__()
        self.layer = layer
        for name, value in settings.items():
            setattr(self, name, value)

    def forward(self, *given, **named):
        return self.layer(next(value for value in (*given, *named.values()) if isinstance(value, torch.Tensor)))
'''
_made: dict[str, Any] = {"nn": nn, "torch": torch, "__name__": __name__}
exec(CLASS, _made)  # noqa: S102 - our own text: it is laid into tasks, too
StubModule: type[nn.Module] = _made[NAME]
MAKES = "lambda *_, **__: "
FACTORY = f"{MAKES}{STUB}"  # where a class of layers is taken, whatever these are made of
FIRST = "lambda x, *_, **__: x"  # what is called answers with the first that it takes
_MAKES = re.compile(r"(nn\.)?[A-Z]\w*$|functools\.partial\(|lambda")  # what is called for a layer
_WEIGHTED = re.compile(r"(?<!\w)nn\.(Embedding|Linear|Conv\dd)\([^()]*\)")
_LACKS = re.compile(r"'(\w+)' object has no attribute '([a-zA-Z]\w*)'")


def in_place_of(text: str) -> list[str]:
    """What takes more than a part that an expression spells: a list of stubs, one, or what makes one; none for others.

    A layer that has weights, such as one that looks up words, still answers, in a list, too.
    """
    if _WEIGHTED.search(text) and NAME not in text:
        return [_WEIGHTED.sub(rf"{NAME}(\g<0>)", text)]
    if text[:1] == "[":
        return [f"[{STUB}, {STUB}]"] if STUB not in text else []
    return [FACTORY] if _MAKES.match(text) and text != FACTORY else []


def holding(
    text: str, message: str, line: str, flags: Collection[str] = (), run: Mapping[str, str] = MappingProxyType({})
) -> list[str]:
    """A layer's expression as that of a stub that holds the setting, or has the method, which the layer lacks.

    ``line`` is the program's, that failed; none where the ``message`` is about something else.  ``flags`` are settings
    that the program only tests, ``run`` layers by the names of those that it runs.
    """
    match = _LACKS.search(message)
    if match and (text == f"nn.{match[1]}" or text.startswith(f"{MAKES}{NAME}(")):  # what makes such a part
        part = text.removeprefix(MAKES) if text.startswith(MAKES) else f"{text}()"
        part = "nn.Identity()" if part == f"nn.{match[1]}()" else part
        lacks = message.replace(f"'{match[1]}'", _kind_of(part))
        return [f"{MAKES}{made}" for made in holding(part, lacks, line, flags, run)]
    held = text.startswith(f"{NAME}(")
    if not match or not held and not re.match(rf"nn\.{match[1]}\(", text) or held and match[1] != NAME:
        return []
    name = match[2]
    if hasattr(nn.Module, name):
        return []
    guesses = ["False", "True"] if name in flags else values(name, "", Uses())
    guesses = [run[name]] if name in run else [v for v in guesses if not v.startswith("<")][:2]
    options = [FIRST] if re.search(rf"\.{name}\(", line) else guesses
    inner = text.removeprefix(f"{NAME}(").removesuffix(")") if held else text
    return [f"{NAME}({inner}, {name}={option})" for option in options]


def named(arguments: Arguments, message: str, text: str) -> list[Arguments]:
    """Arguments with all parts by name that a program calls, where a dictionary of parts that it is given lacks one."""
    lacking = re.search(r"'ModuleDict' object has no attribute '(\w+)'", message)
    kept = re.search(r"self\.(\w+) = (?:\w+\.)*ModuleDict\((\w+)\)", text)
    if not lacking or not kept:
        return []
    called = re.findall(rf"\bself\.{kept[1]}\.(\w+)\(", text)
    names = sorted({lacking[1], *called}.difference(dir(nn.ModuleDict)))
    return [{**arguments, kept[2]: f"{{{', '.join(f'{name!r}: {STUB}' for name in names)}}}"}]


def _kind_of(part: str) -> str:
    """The class that a part's expression calls, as messages say it."""
    return repr(part.partition("(")[0].rpartition(".")[2])

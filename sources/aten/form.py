"""One program over PyTorch's operators, before it is written as a task."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kdata.record import digest

# How an input is drawn. Literals that stand beside an operator are no sizes of the task, see ``kdata.task``.
DRAWS: dict[str, str] = {
    "normal": "torch.randn({shape})",
    "unit": "torch.rand({shape})",
    "signed": "2 * torch.rand({shape}) - 1",
    "positive": "torch.rand({shape}) + 0.1",
    "above one": "torch.rand({shape}) + 1.1",
    "wide": "4 * torch.randn({shape})",
    "mask": "torch.rand({shape}) < 0.5",
    "labels": "torch.randint(0, 2, ({tuple})) * 2.0 - 1.0",
    "probabilities": "torch.softmax(torch.randn({shape}), dim=-1)",
    "log probabilities": "torch.log_softmax(torch.randn({shape}), dim=-1)",
    "ticks": "torch.randint(-3, 4, ({tuple})).float()",
}
INDEX = "below "  # followed by the name of the size that bounds it, or a number
WORKS = "import torch\nimport torch.nn as nn\n"
FUNCTIONAL = "import torch.nn.functional as F\n"
LONGEST = 110  # characters of a line that is written as one
GROUP = "input_shape"  # what several sizes are called together


@dataclass(frozen=True, slots=True)
class Style:
    """How a program is written, whatever it computes."""

    docstring: str = ""  # of the class
    annotated: bool = False  # forward says that it takes and returns tensors
    described: bool = False  # forward has a docstring with the inputs' shapes
    named_super: bool = False  # super(Name, self)
    constructor: bool = False  # is there though it does nothing
    group: tuple[str, ...] = ()  # sizes that stand as one tuple
    constants: bool = False  # the constructor's numbers are named constants


@dataclass(frozen=True, slots=True)
class Drawn:
    """An input of ``forward``: its shape as names of sizes or literals, and how it is drawn."""

    name: str
    shape: tuple[str, ...]
    draw: str = "normal"

    def expression(self, group: tuple[str, ...] = ()) -> str:
        """What ``get_inputs`` says, with the sizes of ``group`` as one tuple."""
        shape = ", ".join(_grouped(self.shape, group))
        tuple_ = shape + ("," if shape and "," not in shape else "")
        if self.draw.startswith(INDEX):
            return f"torch.randint(0, {self.draw.removeprefix(INDEX)}, ({tuple_}))"
        return DRAWS[self.draw].format(shape=shape or "()", tuple=tuple_)


@dataclass(frozen=True, slots=True)
class Form:
    """A program: one class whose ``forward`` is a few lines over operators."""

    symbol: str  # "torch.softmax", or "linear, gelu, layer_norm" for a chain
    name: str  # of the class
    family: str  # what the counts of this source are grouped by
    inputs: tuple[Drawn, ...]
    body: tuple[str, ...]  # lines of forward, the last of them a return
    sizes: Mapping[str, int]  # named constants, those that nothing uses included
    layers: tuple[str, ...] = ()  # lines of the constructor
    arguments: Mapping[str, str] = field(default_factory=dict)  # the constructor's parameters: name -> what is given
    defaults: Mapping[str, str] = field(default_factory=dict)  # the last parameters' defaults: name -> what it is
    style: Style = Style()

    def text(self, header: str) -> str:
        """The whole task."""
        body = "\n".join(f"        {line}" for line in self.body)
        kind, result = (": torch.Tensor", " -> torch.Tensor") if self.style.annotated else ("", "")
        names = ", ".join(["self", *(f"{i.name}{kind}" for i in self.inputs)])
        said = f'    """{self.style.docstring}"""\n\n' if self.style.docstring else ""
        head = f"    def forward({names}){result}:\n{self._description() if self.style.described else ''}"
        code = f"class {self.name}(nn.Module):\n{said}{self._constructor()}{head}{body}\n"
        drawn = ", ".join(i.expression(self.style.group) for i in self.inputs)
        literal = {n: v for n, v in self.arguments.items() if v not in self.sizes and v[0] != "("}
        named = literal if self.style.constants else {}
        given = ", ".join(n if n in named else v for n, v in self.arguments.items())
        constants = self._constants(f"{drawn} {given}") + "".join(f"{n} = {v}\n" for n, v in named.items())
        imports = WORKS + (FUNCTIONAL if re.search(r"\bF\.", code) else "")
        functions = f"def get_inputs():\n    return [{drawn}]\n\n\ndef get_init_inputs():\n    return [{given}]\n"
        return "\n\n".join(part for part in (f"# {header}\n{imports}", code, constants, functions) if part)

    def _description(self) -> str:
        """What forward takes, as a docstring."""
        shapes = ((i.name, ", ".join(i.shape) + ("," if len(i.shape) == 1 else "")) for i in self.inputs)
        lines = [f"    {name} (torch.Tensor): of shape ({shape})." for name, shape in shapes]
        text = ['"""', "Args:", *lines, "", "Returns:", "    torch.Tensor: the result.", '"""']
        return "".join(f"        {line}\n" if line else "\n" for line in text)

    def _constants(self, using: str) -> str:
        """The sizes that a text uses, those of the group as a tuple."""
        used, group = set(re.findall(r"\w+", using)), self.style.group
        lines = [f"{name} = {value}\n" for name, value in self.sizes.items() if name in used]
        if group:
            values = ", ".join(str(self.sizes[name]) for name in group)
            lines.append(f"{GROUP} = ({values}{',' if len(group) == 1 else ''})\n")
        return "".join(lines)

    def _constructor(self) -> str:
        if not self.layers and not self.style.constructor:
            return ""
        head = ["self", *map(self._parameter, {**self.arguments, **self.defaults})]
        above = f"super({self.name}, self)" if self.style.named_super else "super()"
        lines = "".join(f"        {line}\n" for line in self.layers)
        return f"{wrapped('    def __init__(', head, '):')}        {above}.__init__()\n{lines}\n"

    def _parameter(self, name: str) -> str:
        """One of the constructor's, with its type where forward says its own."""
        default = self.defaults.get(name)
        kind = _type(default or self.arguments[name]) if self.style.annotated and self.defaults else ""
        if default is None:
            return f"{name}: {kind}" if kind else name
        return f"{name}: {kind} = {default}" if kind else f"{name}={default}"


def restored(said: Mapping[str, Any]) -> Form:
    """A form that went through JSON as ``asdict`` says it."""
    inputs = tuple(Drawn(i["name"], tuple(i["shape"]), i["draw"]) for i in said["inputs"])
    style = Style(**{**said["style"], "group": tuple(said["style"]["group"])})
    parts = {"inputs": inputs, "body": tuple(said["body"]), "layers": tuple(said["layers"]), "style": style}
    return Form(**{**said, **parts})


def _grouped(shape: tuple[str, ...], group: tuple[str, ...]) -> tuple[str, ...]:
    """The shape with the first run of the group's sizes as one starred name."""
    runs = [n for n in range(len(shape)) if group and shape[n : n + len(group)] == group]
    return (*shape[: runs[0]], f"*{GROUP}", *shape[runs[0] + len(group) :]) if runs else shape


def _type(text: str) -> str:
    """What a name of a size or a literal is, where one word says it."""
    node = ast.parse(text, mode="eval").body
    return type(node.value).__name__ if isinstance(node, ast.Constant) else "int" if isinstance(node, ast.Name) else ""


def wrapped(before: str, parts: Sequence[str], after: str) -> str:
    """A line, or where it is too long one for each of the parts."""
    line = f"{before}{', '.join(parts)}{after}\n"
    if len(line) <= LONGEST:
        return line
    margin = " " * (len(before) - len(before.lstrip()))
    return "\n".join([before, *(f"{margin}    {part}," for part in parts), f"{margin}{after}\n"])


def camel(*words: str) -> str:
    """``layer_norm`` as ``LayerNorm``."""
    parts = re.findall(r"[A-Za-z0-9]+", "_".join(words))
    name = "".join(p[0].upper() + p[1:] for p in parts)
    return name if not name[:1].isdigit() else f"Op{name}"


def pick(choices: tuple[str, ...], *key: object) -> str:
    """One of the choices, by what the program is: the same in every run."""
    return choices[int(digest(*map(str, key))[:8], 16) % len(choices)]

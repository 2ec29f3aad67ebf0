"""One program over PyTorch's operators, before it is written as a task."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

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


@dataclass(frozen=True, slots=True)
class Drawn:
    """An input of ``forward``: its shape as names of sizes or literals, and how it is drawn."""

    name: str
    shape: tuple[str, ...]
    draw: str = "normal"

    def expression(self) -> str:
        """What ``get_inputs`` says."""
        shape = ", ".join(self.shape)
        tuple_ = shape + ("," if len(self.shape) == 1 else "")
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

    def text(self, header: str) -> str:
        """The whole task."""
        body = "\n".join(f"        {line}" for line in self.body)
        names = ", ".join(["self", *(i.name for i in self.inputs)])
        code = f"class {self.name}(nn.Module):\n{self._constructor()}    def forward({names}):\n{body}\n"
        drawn = ", ".join(i.expression() for i in self.inputs)
        given = ", ".join(self.arguments.values())
        used = set(re.findall(r"\w+", f"{drawn} {given}"))
        constants = "".join(f"{name} = {value}\n" for name, value in self.sizes.items() if name in used)
        imports = WORKS + (FUNCTIONAL if re.search(r"\bF\.", code) else "")
        functions = f"def get_inputs():\n    return [{drawn}]\n\n\ndef get_init_inputs():\n    return [{given}]\n"
        return "\n\n".join(part for part in (f"# {header}\n{imports}", code, constants, functions) if part)

    def _constructor(self) -> str:
        if not self.layers:
            return ""
        head = "".join(f", {name}" for name in self.arguments)
        lines = "".join(f"        {line}\n" for line in self.layers)
        return f"    def __init__(self{head}):\n        super().__init__()\n{lines}\n"


def camel(*words: str) -> str:
    """``layer_norm`` as ``LayerNorm``."""
    parts = re.findall(r"[A-Za-z0-9]+", "_".join(words))
    name = "".join(p[0].upper() + p[1:] for p in parts)
    return name if not name[:1].isdigit() else f"Op{name}"


def pick(choices: tuple[str, ...], *key: object) -> str:
    """One of the choices, by what the program is: the same in every run."""
    return choices[int(digest(*map(str, key))[:8], 16) % len(choices)]

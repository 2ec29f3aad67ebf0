"""What makes a pair of a kernel: which of a library's functions to call, what it ought to compute, on which inputs.

Recipes are data (``recipes/*.toml``); the code they name is the library's.  In their expressions
``package.module:name`` stands for a definition of the library; where a version has it elsewhere, it is looked for.
A file that no statement can import goes by its own name (``python.tutorials.01-vector-add:add``), and a kernel whose
launcher asks the machine what the interpreter cannot answer is launched by the recipe: ``module:kernel[grid](...)``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "recipes"
SYMBOL = re.compile(r"(?<![\w.])(?P<module>[A-Za-z_]\w*(?:\.\w[\w-]*)*):(?P<name>[A-Za-z_]\w*)(?=[.(\[])")


def importable(name: str) -> str:
    """A module's dotted name, or a file's path, with names that Python can import."""
    parts = re.split(r"([./])", name.replace("-", "_"))
    return "".join(f"_{part}" if part[:1].isdigit() else part for part in parts)


@dataclass(frozen=True, slots=True)
class Recipe:
    """One pair.

    ``kernel`` and ``reference`` are expressions over the inputs' names, either may have lines before the expression;
    those of a ``layer`` are over the names of ``init``, and the layer is called with the inputs.
    """

    name: str
    kernel: str = ""
    reference: str = ""
    inputs: Mapping[str, str] = field(default_factory=dict)  # name of an input -> how it is drawn
    sizes: str = ""  # ``rows, columns = 512, 1024``: the integers that inputs and init are made of
    init: Mapping[str, str] = field(default_factory=dict)  # constructor's arguments: name -> expression over the sizes
    layer: bool = False  # ``kernel`` and ``reference`` construct layers
    arguments: str = ""  # of an operator in a registry, which says kernel and reference

    def glue(self, kernel: bool) -> str:
        """A file of the library that defines ``ModelNew`` or, without ``kernel``, ``Model``."""
        body = self.kernel if kernel else self.reference
        found = dict.fromkeys(m.groups() for m in SYMBOL.finditer(body))
        names = {key: f"{key[1]}_of_library" for key in found}
        imports = [f"from {importable(module)} import {name} as {names[module, name]}" for module, name in found]
        said = SYMBOL.sub(lambda m: names[m["module"], m["name"]], body)
        model = self._layer(said) if self.layer else self._function(said)
        name = "ModelNew" if kernel else "Model"
        head = ["import torch", "import torch.nn as nn", "import torch.nn.functional as F", "import triton", *imports]
        return "\n".join([*head, "", "", f"class {name}(nn.Module):", model, ""])

    def _function(self, said: str) -> str:
        *before, last = said.strip().splitlines()
        lines = [*before, last if last.lstrip().startswith("return") else f"return {last}"]
        return "\n".join([f"    def forward(self, {', '.join(self.inputs)}):", *(f"        {line}" for line in lines)])

    def _layer(self, said: str) -> str:
        given = ", ".join(self.inputs)
        return "\n".join([
            f"    def __init__({', '.join(['self', *self.init])}):", "        super().__init__()",
            f"        self.layer = {said}", "", f"    def forward(self, {given}):",
            f"        return self.layer({given})",
        ])  # fmt: skip

    def makers(self) -> str:
        """The task's sizes and its two functions."""
        inputs = ", ".join(self.inputs.values())
        sizes = f"{self.sizes.strip()}\n\n\n" if self.sizes else ""
        return (
            f"{sizes}def get_inputs():\n    return [{inputs}]\n\n\n"
            f"def get_init_inputs():\n    return [{', '.join(self.init.values())}]\n"
        )


def read(library: str) -> list[Recipe]:
    """The recipes of a library, in the order of its file; none where there is no file.

    Raises:
        ValueError: the file is not as it should be.
    """
    path = FOLDER / f"{library}.toml"
    if not path.exists():
        return []
    table: dict[str, dict[str, Any]] = tomllib.loads(path.read_text())
    common = table.pop("defaults", {})
    try:
        return [recipe for name, entry in table.items() for recipe in _recipes(name, common | entry)]
    except TypeError as error:
        raise ValueError(f"{path.name}: {error}") from error


def _recipes(name: str, entry: Mapping[str, Any]) -> list[Recipe]:
    """One recipe, or one for each of ``names``, which takes the place of ``NAME``."""
    plain = dict(entry)
    names: list[str] = plain.pop("names", [])
    if not names:
        return [Recipe(name=name, **plain)]
    return [Recipe(name=each, **{k: _put(v, each) for k, v in plain.items()}) for each in names]


def _put(value: Any, name: str) -> Any:
    if isinstance(value, dict):
        return {k: _put(v, name) for k, v in value.items()}
    return value.replace("NAME", name) if isinstance(value, str) else value

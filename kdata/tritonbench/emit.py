"""A call of a reference as a task: its tensors are the inputs of ``forward``, its numbers the constructor's."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping, Sequence
from typing import Literal

from kdata.tritonbench.calls import Argument, Call, Reading
from kdata.tritonbench.literals import Drawn

Kind = Literal["tensor", "number"] | str  # what else an argument is: the text of a constant
TENSOR, NUMBER = "tensor", "number"
MODULE = """\
class Model(torch.nn.Module):
{constructor}    def forward(self, {inputs}):
        return {call}


def get_inputs():
{input_lines}


def get_init_inputs():
{argument_lines}
"""
CONSTRUCTOR = """\
    def __init__(self, {names}):
        super().__init__()
{assignments}

"""


def task(reading: Reading, call: Call, kinds: Mapping[str, Kind], draw: bool) -> tuple[str, int]:
    """The text of a task, and how many literal tensors were replaced in it.

    Args:
        reading: the file.
        call: one of its calls.
        kinds: what each argument is, by the parameter's name.
        draw: whether literal tensors are drawn, see ``kdata.tritonbench.literals``.
    """
    tensors = [a for a in call.arguments if kinds[a.name] == TENSOR]
    numbers = [a for a in call.arguments if kinds[a.name] == NUMBER]
    inputs, count = _returning(call, tensors, draw)
    text = MODULE.format(
        constructor=_constructor([a.name for a in numbers]),
        inputs=", ".join(a.name for a in tensors),
        call=_called(reading, call, kinds),
        input_lines=inputs,
        argument_lines=_returning(call, numbers, False)[0],
    )
    return f"{_head(reading, text)}\n\n\n{text}", count


def _constructor(names: Sequence[str]) -> str:
    if not names:
        return ""
    lines = "\n".join(f"        self.{name} = {name}" for name in names)
    return CONSTRUCTOR.format(names=", ".join(names), assignments=lines)


def _called(reading: Reading, call: Call, kinds: Mapping[str, Kind]) -> str:
    """The expression that calls the reference in ``forward``."""

    def value(name: str) -> str:
        kind = kinds[name]
        return name if kind == TENSOR else f"self.{name}" if kind == NUMBER else kind

    given = [f"{a.name}={value(a.name)}" if a.keyword else value(a.name) for a in call.arguments]
    return f"{reading.function.name}({', '.join(given)})"


def _returning(call: Call, arguments: Sequence[Argument], draw: bool) -> tuple[str, int]:
    """The body of a function that makes these arguments, and how many literal tensors it draws."""
    values = ast.List([a.value for a in arguments], ast.Load())
    body: list[ast.stmt] = [copy.deepcopy(s) for s in (*call.setup(arguments), ast.Return(values))]
    drawn = Drawn()
    if draw:
        body = [drawn.visit(s) for s in body]
    lines = (line for s in body for line in ast.unparse(ast.fix_missing_locations(s)).splitlines())
    return "\n".join(f"    {line}" for line in lines), drawn.count


def _head(reading: Reading, text: str) -> str:
    """The reference, behind what it lacks of the imports that the rest needs."""
    bound = {n for s in ast.parse(reading.reference).body for n in _imported(s)}
    used = {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)}
    missing = [] if "torch" in bound else ["import torch"]
    for statement in reading.beside:
        names = _imported(statement)
        if names & used and not names <= bound | {"torch"}:
            missing.append(ast.unparse(statement))
            bound |= names
    return "\n".join([*missing, reading.reference])


def _imported(statement: ast.stmt) -> set[str]:
    aliases = statement.names if isinstance(statement, ast.Import | ast.ImportFrom) else []
    return {(a.asname or a.name).partition(".")[0] for a in aliases}

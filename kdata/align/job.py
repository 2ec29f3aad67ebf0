"""What a sandbox worker does for alignment: it executes the task's text, so it runs in a guarded child."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from kdata.align import device
from kdata.align.chance import one_by_chance
from kdata.align.errors import AlignError
from kdata.align.families import family
from kdata.align.inductor import parse
from kdata.align.lower import lower
from kdata.align.program import write
from kdata.align.scalars import build, with_arguments
from kdata.align.trace import Traced, operators, symbol_choices
from kdata.task import TaskError

# What a task may not be with some of its sizes as symbols, and be with fewer.
MENDABLE = ("not traceable", "compiler output", "not lowered", "not rewritten", "sizes are one by chance")
WARM_UP = """
import torch
class Model(torch.nn.Module):
    def __init__(self, channels, features):
        super().__init__()
        self.conv = torch.nn.Conv2d(channels, 16, 3)
        self.norm = torch.nn.LayerNorm(features)
        self.fc = torch.nn.Linear(features, features)
    def forward(self, x, y):
        return torch.softmax(self.fc(self.norm(y)), -1), torch.relu(self.conv(x)).mean((2, 3))
def get_inputs():
    return [torch.rand(4, 3, 32, 32), torch.rand(8, 64)]
def get_init_inputs():
    return [3, 64]
"""


def warm() -> None:
    """Load the compiler's tables once, before the worker forks."""
    warnings.simplefilter("ignore")
    import_module("sympy.physics.units")  # what sympy.simplify loads when it is first called
    torch.set_num_threads(1)
    device.install()
    align({"source": WARM_UP, "entry_point": "Model"}, Path())


def align(payload: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """Align one task: ``source`` and ``entry_point`` in; the candidate's unformatted text, or a reason, out."""
    source, entry_point = payload["source"], payload["entry_point"]
    try:
        traced, code, text, left = _with_fewer_symbols(source, entry_point)
    except (AlignError, TaskError) as error:
        reason = getattr(error, "reason", "not a task")
        return {"reason": reason, "detail": _one_line(getattr(error, "detail", str(error)))}
    ops = list(traced.operators)
    return {"text": text, "left": left, "operators": ops, "family": family(ops), "mode": traced.mode,
            "original": re.sub(r"^# kernel path: .*\n", "", code, flags=re.MULTILINE)}  # fmt: skip


def _with_fewer_symbols(
    source: str, entry_point: str, done: Callable[[str], None] = lambda part: None
) -> tuple[Traced, str, str, list[str]]:  # fmt: skip
    """The whole way with as many sizes as symbols as it bears: some sums of sizes cannot be read off any shape.

    ``done`` is told which part of it is done.
    """
    failure: AlignError | None = None
    for symbols in symbol_choices(source, entry_point):
        try:
            own = build(source, entry_point, symbols)
            done("trace")
            code = _stage("not lowered", lower, own.traced)
            done("lower")
            if size := one_by_chance(own.traced.environment):
                raise AlignError("sizes are one by chance", size)
            written = _stage("not rewritten", write, source, entry_point, own.traced, parse(code))
            done("write")
            with suppress(AlignError):  # whatever torch raises with other numbers: its text is for its own then
                if (
                    other := _stage("not lowered", with_arguments, source, entry_point, symbols, own, code)
                ) is not None:
                    written = _stage("not rewritten", write, source, entry_point, own.traced, other)
            done("numbers")
            return own.traced, code, *written
        except AlignError as error:
            failure = failure or error
            if error.reason not in MENDABLE:
                break
    assert failure is not None
    raise failure


def stages(payload: dict[str, Any], scratch: Path) -> dict[str, float]:
    """CPU seconds of each part of one alignment, for the benchmark."""
    found = dict.fromkeys(("trace", "lower", "write", "numbers"), 0.0)
    last = time.process_time()

    def done(part: str) -> None:
        nonlocal last
        now = time.process_time()
        found[part] += now - last
        last = now

    _with_fewer_symbols(payload["source"], payload["entry_point"], done)
    return found


def trace_operators(payload: dict[str, Any], scratch: Path) -> list[str]:
    """The operator sequence of one task, for the leakage filter; [] for what cannot be traced."""
    try:
        return list(operators(payload["source"], payload["entry_point"]))
    except (AlignError, TaskError):
        return []


def _stage(reason: str, function: Any, *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except AlignError:
        raise
    except Exception as error:  # torch's internals raise anything; the reason is counted
        raise AlignError(reason, f"{type(error).__name__}: {error}") from error


def _one_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return (lines[0] if lines else "")[:300]

"""How many of KernelBench's programs mining gives inputs to that had theirs taken away, and whether of their ranks.

python tests/bench/bench_kernelbench.py [CHECKOUT]

``CHECKOUT``, or the variable KERNELBENCH: a checkout of github.com/ScalingIntelligence/KernelBench.  Of each program of
levels 1 to 3 the functions ``get_inputs`` and ``get_init_inputs`` go, and the constants that only these read.  The peer
is KernelBench itself: its ranks, whose tensors are made on torch's ``meta`` device.
"""

from __future__ import annotations

import ast
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from kdata.record import Definition, SourceFile, Task
from sources import mine
from sources.fetch.local import collect

LEVELS = (1, 2, 3)
TAKEN = ("get_inputs", "get_init_inputs")


def main(arguments: Sequence[str]) -> None:
    """Print a line a level, and one for each program that is lost or that has other ranks."""
    checkout = Path(next(iter(arguments), os.environ.get("KERNELBENCH", "")), "KernelBench")
    if not (checkout / f"level{LEVELS[0]}").is_dir():
        print("not measured: name a checkout of KernelBench")
        return
    for level in LEVELS:
        programs = sorted((checkout / f"level{level}").glob("*.py"))
        meter, runs, equal = mine.Meter(), 0, 0
        for program in programs:
            made, told = mined(stripped(program.read_text()), meter), ranks(program)
            found = [len(i.shape) for i in made.inputs if i.dtype] if isinstance(made, Task) else []
            runs, equal = runs + isinstance(made, Task), equal + (found == told)
            if found != told:
                print(f"level {level}: {program.name}: {found or made}, KernelBench's: {told}", flush=True)
        print(f"level {level}: {runs} of {len(programs)} run, {equal} with KernelBench's ranks, "
              f"{meter.seconds / max(1, runs):.2f} CPU s each", flush=True)  # fmt: skip


def stripped(text: str) -> str:
    """A program without its inputs, and without the constants that nothing else reads."""
    tree = ast.parse(text)
    tree.body = [node for node in tree.body if getattr(node, "name", "") not in TAKEN]
    read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    tree.body = [node for node in tree.body if not isinstance(node, ast.Assign) or read & names(node)]
    return ast.unparse(tree)


def names(node: ast.Assign) -> set[str]:
    """What a statement assigns to."""
    return {inner.id for target in node.targets for inner in ast.walk(target) if isinstance(inner, ast.Name)}


def mined(text: str, meter: mine.Meter) -> Task | str:
    """The task of a program's ``Model``, or why there is none."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "program.py").write_text(text)
        files = [f for f in collect(folder) if isinstance(f, SourceFile)]
    cut = list(mine.cut_step(meter=meter).function(files))
    definitions = [d for d in cut if isinstance(d, Definition) and d.symbol == "Model"]
    made = [*cut, *mine.step(operators=mine.LARGE, meter=meter).function(definitions)]
    tasks = [m for m in made if isinstance(m, Task)]
    lost = [
        f"{m.reason}: {m.detail}" for m in made if not isinstance(m, Definition | Task) and m.name.endswith(":Model")
    ]
    return tasks[0] if tasks else "; ".join(lost) or "not cut"


def ranks(program: Path) -> list[int] | str:
    """Dimensions of each tensor that a program's own ``get_inputs`` makes; why not where it imports what is absent."""
    space: dict[str, Any] = {"__name__": program.stem}
    with torch.device("meta"):
        try:
            exec(compile(program.read_text(), program, "exec"), space)
        except ImportError as error:
            return str(error)
        return [x.dim() for x in space["get_inputs"]() if isinstance(x, torch.Tensor)]


if __name__ == "__main__":
    main(sys.argv[1:])

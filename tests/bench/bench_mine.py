"""Yield and CPU time of mining, beside paritybench's own generator on the same repositories.

python tests/bench/bench_mine.py [FOLDER ...]

``FOLDER``s, or the variable KDATA_MINE_REPOSITORIES (divided by commas): checkouts or unpacked wheels.  PARITYBENCH: a
checkout of github.com/jansel/pytorch-jit-paritybench (it needs ``pip install astor``); without it only mining is
measured.  Paritybench runs the repositories' code outside of any sandbox: name only ones that you trust.  Both are
counted over the same classes: those of the repository that have nn.Module among their bases, equal ones once.  Our
second share is of those that compute: no bases that are left to subclasses, no containers and views.  As ``kdata mine``
does, ours fetches the source of absent packages from the package index.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kdata.record import Definition, Dropped, SourceFile, Task
from sources import mine
from sources.cut.modules import ABSTRACT, NO_FORWARD
from sources.fetch.local import collect

PEER = Path(__file__).with_name("paritybench_peer.py")
NO_CLASS = ("duplicate", "does not parse", mine.NOT_CAPTURED, mine.NOT_FETCHED)  # reasons that are no loss of a class
NOTHING = (ABSTRACT, NO_FORWARD, "computes nothing")  # and those of classes that by themselves compute nothing
FUNCTION = re.compile(r"^def (\w+)\(", re.MULTILINE)
CLOCK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Yield:
    """What mining one repository gave."""

    classes: int
    computing: int  # of these
    tasks: int
    functions: int  # tasks of functions, which paritybench does not look at
    seconds: float  # of CPU, of all processes
    memory: int  # bytes of the largest process in the sandbox


def main(arguments: Sequence[str]) -> None:
    """Print a line a repository."""
    folders = list(arguments) or [f for f in os.environ.get("KDATA_MINE_REPOSITORIES", "").split(",") if f]
    checkout = os.environ.get("PARITYBENCH", "")
    if not folders:
        print("not measured: name the folders of repositories")
        return
    columns = ("repository", "classes", "our tasks", "of functions", "CPU s", "a task", "MiB")
    print(f"| {' | '.join(columns)} | paritybench | CPU s | a class that ran |")
    print("|---" * (len(columns) + 3) + "|")
    for folder in folders:
        ours = mined(Path(folder))
        share, other = (f"{ours.tasks / max(1, count):.0%}" for count in (ours.classes, ours.computing))
        each = ours.seconds / max(1, ours.tasks + ours.functions)
        line = f"| {Path(folder).name} | {ours.classes} | {ours.tasks} ({share}, {other}) | {ours.functions} | {ours.seconds:.0f} | {each:.2f} | {ours.memory >> 20} |"
        print(line + (peer(checkout, folder, ours.classes) if checkout else " - | - | - |"), flush=True)
    if not checkout:
        print("paritybench: not measured, name its checkout with PARITYBENCH")


def mined(folder: Path) -> Yield:
    """Mine all of a repository, in this process and the sandbox."""
    before, meter = seconds(), mine.Meter()
    files = [f for f in collect(str(folder)) if isinstance(f, SourceFile)]
    cut = list(mine.cut_step(meter=meter, inline=True).function(files))
    definitions = [d for d in cut if isinstance(d, Definition)]
    made = list(mine.step(operators=mine.LARGE, meter=meter).function(definitions))
    functions = {(d.origin.path, d.symbol) for d in definitions if re.search(rf"^def {d.symbol}\(", d.source, re.M)}
    tasks = [t for t in made if isinstance(t, Task)]
    plain = sum((t.origin.path, t.symbol) in functions for t in tasks)
    named = {":".join((f.origin.repository, f.origin.path, name)) for f in files for name in FUNCTION.findall(f.text)}
    refused = sum(isinstance(d, Dropped) and d.reason not in NO_CLASS and d.name not in named for d in cut)
    classes = len(definitions) - len(functions) + refused
    lost = [d for d in [*cut, *made] if isinstance(d, Dropped) and d.reason in NOTHING and d.name not in named]
    return Yield(classes, classes - len(lost), len(tasks) - plain, plain, seconds() - before, meter.memory)


def seconds() -> float:
    """CPU seconds of this process and of all that live or lived below it."""
    total = sum(os.times()[:4])
    return total + sum(_spent(pid) for pid in _below(os.getpid()))


def _below(pid: int) -> list[int]:
    try:
        children = [int(c) for t in Path(f"/proc/{pid}/task").iterdir() for c in (t / "children").read_text().split()]
    except OSError:
        return []
    return [*children, *(d for c in children for d in _below(c))]


def _spent(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / CLOCK


def peer(checkout: str, folder: str, classes: int) -> str:
    """Paritybench's columns for one repository."""
    started = time.perf_counter()
    done = subprocess.run([sys.executable, str(PEER), checkout, folder], capture_output=True, text=True, check=False)
    try:
        said = json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, ValueError):
        why = (done.stderr.strip().splitlines() or ["nothing said"])[-1]
        return f" failed after {time.perf_counter() - started:.0f} s: {why[:80]} | - | - |"
    return f" {said['ran']} ({said['ran'] / max(1, classes):.0%}) | {said['seconds']:.0f} | {said['seconds'] / max(1, said['ran']):.2f} |"


if __name__ == "__main__":
    main(sys.argv[1:])

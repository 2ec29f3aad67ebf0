"""The red-team suite's confusion matrix: ``make redteam``, or ``python tests/redteam.py [FILES]``.

Each file of ``tests/kernels`` holds a task and a kernel; its first line says what the judge must answer, at which
level if not at ``screen``, and which entries of the catalogue of cheats it is about::

    # rejected: wrong result at trust [C5]
    # verified [twin of C5 C11]          the honest kernel that a judge which rejects too much would reject, too
    # unverified: reference is nondeterministic [F5]

Letters: A clocks, B results kept, C wrong answers, D no kernel, E the machine, F tasks. Exit status 1 if one differs.
"""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import triton
from packaging.version import parse
from rich.console import Console
from rich.progress import track
from rich.table import Table

from kdata.record import Receipt
from kdata.verify.judge import judge_files
from kdata.verify.options import Level, Options

KERNELS = Path(__file__).parent / "kernels"
LINE = re.compile(r"# (?P<verdict>[^\[]+?)(?: at (?P<level>screen|trust))?(?: \[(?:twin of )?(?P<numbers>[^\]]*)\])?")


@dataclass(frozen=True, slots=True)
class Claim:
    """What a file's first line says."""

    verdict: str  # with the reason, as ``say`` has it
    level: Level
    numbers: tuple[str, ...]

    @staticmethod
    def read(file: Path) -> Claim:
        """The claim of a file.

        Raises:
            ValueError: its first line has another form.
        """
        line = file.read_text().partition("\n")[0]
        match = LINE.fullmatch(line)
        if match is None:
            raise ValueError(f"{file.name}: {line!r} is no claim")
        level: Level = "trust" if match["level"] == "trust" else "screen"
        return Claim(match["verdict"], level, tuple((match["numbers"] or "").split()))


def say(receipt: Receipt) -> str:
    """A verdict as first lines have it."""
    return f"{receipt.verdict}: {receipt.reason}" if receipt.reason else receipt.verdict


def known() -> list[Path]:
    """The files that say nothing which the installed triton has no more: block pointers went with 3.9."""
    gone = () if parse(triton.__version__) < parse("3.9") else ("tl.make_block_ptr",)
    return [f for f in sorted(KERNELS.glob("*.py")) if not any(name in f.read_text() for name in gone)]


def main(arguments: list[str]) -> int:
    """Judge the files, print what differs and the matrix."""
    console = Console()
    files = [Path(a) for a in arguments] or known()
    if missing := next((file for file in files if not file.is_file()), None):
        console.print(f"no such file: {missing}", style="red", soft_wrap=True)
        return 2
    matrix: Counter[tuple[str, str]] = Counter()
    covered: set[str] = set()
    differing = 0
    started = time.monotonic()
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        claims = [Claim.read(file) for file in files]
        judged = zip(files, claims, pool.map(_judge, files, claims), strict=True)
        for file, claim, receipt in track(judged, total=len(files), console=console, transient=True):
            matrix[_kind(claim.verdict), receipt.verdict] += 1
            covered |= set(claim.numbers) if "good" not in file.stem else set()
            if say(receipt) != claim.verdict:
                differing += 1
                told = f"{file.name}: {say(receipt)} instead of {claim.verdict} ({receipt.detail})"
                console.print(told, markup=False)
    console.print(_table(matrix))
    seconds = time.monotonic() - started
    console.print(f"{len(files)} files, {differing} differ; {len(covered)} catalogue entries; {seconds:.0f} s")
    console.print(" ".join(sorted(covered, key=lambda n: (n[0], int(n[1:])))), highlight=False)
    return int(differing > 0)


def _judge(file: Path, claim: Claim) -> Receipt:
    return judge_files(file, file, Options(timeout=20.0, level=claim.level))


def _kind(verdict: str) -> str:
    return {"verified": "clean twins", "rejected": "cheats"}.get(verdict.partition(":")[0], "tasks that tell nothing")


def _table(matrix: Counter[tuple[str, str]]) -> Table:
    verdicts = ("verified", "rejected", "unverified")
    table = Table("", *verdicts, title="What the judge said")
    for kind in ("clean twins", "cheats", "tasks that tell nothing"):
        table.add_row(kind, *(str(matrix[kind, verdict]) for verdict in verdicts))
    return table


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

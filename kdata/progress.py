"""Progress of a run by stage: bars on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

LINE_SECONDS = 10.0


@dataclass(slots=True)
class Count:
    """How far one stage is."""

    shards: int = 0  # expected
    done: int = 0
    failed: int = 0
    kept: int = 0
    dropped: int = 0
    seconds: float = 0.0


class Progress:
    """Counts by stage."""

    def __init__(self, stages: Sequence[str]) -> None:
        self.stages: dict[str, Count] = {stage: Count() for stage in stages}
        self.started = time.monotonic()

    def expect(self, stage: str, shards: int) -> None:
        """Expect so many more shards of a stage, or fewer."""
        self.stages[stage].shards += shards

    def finish(self, stage: str, kept: int, dropped: int, seconds: float) -> None:
        """Count a finished shard."""
        count = self.stages[stage]
        count.done += 1
        count.kept += kept
        count.dropped += dropped
        count.seconds += seconds

    def fail(self, stage: str) -> None:
        """Count a shard that could not be made."""
        self.stages[stage].done += 1
        self.stages[stage].failed += 1

    def fraction(self) -> float:
        """Finished shards of those expected, from 0 to 1."""
        return sum(c.done for c in self.stages.values()) / max(1, sum(c.shards for c in self.stages.values()))

    def remaining(self, parallel: int) -> float | None:
        """Seconds left, by the mean time of each stage's finished shards; None while a stage has none."""
        waiting = [c for c in self.stages.values() if c.shards > c.done and c.shards > 1]
        if any(c.done == 0 for c in waiting):
            return None
        return sum((c.shards - c.done) * c.seconds / c.done for c in waiting) / parallel

    def line(self, parallel: int) -> str:
        """All counts in one line."""
        parts = [f"{stage} {c.done}/{c.shards} ({c.kept} kept)" for stage, c in self.stages.items() if c.shards]
        left = self.remaining(parallel)
        return " | ".join(parts) + (f" | about {left / 60:.0f} min left" if left and left >= 60 else "")


class Watcher(Protocol):
    """Who shows progress."""

    def update(self, progress: Progress) -> None:
        """Show the counts; called about once a second."""

    def log(self, message: str, failed: bool = False) -> None:
        """Show what happened."""


@dataclass(slots=True)
class Lines:
    """Plain lines on standard error: what happened as it happens, all counts now and then."""

    parallel: int
    console: Console = field(default_factory=lambda: Console(stderr=True, soft_wrap=True, highlight=False))
    _next: float = 0.0
    _pause: float = 0.0  # after the first line, which says what is begun, the next one may come at once

    def update(self, progress: Progress) -> None:
        """Print the counts if it is time."""
        now = time.monotonic()
        if now >= self._next:
            self._next, self._pause = now + self._pause, LINE_SECONDS
            self.console.print(f"[{now - progress.started:6.0f} s] {progress.line(self.parallel)}", markup=False)

    def log(self, message: str, failed: bool = False) -> None:
        """Print what happened."""
        self.console.print(message, markup=False)


class Terminal:
    """One bar a stage, on a terminal."""

    def __init__(self, parallel: int, console: Console) -> None:
        self.parallel = parallel
        self.bars = Bars(
            TextColumn("{task.description:>8}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[note]}"),
            TimeElapsedColumn(), console=console,
        )  # fmt: skip
        self.rows: dict[str, TaskID] = {}

    def __enter__(self) -> Terminal:
        self.bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bars.stop()

    def update(self, progress: Progress) -> None:
        """Draw the bars."""
        for stage, count in progress.stages.items():
            if not count.shards:
                continue
            if stage not in self.rows:
                self.rows[stage] = self.bars.add_task(stage, note="", total=count.shards)
            note = f"{count.kept} kept, {count.dropped} dropped" + (f", {count.failed} failed" if count.failed else "")
            self.bars.update(self.rows[stage], total=count.shards, completed=count.done, note=note)

    def log(self, message: str, failed: bool = False) -> None:
        """Print failures above the bars; the bars show the rest."""
        if failed:
            self.bars.console.print(message, markup=False, highlight=False)

"""Mining sources for `kdata mine`: side by side, each cut once, then its parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from flows.build_options import shares
from kdata.progress import Watcher
from kdata.record import Definition, SourceFile, Task
from kdata.shards import Manifest, Store
from kdata.terminal import Tally, resumable, watching
from sources import repositories
from sources.collect import collect
from sources.cut.modules import ABSTRACT, NO_FORWARD
from sources.lessons import TELLS_NOTHING
from sources.mine import LARGE, Meter

REASONS = 6  # of a source that the table names; the rest is summed up
# What was not tried, or is another's: no loss.
UNTRIED = (repositories.FULL, "duplicate")
# Classes that by themselves compute nothing: bases left to subclasses, containers, views.
NOTHING = (ABSTRACT, NO_FORWARD, "computes nothing")
LEGEND = (
    "refused: runs, but its answers are constant, random or not finite, or an input does not matter.\n"
    "CPU s: a task, with what was tried in vain. MiB: the most that one of its processes had in memory."
)


@dataclass(frozen=True, slots=True)
class Mined:
    """What became of one source."""

    source: str
    tasks: tuple[Task, ...]
    cut: int  # definitions
    reasons: Counter[str]  # why the others, or files of theirs, are none
    seconds: float  # of CPU; 0 where all was found finished
    made: int  # tasks among them that are not from an earlier run
    memory: int  # bytes of the largest process; 0 as above

    @property
    def found(self) -> int:
        """Definitions, and files, that were looked at."""
        return len(self.tasks) + self.reasons.total()


def mined(
    sources: Sequence[str], out: str, limit: int | None, seed: int, workers: int, size: int, inline: bool = False
) -> list[Mined]:
    """Mine sources side by side, each in shards of about ``size``; ``inline`` is as in ``sources.mine``.

    At most ``workers`` shards are in work at once, of whichever sources.

    Raises:
        sources.fetch.texts.SourceError: one of the sources cannot be had; none is begun then.
    """
    store = Store(out)
    files = {s: [f for f in collect(s) if isinstance(f, SourceFile)] for s in dict.fromkeys(sources)}
    meters = {source: Meter() for source in files}
    with resumable(), watching(workers) as watcher, ThreadPoolExecutor(workers) as threads:
        steps = [repositories.cut_step(limit, seed, meters[source], inline) for source in files]
        cuts = [threads.submit(step.run_on, store, files[s]) for s, step in zip(files, steps, strict=True)]
        begun = [
            _begun(source, cut.result(), store, limit, size, meters[source], threads, watcher)
            for source, cut in zip(files, cuts, strict=True)
        ]
        return [ended() for ended in begun]


def _begun(
    source: str, cut: Manifest, store: Store, limit: int | None, size: int, meter: Meter, threads: Executor,
    watcher: Watcher,
) -> Callable[[], Mined]:  # fmt: skip
    """Submit the parts of one source that was cut; what is returned waits for them."""
    found = store.read(cut.name, Definition)
    limits = [None] * max(1, len(found) // size) if limit is None else shares(limit, size)
    steps = [repositories.step(share, part, len(limits), LARGE, meter) for part, share in enumerate(limits)]
    finished = {s.output([cut.name]) for s in steps if store.manifest(s.output([cut.name])) is not None}
    tally = Tally(f"mine {source}", len(found) * (len(steps) - len(finished)) // len(steps), watcher)
    parts = [threads.submit(step.run, store, [cut.name], tally.settle) for step in steps]

    def ended() -> Mined:
        manifests = [part.result() for part in parts]
        reasons = sum((Counter(m.reasons) for m in [cut, *manifests]), Counter[str]())
        tasks = tuple(t for m in manifests for t in store.read(m.name, Task))
        made = sum(m.kept for m in manifests if m.name not in finished)
        return Mined(source, tasks, cut.kept, reasons, meter.seconds, made, meter.memory)

    return ended


def table(rows: Sequence[Mined]) -> Table:
    """Sources by what was found in them, cut, and runs; and what a task cost.

    The share of runnable tasks is of all that was tried, and in parentheses of what of it computes.  What is refused
    runs, too; what is lost was not brought to run, or is too large.
    """
    shown = Table(title="Mined", title_justify="left", caption=LEGEND, caption_justify="left")
    shown.add_column("source", overflow="fold")
    for name in ("found", "cut", "runnable", "share", "refused", "lost", "CPU s", "MiB"):
        shown.add_column(name, justify="right")
    names = _names(rows)
    for row in rows:
        shown.add_row(names[row.source], *_cells(row))
    if len(rows) > 1:
        shown.add_section()
        every = sum((r.reasons for r in rows), Counter[str]())
        total = Mined("all", tuple(t for r in rows for t in r.tasks), sum(r.cut for r in rows), every,
                      sum(r.seconds for r in rows), sum(r.made for r in rows), max(r.memory for r in rows))  # fmt: skip
        shown.add_row(total.source, *_cells(total))
    return shown


def losses(rows: Sequence[Mined]) -> Table:
    """Why the rest of each source is no task, most frequent first."""
    shown = Table(title="Not made into tasks", title_justify="left")
    shown.add_column("source", overflow="fold")
    shown.add_column("number", justify="right")
    shown.add_column("reason", overflow="fold")
    names = _names(rows)
    for row in (r for r in rows if r.reasons):
        for place, (reason, count) in enumerate(_why(row.reasons)):
            shown.add_row("" if place else names[row.source], str(count), reason)
        shown.add_section()
    return shown


def _ending(source: str) -> str:
    if source.startswith("git:"):
        return "/".join(source.rstrip("/").split("/")[-2:])
    return source if ":" in source else Path(source).resolve().name


def _names(rows: Sequence[Mined]) -> dict[str, str]:
    """What tables call sources: folders by their last part, repositories by two, where that tells them apart."""
    last = {row.source: _ending(row.source) for row in rows}
    counts = Counter(last.values())
    return {source: name if counts[name] == 1 else source for source, name in last.items()}


def _cells(row: Mined) -> list[str]:
    lost = sum(count for reason, count in row.reasons.items() if reason not in (*UNTRIED, *NOTHING, *TELLS_NOTHING))
    nothing, refused = (sum(row.reasons[reason] for reason in reasons) for reasons in (NOTHING, TELLS_NOTHING))
    computing = len(row.tasks) + refused + lost
    of_all, of_computing = (f"{len(row.tasks) / max(1, n):.0%}" for n in (computing + nothing, computing))
    cost = f"{row.seconds / row.made:.2f}" if row.made else "-"
    counts = map(str, (row.found, row.cut, len(row.tasks)))
    memory = str(row.memory >> 20) if row.memory else "-"
    return [*counts, f"{of_all} ({of_computing})", str(refused), str(lost), cost, memory]


def _why(reasons: Counter[str]) -> list[tuple[str, int]]:
    ordered = sorted(reasons.items(), key=lambda i: (-i[1], i[0]))
    rest = sum(count for _, count in ordered[REASONS:])
    return [*ordered[:REASONS], *([("others", rest)] if rest else [])]

"""What a build leaves behind once its shards are made: the dataset, its report, and what was decided."""

from __future__ import annotations

import json
import os
import posixpath
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import fsspec

from cards import dataset
from filters import leakage
from filters.licence import UNLICENSED
from flows.build_options import BuildOptions
from flows.kernelbook import UNCHECKED, Build, Failure
from flows.stages import COLLECT, problems, store
from kdata import storage
from kdata.publish import push, read_dataset, write_dataset
from kdata.record import Dropped, Pair
from kdata.report import write_report
from kdata.shards import Manifest, Store
from kdata.statistics import PIPELINE, funnel

RUN = "shards/run.json"  # the shards of the last run, in order
OPTIONS = "options.json"


class BuildError(ValueError):
    """A build that did not end as it should; the message says why in one line."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a build came to."""

    out: str
    rows: int
    funnel: list[dict[str, Any]]  # one row a stage
    failures: list[str]
    broken: int = 0  # failed shards of stages after collecting: faults of ours or of the machine
    report: str = ""  # where report.html is
    note: str = ""  # what a user of the rows should know

    def check(self) -> None:
        """Raise a ``BuildError`` if there is nothing to publish, or shards are missing from it.

        A source that could not be had is counted and no error.
        """
        if not self.rows:
            raise BuildError(f"nothing to publish{self._last_loss()}: {self.line()}")
        if self.broken:
            raise BuildError(f"{self.broken} shards could not be made, the same command tries again: {self.line()}")

    def _last_loss(self) -> str:
        """The stage that dropped what was left, and why."""
        row = next((r for r in reversed(self.funnel) if r["dropped"]), None)
        if row is None:
            return ""
        hint = "; a file LICENSE beside the sources would be one" if UNLICENSED in row["reasons"] else ""
        return f", {row['stage']} dropped the last {row['dropped']} ({row['reasons']}{hint})"

    def _pairs(self) -> str:
        return f"{self.rows} verified pair" + ("" if self.rows == 1 else "s")

    def line(self) -> str:
        """The outcome in one line."""
        failed = f"; {len(self.failures)} failed: {'; '.join(self.failures)}" if self.failures else ""
        return f"{self._pairs()} in {self.out}{f', {self.note}' if self.note else ''}{failed}"

    def markdown(self) -> str:
        """The outcome for the Prefect UI."""
        rows = "\n".join(f"| {r['stage']} | {r['kept']} | {r['dropped']} | {r['reasons']} |" for r in self.funnel)
        failed = "\n".join(f"- {failure}" for failure in self.failures) or "none"
        note = f"\n\n{self.note[:1].upper() + self.note[1:]}." if self.note else ""
        head = f"# {self._pairs()}\n\n`{self.out}`{note}"
        table = f"| stage | kept | dropped | why |\n|---|---|---|---|\n{rows}"
        return f"{head}\n\n{table}\n\n## Failed\n\n{failed}\n"


def save(out: str, name: str, value: Any) -> None:
    """Write JSON into the build's folder."""
    storage.put(posixpath.join(out, name), (json.dumps(value, indent=1, sort_keys=True) + "\n").encode())


def finish(build: Build, published: Manifest | None) -> Outcome:
    """Write the dataset and the report of a run."""
    options, made = build.options, build.made()
    save(options.out, OPTIONS, options.model_dump())
    save(options.out, "sources.lock.json", _lock(made))
    save(options.out, RUN, [m.name for m in made])
    said = [f.message if f.job.source and f.message.startswith(f.job.source) else f"{f.label}: {f.message}"
            for f in build.failures]  # fmt: skip
    broken = sum(f.job.stage != COLLECT for f in build.failures)
    table, note = _table(made, build.failures), "" if options.problems else UNCHECKED
    if published is None:
        return Outcome(options.out, 0, table, said, broken)
    rows = _write(options, made, published)
    return Outcome(options.out, rows, table, said, broken, report_of(options.out), note)


def _write(options: BuildOptions, made: Sequence[Manifest], published: Manifest) -> int:
    """Write the dataset, put it on the Hub if that is wanted, and return its number of rows."""
    place = store(options.out)
    pairs = place.read(published.name, Pair)
    overlaps = leakage.flags(pairs, problems(options)) if options.problems else None
    write_dataset(pairs, _dropped(place, made), options.out, dataset.render, options.seed, overlaps)
    if options.publish_to:
        push(options.out, options.publish_to, os.environ.get("HF_TOKEN"))
    return len(pairs)


def report_of(out: str, file: str = "") -> str:
    """Write the report of a build's last run and return where it is.

    Raises:
        FileNotFoundError: the folder holds no finished build.
    """
    fs, path = fsspec.core.url_to_fs(posixpath.join(out, RUN))
    if not fs.exists(path):
        raise FileNotFoundError(f"{out} holds no finished build: it has no {RUN}")
    place = store(out)
    made = [m for name in json.loads(fs.cat_file(path)) if (m := place.manifest(name))]
    file = file or posixpath.join(out, "report.html")
    asked = json.loads(fs.cat_file(path.removesuffix(RUN) + OPTIONS))
    notes = () if asked["problems"] else (UNCHECKED,)
    write_report(file, funnel(_by_stage(made)), read_dataset(out), _dropped(place, made), notes)
    return file


def _dropped(place: Store, made: Sequence[Manifest]) -> list[Dropped]:
    return [dropped for manifest in made for dropped in place.read_dropped(manifest.name)]


def _by_stage(made: Sequence[Manifest]) -> dict[str, list[Manifest]]:
    return {stage: [m for m in made if m.stage == stage] for stage in PIPELINE}


def _table(made: Sequence[Manifest], failures: Sequence[Failure]) -> list[dict[str, Any]]:
    """One row a stage: what it kept and dropped, and the commonest reasons."""
    failed = Counter(f.job.stage for f in failures)
    return [
        {
            "stage": stage.name, "failed": failed[stage.name], "kept": stage.kept, "dropped": stage.dropped,
            "reasons": ", ".join(f"{reason} {count}" for reason, count in list(stage.reasons.items())[:8]),
        }
        for stage in funnel(_by_stage(made)).stages
    ]  # fmt: skip


def _lock(made: Sequence[Manifest]) -> dict[str, Any]:
    """What each source's name meant, and the shard that pins it."""
    collected = (m for m in made if m.stage == COLLECT)
    return {m.parameters["source"]: {"shard": m.name, "revisions": m.parameters["revisions"]} for m in collected}

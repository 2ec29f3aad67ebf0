"""What a build leaves behind once its shards are made: the dataset, its report, and what was decided."""

from __future__ import annotations

import json
import os
import posixpath
from collections import Counter
from dataclasses import dataclass
from typing import Any

import fsspec

from cards import dataset
from filters import leakage
from flows.build_options import BuildOptions
from flows.kernelbook import Build, Failure
from flows.stages import COLLECT, STAGES, problems, store
from kdata.publish import push, write_dataset
from kdata.record import Pair
from kdata.shards import Manifest


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

    def check(self) -> None:
        """Raise a ``BuildError`` if there is nothing to publish, or shards are missing from it.

        A source that could not be had is counted and no error.
        """
        if not self.rows:
            raise BuildError(f"nothing to publish: {self.line()}")
        if self.broken:
            raise BuildError(f"{self.broken} shards could not be made; the same command tries them again: {self.line()}")

    def line(self) -> str:
        """The outcome in one line."""
        failed = f"; {len(self.failures)} failed: {'; '.join(self.failures)}" if self.failures else ""
        return f"{self.rows} verified pairs in {self.out}{failed}"

    def markdown(self) -> str:
        """The outcome for the Prefect UI."""
        rows = "\n".join(f"| {r['stage']} | {r['kept']} | {r['dropped']} | {r['reasons']} |" for r in self.funnel)
        failed = "\n".join(f"- {failure}" for failure in self.failures) or "none"
        head = f"# {self.rows} verified pairs\n\n`{self.out}`\n\n| stage | kept | dropped | why |\n|---|---|---|---|\n"
        return f"{head}{rows}\n\n## Failed\n\n{failed}\n"


def save(options: BuildOptions, name: str, value: Any) -> None:
    """Write JSON into the build's folder."""
    fs, path = fsspec.core.url_to_fs(posixpath.join(options.out, name))
    fs.makedirs(posixpath.dirname(path), exist_ok=True)
    fs.pipe_file(path, (json.dumps(value, indent=1, sort_keys=True) + "\n").encode())


def finish(build: Build, published: Manifest | None) -> Outcome:
    """Write the dataset and the report of a run."""
    options, made = build.options, build.made()
    save(options, "options.json", options.model_dump())
    save(options, "sources.lock.json", _lock(made))
    failures = [f.message if f.job.source and f.message.startswith(f.job.source) else f"{f.label}: {f.message}" for f in build.failures]
    broken = sum(f.job.stage != COLLECT for f in build.failures)
    rows = _write(options, made, published) if published else 0
    return Outcome(options.out, rows, funnel(made, build.failures), failures, broken)


def _write(options: BuildOptions, made: list[Manifest], published: Manifest) -> int:
    """Write the dataset, put it on the Hub if that is wanted, and return its number of rows."""
    place = store(options)
    pairs = place.read(published.name, Pair)
    dropped = [d for manifest in made for d in place.read_dropped(manifest.name)]
    overlaps = leakage.flags(pairs, problems(options.problems)) if options.problems else {}
    write_dataset(pairs, dropped, options.out, dataset.render, options.seed, overlaps)
    if options.publish_to:
        push(options.out, options.publish_to, os.environ.get("HF_TOKEN"))
    return len(pairs)


def funnel(made: list[Manifest], failures: list[Failure]) -> list[dict[str, Any]]:
    """One row a stage: what it kept and dropped, and the commonest reasons."""
    return [row for stage in STAGES if (row := _row(stage, made, failures))]


def _row(stage: str, made: list[Manifest], failures: list[Failure]) -> dict[str, Any] | None:
    shards = [m for m in made if m.stage == stage]
    failed = sum(f.job.stage == stage for f in failures)
    if not shards and not failed:
        return None
    reasons: Counter[str] = Counter()
    for manifest in shards:
        reasons.update(manifest.reasons)
    return {
        "stage": stage, "shards": len(shards), "failed": failed, "kept": sum(m.kept for m in shards),
        "dropped": sum(m.dropped for m in shards),
        "reasons": ", ".join(f"{reason} {n}" for reason, n in sorted(reasons.items(), key=lambda i: (-i[1], i[0]))[:8]),
    }  # fmt: skip


def _lock(made: list[Manifest]) -> dict[str, Any]:
    """What each source's name meant, and the shard that pins it."""
    collected = (m for m in made if m.stage == COLLECT)
    return {m.parameters["source"]: {"shard": m.name, "revisions": m.parameters["revisions"]} for m in collected}

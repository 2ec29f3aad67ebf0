"""The stages of a build as functions of plain values, which run in a thread, a Prefect task or a Ray worker alike.

A job takes the names of finished shards, makes one shard and returns its manifest: small enough to travel anywhere.
"""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from filters import chain, dedup, leakage
from flows.build_options import BuildOptions
from kdata.align import step as align
from kdata.record import Dropped, SourceFile, digest
from kdata.shards import Manifest, Store
from kdata.step import Step
from kdata.verify import step as verify
from kdata.verify import targets
from sources import collect as collecting
from sources import mine as mining

COLLECT, MINE, ALIGN, VERIFY, FILTER, LEAKAGE, DEDUP = STAGES = (
    "collect", "mine", "align", "verify", "filter", "leakage", "dedup",
)  # fmt: skip
COLLECT_VERSION = "1"
_reading = threading.Lock()


@dataclass(frozen=True, slots=True)
class Job:
    """One shard to be made."""

    stage: str
    source: str  # the source's spec, "" for the job that takes all
    part: int = 0
    inputs: tuple[str, ...] = ()


def store(out: str) -> Store:
    """Where the shards of a build are."""
    return Store(f"{out.rstrip('/')}/shards")


def check(options: BuildOptions) -> None:
    """Find out at the start what would be found out at the end.

    Raises:
        ValueError: an unknown target, no benchmark problems where they should be, or no token to publish with.
    """
    for target in options.targets:
        targets.parse(target)
    if options.problems and not Path(options.problems).exists():
        raise ValueError(f"there are no benchmark problems at {options.problems}")
    if options.publish_to and not os.environ.get("HF_TOKEN"):
        raise ValueError(f"publishing to {options.publish_to} needs a token: set HF_TOKEN")


def chain_of(options: BuildOptions) -> tuple[str, ...]:
    """The stages that each mined shard goes through by itself, in order."""
    return (MINE, ALIGN, VERIFY, FILTER, *((LEAKAGE,) if options.problems else ()))


def work(options: BuildOptions, job: Job) -> Manifest:
    """Make the job's shard, unless it is finished already, and return its manifest."""
    if job.stage == COLLECT:
        return collect(options, job.source)
    return _step(options, job.stage, job.part).run(store(options.out), job.inputs)


def is_remote(spec: str) -> bool:
    """Whether a source is fetched through the network: a package, or a git repository by URL."""
    return spec.startswith("pypi:") or (spec.startswith("git:") and "://" in spec)


def collect(options: BuildOptions, spec: str) -> Manifest:
    """Fetch the files of one source.

    A package or a remote repository is fetched once: the shard pins the version that its name meant then.  What is on
    this disk is read again each time, and its shard named by its content.

    Raises:
        sources.collect.SourceError: the source cannot be had.
    """
    place, pinned = store(options.out), f"{COLLECT}/{digest(COLLECT, COLLECT_VERSION, spec)}"
    if is_remote(spec) and (finished := place.manifest(pinned)):
        return finished
    started = time.monotonic()
    found = collecting.collect(spec)
    files = [f for f in found if isinstance(f, SourceFile)]
    dropped = [f for f in found if isinstance(f, Dropped)]
    name = pinned if is_remote(spec) else f"{COLLECT}/{digest(COLLECT, COLLECT_VERSION, spec, *(f.id for f in files))}"
    if finished := place.manifest(name):
        return finished
    revisions = sorted({f"{f.origin.repository} {f.origin.revision}" for f in files})
    manifest = Manifest(
        name, COLLECT, SourceFile.__name__, len(files), len(dropped), dict(Counter(d.reason for d in dropped)), [],
        {"source": spec, "revisions": revisions}, round(time.monotonic() - started, 3),
    )  # fmt: skip
    place.write(SourceFile, files, dropped, manifest)
    return manifest


def _step(options: BuildOptions, stage: str, part: int) -> Step[Any, Any]:
    """A stage with the parameters of this build."""
    limits = options.part_limits()
    if stage == MINE:
        return mining.step(limits[part], part, len(limits), options.seed)
    if stage == ALIGN:
        return align.step()
    if stage == VERIFY:
        return verify.step(tuple(options.targets), options.seeds)
    if stage == FILTER:
        return chain.step()
    if stage == LEAKAGE and options.problems:
        return leakage.step(problems(options.problems))
    if stage == DEDUP:
        return dedup.step()
    raise ValueError(f"no stage {stage}")


def problems(path: str) -> leakage.Problems:
    """The benchmark's fingerprints, made once a process: tracing two hundred problems takes minutes."""
    with _reading:
        return _read_problems(path)


@cache
def _read_problems(path: str) -> leakage.Problems:
    return leakage.load_problems(path, align.trace_operators)

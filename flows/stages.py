"""The stages of a build as functions of plain values, which run in a thread, a Prefect task or a Ray worker alike.

A job takes the names of finished shards, makes one shard and returns its manifest: small enough to travel anywhere.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from filters import chain, conciseness, dedup, diversity, leakage
from flows.build_options import BuildOptions
from kdata import storage
from kdata.align import step as align
from kdata.record import Dropped, Pair, SourceFile, digest
from kdata.sandbox import isolation, pool
from kdata.shards import Manifest, Store
from kdata.statistics import PIPELINE
from kdata.step import Step
from kdata.verbs import run
from kdata.verify import step as verify
from kdata.verify.compiling import targets
from sources import collect as collecting
from sources import repositories

COLLECT, CUT, MINE, ALIGN, VERIFY, FILTER, LEAKAGE, DEDUP, DIVERSITY = PIPELINE
CHAIN = (MINE, ALIGN, VERIFY, FILTER)  # what each part of a source goes through by itself
BENCHMARK = "benchmark"  # reads the problems that leakage compares with
PROBLEMS = 20  # benchmark problems of one shard
COLLECT_VERSION = "1"


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
        OSError: nothing can be written where the build is to be.
        kdata.sandbox.isolation.IsolationError: this machine does not give the isolation required.
    """
    for target in options.targets:
        targets.parse(target)
    storage.demand_folder(options.out)
    chunks(options)
    if options.publish_to and not os.environ.get("HF_TOKEN"):
        raise ValueError(f"publishing to {options.publish_to} needs a token: set HF_TOKEN")
    pool.demand(options.require_isolation)


def whole_of(options: BuildOptions) -> tuple[str, ...]:
    """The stages that take all pairs at once, in order."""
    return (*((LEAKAGE,) if options.problems else ()), DEDUP, DIVERSITY)


def work(options: BuildOptions, job: Job) -> Manifest:
    """Make the job's shard, unless it is finished already, and return its manifest."""
    isolation.require(isolation.parse(options.require_isolation))  # in this process, which may be on another machine
    if job.stage == COLLECT:
        return collect(options, job.source)
    if job.stage == BENCHMARK:
        return fingerprints(options, job.part)
    return _step(options, job).run(store(options.out), job.inputs)


def collect(options: BuildOptions, spec: str) -> Manifest:
    """Fetch the files of one source.

    A package, a remote repository or a part of a dataset is fetched once: the shard pins the version that its name
    meant then.  What is on this disk is read again each time, and its shard named by its content.

    Raises:
        sources.collect.SourceError: the source cannot be had.
    """
    place, pinned = store(options.out), f"{COLLECT}/{digest(COLLECT, COLLECT_VERSION, spec)}"
    remote = collecting.is_remote(spec)
    if remote and (finished := place.manifest(pinned)):
        return finished
    started = time.monotonic()
    found = collecting.collect(spec)
    files = [f for f in found if isinstance(f, SourceFile)]
    dropped = [f for f in found if isinstance(f, Dropped)]
    name = pinned if remote else f"{COLLECT}/{digest(COLLECT, COLLECT_VERSION, spec, *(f.id for f in files))}"
    if finished := place.manifest(name):
        return finished
    revisions = sorted({f"{f.origin.repository} {f.origin.revision}" for f in files})
    return place.make(name, COLLECT, SourceFile, files, dropped, {"source": spec, "revisions": revisions}, started)


def chunks(options: BuildOptions) -> list[list[SourceFile]]:
    """The benchmark's problems by shard; none where none are given.

    Raises:
        ValueError: there are no problems where they should be.
    """
    found = leakage.read_problems(options.problems) if options.problems else []
    return [found[i : i + PROBLEMS] for i in range(0, len(found), PROBLEMS)]


def fingerprints(options: BuildOptions, part: int) -> Manifest:
    """Trace one shard of the benchmark's problems, once for all builds with the same cache."""
    step = leakage.fingerprint_step(align.trace_operators, align.VERSION)
    return step.run_on(Store(options.cache), chunks(options)[part])


def problems(options: BuildOptions) -> leakage.Problems:
    """The benchmark's fingerprints.

    Raises:
        ValueError: none of the files is a problem.
    """
    return _compared(options, [fingerprints(options, part) for part in range(len(chunks(options)))])


def benchmark(paths: str | None) -> leakage.Problems | None:
    """The same for a stage that is run by itself, with progress on standard error; None where none are named.

    Raises:
        ValueError: there are no problems there.
    """
    if not paths:
        return None
    options, step = BuildOptions(problems=paths), leakage.fingerprint_step(align.trace_operators, align.VERSION)
    return _compared(options, run(step, leakage.read_problems(paths), options.cache, PROBLEMS, options.parallel))


def _compared(options: BuildOptions, made: Sequence[Manifest]) -> leakage.Problems:
    found = tuple(p for m in made for p in Store(options.cache).read(m.name, leakage.Problem))
    if not found:
        raise ValueError(f"no benchmark problems in {options.problems}: no file of it is a task")
    return leakage.Problems(found)


def overlaps(pairs: Sequence[Pair], paths: str | None) -> dict[str, str] | None:
    """Pair id -> the benchmark problem that is the same single operator; None where nothing is compared with.

    Raises:
        ValueError: a pair leaks a problem, or there are none.
    """
    found = benchmark(paths)
    if found is None:
        return None
    if leaks := [reason for pair in pairs if (reason := leakage.check(pair, found))]:
        raise ValueError(f"{len(leaks)} pairs leak problems, drop them first (`kdata dedup --problems`): {leaks[0]}")
    return leakage.flags(pairs, found)


def _step(options: BuildOptions, job: Job) -> Step[Any, Any]:
    """A stage with the parameters of this build."""
    if job.stage == CUT:
        return repositories.cut_step(options.limit_of(job.source), options.seed, inline=options.inline)
    if job.stage == MINE:
        limits = options.part_limits(job.source)
        return repositories.step(limits[job.part], job.part, len(limits))
    if job.stage == ALIGN:
        return align.step(longest=conciseness.MAX_LINES)
    if job.stage == VERIFY:
        return verify.step(tuple(options.targets), options.seeds)
    if job.stage == FILTER:
        return chain.step()
    if job.stage == LEAKAGE:
        return leakage.step(problems(options))
    if job.stage == DEDUP:
        return dedup.step()
    if job.stage == DIVERSITY:
        return diversity.step(options.per_repository, options.per_family, options.seed)
    raise ValueError(f"no stage {job.stage}")

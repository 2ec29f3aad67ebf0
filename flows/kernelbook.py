"""From sources to a dataset: which shard is made of which, with no word about where the work is done."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

from flows.build_options import BuildOptions
from flows.stages import BENCHMARK, CHAIN, COLLECT, CUT, MINE, Job, check, chunks, whole_of
from kdata import storage
from kdata.progress import Progress, Watcher
from kdata.shards import Manifest
from kdata.statistics import PIPELINE

POLL_SECONDS = 1.0
UNCHECKED = "not compared with benchmark problems: no folder of them is given (--problems)"


class Future(Protocol):
    """What both concurrent.futures and Prefect give for work in progress."""

    def result(self) -> Manifest: ...
    def add_done_callback(self, fn: Callable[[Any], Any]) -> None: ...


class Runner(Protocol):
    """Where jobs run: threads of this process, or Prefect tasks on any task runner."""

    def submit(self, options: BuildOptions, job: Job, label: str) -> Future:
        """Start a job."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A job that made no shard. It is tried again when the same build runs again."""

    job: Job
    label: str
    message: str


@contextmanager
def begun(options: BuildOptions) -> Iterator[None]:
    """Around a build and what is written of it: what would fail at the end fails now, and the folder is its own.

    Raises:
        ValueError, OSError, kdata.sandbox.isolation.IsolationError: as ``flows.stages.check`` has it; or another build
            is at work in the folder.
    """
    check(options)
    with storage.alone(options.out):
        yield


@dataclass(slots=True)
class Build:
    """One run over all sources. ``run`` gives the shard of what is to be published."""

    options: BuildOptions
    runner: Runner
    watcher: Watcher
    manifests: dict[Job, Manifest] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    progress: Progress = field(default_factory=lambda: Progress((BENCHMARK, *PIPELINE)))
    _finished: queue.SimpleQueue[tuple[Job, str, Future]] = field(default_factory=queue.SimpleQueue)
    _running: int = 0

    def run(self) -> Manifest | None:
        """Make all shards. None where no source gave anything to publish. It is to be ``begun`` before."""
        if not self.options.problems:
            self.watcher.log(UNCHECKED)
        self._expect()
        for part in range(self._parts(BENCHMARK, "")):
            self._submit(Job(BENCHMARK, "", part))
        for source in self.options.sources:
            self._submit(Job(COLLECT, source))
        self._drain()
        made = self._filled(CHAIN[-1])
        for stage in whole_of(self.options):
            if made:
                self._submit(Job(stage, "", inputs=tuple(m.name for m in made)))
                self._drain()
                made = self._filled(stage)
        return made[0] if made else None

    def _expect(self) -> None:
        """Expect all shards there can be."""
        self.progress.expect(BENCHMARK, self._parts(BENCHMARK, ""))
        for source in self.options.sources:
            for stage in (COLLECT, CUT, *CHAIN):
                self.progress.expect(stage, self._parts(stage, source))
        for stage in whole_of(self.options):
            self.progress.expect(stage, 1)

    def _parts(self, stage: str, source: str) -> int:
        """Shards of a stage for one source, or of the benchmark."""
        if stage == BENCHMARK:
            return len(chunks(self.options))
        return len(self.options.part_limits(source)) if stage in CHAIN else 1

    def _filled(self, stage: str) -> list[Manifest]:
        """The finished shards of a stage that are not empty."""
        return [m for job, m in self._in_order() if job.stage == stage and m.kept]

    def made(self) -> list[Manifest]:
        """The manifests of all shards of this run, by stage, source and part: the same order each time."""
        return [manifest for _, manifest in self._in_order()]

    def _in_order(self) -> Iterator[tuple[Job, Manifest]]:
        sources = {source: i for i, source in enumerate(self.options.sources)}
        key = lambda item: (PIPELINE.index(item[0].stage), sources.get(item[0].source, 0), item[0].part)  # noqa: E731
        return iter(sorted(self.manifests.items(), key=key))

    def _submit(self, job: Job) -> None:
        name = label(job, self._parts(job.stage, job.source))
        future = self.runner.submit(self.options, job, name)
        self._running += 1
        future.add_done_callback(lambda _: self._finished.put((job, name, future)))

    def _drain(self) -> None:
        """Wait for what runs, starting what becomes possible."""
        while self._running:
            self.watcher.update(self.progress)
            try:
                job, name, future = self._finished.get(timeout=POLL_SECONDS)
            except queue.Empty:
                continue
            self._running -= 1
            try:
                manifest = future.result()
            except Exception as error:  # noqa: BLE001 - whatever ends one shard must not end the others
                self._fail(job, name, error)
            else:
                self._finish(job, name, manifest)
        self.watcher.update(self.progress)

    def _finish(self, job: Job, name: str, manifest: Manifest) -> None:
        if job.stage in PIPELINE:
            self.manifests[job] = manifest
        self.progress.finish(job.stage, manifest.kept, manifest.dropped, manifest.seconds)
        self.watcher.log(f"{name}: {manifest.kept} kept, {manifest.dropped} dropped")
        followers = self._followers(job, manifest) if manifest.kept else []
        if not followers:
            self._skip(job)
        for follower in followers:
            self._submit(follower)

    def _fail(self, job: Job, name: str, error: BaseException) -> None:
        message = " ".join(str(error).split()) or type(error).__name__
        self.failures.append(Failure(job, name, message[:500]))
        self.progress.fail(job.stage)
        self.watcher.log(f"{name}: failed: {message[:500]}", failed=True)
        self._skip(job)

    def _followers(self, job: Job, manifest: Manifest) -> list[Job]:
        after = {COLLECT: CUT, CUT: MINE, **dict(pairwise(CHAIN))}.get(job.stage)
        if after is None:
            return []
        parts = range(self._parts(MINE, job.source)) if after == MINE else [job.part]
        return [Job(after, job.source, part, (manifest.name,)) for part in parts]

    def _skip(self, job: Job) -> None:
        """Expect no shards after one that is empty or failed."""
        order = (COLLECT, CUT, *CHAIN)
        for stage in order[order.index(job.stage) + 1 :] if job.stage in order else ():
            self.progress.expect(stage, -1 if job.stage in CHAIN else -self._parts(stage, job.source))


def label(job: Job, parts: int) -> str:
    """A job's name for people: ``mine timm 3/8``."""
    return f"{job.stage} {job.source}".rstrip() + (f" {job.part + 1}/{parts}" if parts > 1 else "")

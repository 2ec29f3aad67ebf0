"""From sources to a dataset: which shard is made of which, with no word about where the work is done."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from flows.build_options import BuildOptions
from flows.stages import COLLECT, DEDUP, MINE, STAGES, Job, chain_of, check
from kdata.progress import Progress, Watcher
from kdata.shards import Manifest

POLL_SECONDS = 1.0


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


@dataclass(slots=True)
class Build:
    """One run over all sources. ``run`` gives the shard of what is to be published."""

    options: BuildOptions
    runner: Runner
    watcher: Watcher
    manifests: dict[Job, Manifest] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    progress: Progress = field(default_factory=lambda: Progress(STAGES))
    _finished: queue.SimpleQueue[tuple[Job, str, Future]] = field(default_factory=queue.SimpleQueue)
    _running: int = 0

    def run(self) -> Manifest | None:
        """Make all shards. None where no source gave anything to publish.

        Raises:
            ValueError: the options cannot be followed.
        """
        check(self.options)
        parts = len(self.options.part_limits())
        sources = list(dict.fromkeys(self.options.sources))
        self.progress.expect(COLLECT, len(sources))
        for stage in chain_of(self.options):
            self.progress.expect(stage, len(sources) * parts)
        self.progress.expect(DEDUP, 1)
        for source in sources:
            self._submit(Job(COLLECT, source))
        self._drain()
        last = chain_of(self.options)[-1]
        ready = tuple(m.name for job, m in self._in_order() if job.stage == last and m.kept)
        if not ready:
            return None
        deduplicated = Job(DEDUP, "", inputs=ready)
        self._submit(deduplicated)
        self._drain()
        return self.manifests.get(deduplicated)

    def made(self) -> list[Manifest]:
        """The manifests of all shards of this run, by stage, source and part: the same order each time."""
        return [manifest for _, manifest in self._in_order()]

    def _in_order(self) -> Iterator[tuple[Job, Manifest]]:
        sources = {source: i for i, source in enumerate(self.options.sources)}
        key = lambda item: (STAGES.index(item[0].stage), sources.get(item[0].source, 0), item[0].part)  # noqa: E731
        return iter(sorted(self.manifests.items(), key=key))

    def _submit(self, job: Job) -> None:
        name = label(job, len(self.options.part_limits()))
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
        chain = chain_of(self.options)
        if job.stage == COLLECT:
            limits = self.options.part_limits()
            return [Job(MINE, job.source, part, (manifest.name,)) for part in range(len(limits))]
        if job.stage not in chain[:-1]:
            return []
        return [Job(chain[chain.index(job.stage) + 1], job.source, job.part, (manifest.name,))]

    def _skip(self, job: Job) -> None:
        """Expect no shards after one that is empty or failed."""
        chain = (COLLECT, *chain_of(self.options))
        if job.stage in chain:
            count = len(self.options.part_limits()) if job.stage == COLLECT else 1
            for stage in chain[chain.index(job.stage) + 1 :]:
                self.progress.expect(stage, -count)


def label(job: Job, parts: int) -> str:
    """A job's name for people: ``mine timm 3/8``."""
    if job.stage == DEDUP:
        return DEDUP
    return f"{job.stage} {job.source}" + (f" {job.part + 1}/{parts}" if job.stage != COLLECT and parts > 1 else "")

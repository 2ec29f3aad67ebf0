"""Jobs as Prefect tasks, one a shard, on the task runner of one's choice.

The tasks are here and not beside the flow: Prefect loads flow files by path, and a function of a module that cannot be
imported by name cannot be sent to a Ray worker.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast
from uuid import UUID

from prefect import Task, get_run_logger, task
from prefect.artifacts import create_progress_artifact, update_progress_artifact
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun
from prefect.futures import PrefectFuture
from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner
from prefect.tasks import exponential_backoff

from flows.build_options import BuildOptions
from flows.runners import NO_RAY, RETRIES, passing
from flows.stages import COLLECT, Job, work
from kdata.progress import Progress
from kdata.shards import Manifest
from sources.collect import is_remote

PROGRESS_SECONDS = 5.0


def _may_help(task: Task[..., Any], run: TaskRun, state: State[Any]) -> bool:
    """Whether a failed task is worth another try."""
    return passing(cast(BaseException, state.data))


# No result is cached by Prefect: the shards are the cache, and they are content-addressed.
run_stage = task(persist_result=False, cache_policy=NO_CACHE)(work)
run_collect = task(
    persist_result=False, cache_policy=NO_CACHE, retries=RETRIES, retry_delay_seconds=exponential_backoff(2),
    retry_jitter_factor=0.5, retry_condition_fn=_may_help,
)(work)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PrefectTasks:
    """Submits jobs to a started task runner, each under a name that a person reads in the UI."""

    task_runner: TaskRunner[Any]

    def submit(self, options: BuildOptions, job: Job, label: str) -> PrefectFuture[Manifest]:
        """Start a job."""
        chosen = run_collect if job.stage == COLLECT and is_remote(job.source) else run_stage
        named = chosen.with_options(name=job.stage, task_run_name=label)
        future: PrefectFuture[Manifest] = self.task_runner.submit(named, {"options": options, "job": job})
        return future


@contextmanager
def prefect_tasks(options: BuildOptions) -> Iterator[PrefectTasks]:
    """A started task runner of the kind that the options name.

    Raises:
        ValueError: Ray is asked for and not installed.
    """
    with _task_runner(options) as runner:
        yield PrefectTasks(runner)


def _task_runner(options: BuildOptions) -> TaskRunner[Any]:
    if options.runner == "threads":
        return ThreadPoolTaskRunner(max_workers=options.parallel)
    try:
        from prefect_ray import RayTaskRunner
    except ImportError as error:
        raise ValueError(NO_RAY) from error
    local = {"num_cpus": options.parallel, "include_dashboard": False}
    runner: TaskRunner[Any] = RayTaskRunner(options.ray_address, init_kwargs=None if options.ray_address else local)
    return runner


class PrefectWatcher:
    """Progress in the Prefect UI: log lines, and one progress artifact that is updated every few seconds."""

    def __init__(self, parallel: int) -> None:
        self.parallel = parallel
        self.logger = get_run_logger()
        self.artifact = cast(UUID, create_progress_artifact(0.0, key="build-progress", description="Shards finished."))
        self._last, self._line = time.monotonic(), ""

    def update(self, progress: Progress) -> None:
        """Update the artifact if it is time, and write a log line if that says anything new."""
        fraction = progress.fraction()
        if fraction < 1 and time.monotonic() - self._last < PROGRESS_SECONDS:
            return
        self._last = time.monotonic()
        line = progress.line(self.parallel)
        if line != self._line:
            self._line = line
            self.logger.info(line)
        update_progress_artifact(self.artifact, progress=round(100 * fraction, 1), description=line)

    def log(self, message: str, failed: bool = False) -> None:
        """Write a log line."""
        (self.logger.error if failed else self.logger.info)(message)

"""Jobs in threads of this process, with no Prefect: what ``kdata build`` uses where no Prefect server is named."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import tenacity

from flows import stages
from flows.build_options import BuildOptions
from flows.stages import COLLECT, Job
from kdata.shards import Manifest
from sources.collect import SourceError, is_remote

NO_RAY = "the runner ray needs the extra [ray]: pip install -e '.[ray]'"
RETRIES = 3
NETWORK_WORKERS = 4  # downloads wait for the network, not for a core


class Threads:
    """Threads of this process; each leases warm sandbox workers of its own."""

    def __init__(self, parallel: int) -> None:
        self.network = ThreadPoolExecutor(NETWORK_WORKERS, "collect")
        self.cores = ThreadPoolExecutor(parallel, "stage")

    def submit(self, options: BuildOptions, job: Job, label: str) -> Future[Manifest]:
        """Start a job."""
        if job.stage == COLLECT:
            function = retrying(stages.work) if is_remote(job.source) else stages.work
            return self.network.submit(function, options, job)
        return self.cores.submit(stages.work, options, job)

    def __enter__(self) -> Threads:
        return self

    def __exit__(self, *_: object) -> None:
        for pool in (self.network, self.cores):
            pool.shutdown(wait=False, cancel_futures=True)


def passing(error: BaseException) -> bool:
    """Whether trying again may help: a source says so, or something of the network does."""
    return isinstance(error, SourceError) and not error.lasting or isinstance(error, ConnectionError | TimeoutError)


def retrying(function: Callable[..., Manifest]) -> Callable[..., Manifest]:
    """The function, tried again with growing pauses where that may help."""
    return tenacity.retry(
        retry=tenacity.retry_if_exception(passing),
        stop=tenacity.stop_after_attempt(1 + RETRIES),
        wait=tenacity.wait_exponential_jitter(1, 30),
        reraise=True,
    )(function)

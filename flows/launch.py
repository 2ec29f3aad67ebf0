"""A build from the command line: in this process, as a Prefect flow run where a server is named."""

from __future__ import annotations

import os
from importlib.util import find_spec

from flows.build_options import BuildOptions
from flows.finish import Outcome, finish
from flows.kernelbook import Build, begun
from flows.runners import NO_RAY, Threads
from kdata.server import demand, private_server
from kdata.terminal import resumable, watching


def launch(options: BuildOptions) -> Outcome:
    """Run a build to its end.

    Where ``PREFECT_API_URL`` names a server, it is a flow run there; Ray needs Prefect and gets a private server.
    Without either no server is started: the same stages run in threads.

    Raises:
        ValueError: Ray is asked for and not installed, or ``begun`` refuses the options.
        kdata.server.ServerError: the server named does not answer.
    """
    if url := os.environ.get("PREFECT_API_URL"):
        demand(url)
        return _flow(options)
    if options.runner == "threads":
        return _threads(options)
    if not find_spec("prefect_ray"):
        raise ValueError(NO_RAY)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    with private_server() as url:
        os.environ["PREFECT_API_URL"] = url
        try:
            return _flow(options)
        finally:
            _send_logs()
            del os.environ["PREFECT_API_URL"]


def _flow(options: BuildOptions) -> Outcome:
    from flows.build_kernelbook import build_kernelbook

    return build_kernelbook(options)


def _send_logs() -> None:
    """Let Prefect send what it still holds, while its server is there."""
    from prefect.logging.handlers import APILogWorker

    APILogWorker.drain_all()


def _threads(options: BuildOptions) -> Outcome:
    with begun(options), resumable(), watching(options.parallel) as watcher:
        with Threads(options.parallel) as runner:
            build = Build(options, runner, watcher)
            published = build.run()
        return finish(build, published)

"""All flows of this folder, served from one process."""

from __future__ import annotations

import os
import signal
from typing import Any, cast

from kdata.server import DEFAULT_URL, server


def serve_all(limit: int) -> None:
    """Serve every flow under its own name, with a server if none answers at ``PREFECT_API_URL``, until Ctrl-C.

    Raises:
        kdata.server.ServerError: no server answers and none can be started.
    """
    url = os.environ.setdefault("PREFECT_API_URL", DEFAULT_URL)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job would ignore it
    with server(url):
        # Prefect reads its settings when it is first imported: after the URL is set.
        from prefect import Flow, serve
        from prefect.deployments.runner import RunnerDeployment
        from prefect.types.entrypoint import EntrypointType

        from flows.build_kernelbook import build_kernelbook
        from flows.finetune_model import finetune_model

        flows: tuple[Flow[..., Any], ...] = (build_kernelbook, finetune_model)
        named = [
            cast(RunnerDeployment, flow.to_deployment(flow.name, entrypoint_type=EntrypointType.MODULE_PATH))
            for flow in flows
        ]
        print(f"kdata: serving {', '.join(flow.name for flow in flows)} at {url}", flush=True)
        serve(*named, limit=limit)

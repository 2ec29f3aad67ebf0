"""A Prefect plugin: a deployment named like its flow goes by that one name.

Prefect wants ``flow/deployment``.  With this plugin ``prefect deployment run build-kernelbook`` means
``build-kernelbook/build-kernelbook``.  It wraps a private method of Prefect's clients, so it looks before it touches
and changes nothing where Prefect looks different; ``build-kernelbook/build-kernelbook`` works in any case.  Prefect
loads it through the entry point ``prefect.plugins`` where ``plugins.enabled`` is set, see prefect.toml.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any

from prefect.plugins import register_hook

MODULE = "prefect.client.orchestration._deployments.client"
CLIENTS = ("DeploymentClient", "DeploymentAsyncClient")
METHOD = "read_deployment_by_name"
MARK = "_kdata_bare_names"


@register_hook
def setup_environment(*, ctx: Any) -> None:
    """Run by Prefect before its commands."""
    missed = accept_bare_names()
    if missed:
        ctx.logger_factory("kdata").debug("bare deployment names are not understood: no %s", ", ".join(missed))


def accept_bare_names() -> list[str]:
    """Wrap Prefect's clients, once. Returns the names of what could not be wrapped."""
    try:
        module = import_module(MODULE)
    except ImportError:
        return [MODULE]
    return [name for name in CLIENTS if not _wrap(getattr(module, name, None))]


def _wrap(client: type | None) -> bool:
    method = getattr(client, METHOD, None)
    if client is None or method is None or list(inspect.signature(method).parameters)[:2] != ["self", "name"]:
        return False
    if not hasattr(method, MARK):
        setattr(client, METHOD, _named_like_its_flow(method))
    return True


def _named_like_its_flow(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)  # an async method stays one: its coroutine is passed on
    def read(self: Any, name: str, *rest: Any, **more: Any) -> Any:
        return method(self, name if "/" in name else f"{name}/{name}", *rest, **more)

    setattr(read, MARK, True)
    return read

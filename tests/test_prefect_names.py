"""``prefect deployment run NAME`` finds ``NAME/NAME``, and a Prefect that looks different is left alone."""

from __future__ import annotations

import asyncio
import sys
import types
from importlib.metadata import entry_points
from typing import Any

import pytest

from kdata import prefect_names


def clients(monkeypatch: pytest.MonkeyPatch, **methods: Any) -> Any:
    """A stand-in for Prefect's module of clients: what it does with a name is to give it back."""
    module = types.ModuleType("clients")
    module.DeploymentClient = type("DeploymentClient", (), {prefect_names.METHOD: methods["sync"]})
    module.DeploymentAsyncClient = type("DeploymentAsyncClient", (), {prefect_names.METHOD: methods["asynchronous"]})
    monkeypatch.setitem(sys.modules, "clients", module)
    monkeypatch.setattr(prefect_names, "MODULE", "clients")
    return module


def read(self: object, name: str) -> str:
    return name


async def read_later(self: object, name: str) -> str:
    return name


def test_bare_names(monkeypatch: pytest.MonkeyPatch) -> None:
    module = clients(monkeypatch, sync=read, asynchronous=read_later)
    assert prefect_names.accept_bare_names() == []
    assert prefect_names.accept_bare_names() == []  # wrapped once
    sync, later = module.DeploymentClient(), module.DeploymentAsyncClient()
    assert sync.read_deployment_by_name("a") == "a/a"
    assert sync.read_deployment_by_name(name="a/b") == "a/b"
    assert asyncio.run(later.read_deployment_by_name("a")) == "a/a"


def test_another_prefect_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def other(self: object, deployment: str) -> str:
        return deployment

    module = clients(monkeypatch, sync=other, asynchronous=read_later)
    assert prefect_names.accept_bare_names() == ["DeploymentClient"]
    assert module.DeploymentClient().read_deployment_by_name("a") == "a"
    monkeypatch.setattr(prefect_names, "MODULE", "no.such.module")
    assert prefect_names.accept_bare_names() == ["no.such.module"]


def test_the_installed_prefect_is_understood() -> None:
    assert prefect_names.accept_bare_names() == []


def test_prefect_would_load_the_plugin() -> None:
    found = [e for e in entry_points(group="prefect.plugins") if e.name == "kdata"]
    if not found:
        pytest.skip("kdata is not installed in this environment")
    assert found[0].load() is prefect_names

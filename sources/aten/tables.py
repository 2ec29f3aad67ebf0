"""Forms of operators that people use, as tables beside this file."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Any


def table(name: str) -> dict[str, Any]:
    """A whole table."""
    return tomllib.loads(resources.files("sources.aten").joinpath(f"{name}.toml").read_text(encoding="utf-8"))


def rows(name: str) -> list[tuple[str, str]]:
    """The rows of a table: a text, and the shapes of its inputs."""
    return [(said, shapes) for said, shapes in table(name)[name]]

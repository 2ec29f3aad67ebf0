"""Forms of operators that people use, as tables beside this file."""

from __future__ import annotations

import tomllib
from importlib import resources


def rows(name: str) -> list[tuple[str, str]]:
    """The rows of a table: a text, and the shapes of its inputs."""
    text = resources.files("sources.aten").joinpath(f"{name}.toml").read_text(encoding="utf-8")
    return [(said, shapes) for said, shapes in tomllib.loads(text)[name]]

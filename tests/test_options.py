"""A model's fields as command line options."""

from __future__ import annotations

import pytest
import typer
from pydantic import BaseModel
from typer.testing import CliRunner

from kdata.options import options_of, parse


class Model(BaseModel):
    timed: bool = True
    fsdp: bool = False


class Asked(BaseModel):
    path: str
    limit: int = 7
    names: list[str] = ["a", "b"]


def test_what_is_on_can_be_switched_off() -> None:
    app = typer.Typer()

    @app.command()
    @options_of(Model)
    def show(options: Model) -> None:
        print(options)

    said = [CliRunner().invoke(app, given).output.strip() for given in ([], ["--no-timed"], ["--timed", "--fsdp"])]
    assert said == ["timed=True fsdp=False", "timed=False fsdp=False", "timed=True fsdp=True"]


def test_help_shows_defaults_as_they_are_typed() -> None:
    app = typer.Typer()

    @app.command()
    @options_of(Asked)
    def show(options: Asked) -> None:
        print(options)

    shown = CliRunner().invoke(app, ["--help"]).output
    assert "[default: 7]" in shown and "[default: a, b]" in shown
    assert CliRunner().invoke(app, ["--path", "p", "--names", "c"]).output.strip() == "path='p' limit=7 names=['c']"
    with pytest.raises(ValueError, match=r"^--path must be given; --limit: Input should be a valid integer"):
        parse(Asked, {"limit": "x"})

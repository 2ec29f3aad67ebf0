"""A model's fields as command line options."""

from __future__ import annotations

import typer
from pydantic import BaseModel
from typer.testing import CliRunner

from kdata.options import options_of


class Model(BaseModel):
    timed: bool = True
    fsdp: bool = False


def test_what_is_on_can_be_switched_off() -> None:
    app = typer.Typer()

    @app.command()
    @options_of(Model)
    def show(options: Model) -> None:
        print(options)

    said = [CliRunner().invoke(app, given).output.strip() for given in ([], ["--no-timed"], ["--timed", "--fsdp"])]
    assert said == ["timed=True fsdp=False", "timed=False fsdp=False", "timed=True fsdp=True"]

"""A pydantic model's fields as command line options, so that a flow's parameters are written down once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined


def options_of(model: type[BaseModel]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a typer command one option for each field of ``model``.

    The decorated function takes the model as its first argument ``options``; its other parameters stay as they are.
    Options that are not given keep the model's default.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
        fields = [_parameter(name, info) for name, info in model.model_fields.items()]

        @functools.wraps(command)
        def run(**given: Any) -> Any:
            chosen = {name: given.pop(name) for name in model.model_fields}
            return command(parse(model, {k: v for k, v in chosen.items() if v is not None}), **given)

        keyword = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own]
        run.__signature__ = inspect.Signature([*fields, *keyword])  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in [*fields, *keyword]}
        return run

    return decorate


def parse(model: type[BaseModel], values: dict[str, Any]) -> BaseModel:
    """The model with these values.

    Raises:
        ValueError: some are wrong; one line says which and why.
    """
    try:
        return model(**values)
    except ValidationError as error:
        missing = [f"--{_flag(p['loc'])}" for p in error.errors() if p["type"] == "missing"]
        problems = [f"{' and '.join(missing)} must be given"] if missing else []
        problems += [f"--{_flag(p['loc'])}: {p['msg'].removeprefix('Value error, ')}" for p in error.errors()
                     if p["type"] != "missing"]  # fmt: skip
        raise ValueError("; ".join(problems)) from error


def _flag(location: tuple[int | str, ...]) -> str:
    return str(location[0]).replace("_", "-") if location else "options"


def _parameter(name: str, info: FieldInfo) -> inspect.Parameter:
    """A field as a keyword parameter; None stands for "not given" where the field has no default, whatever its type."""
    default = info.get_default(call_default_factory=True)
    flag = _flag((name,))
    option = typer.Option(f"--{flag}/--no-{flag}" if default is True else f"--{flag}", help=info.description)
    kind = info.annotation
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None if default is PydanticUndefined else default,
        annotation=Annotated[_optional(kind), option],
    )  # fmt: skip


def _optional(kind: Any) -> Any:
    """The command line's type: texts for a list, so that the model's own validator sees what was typed."""
    return list[str] | None if getattr(kind, "__origin__", None) is list else kind | None

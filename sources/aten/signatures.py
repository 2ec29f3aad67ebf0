"""Layers whose numbers are the constructor's own parameters, under the layer's names and with its defaults.

``Conv2d(in_channels, out_channels, kernel_size, stride=1, ...)``: so a benchmark's problems and most libraries write
them, and what is called leaves out what has a default.
"""

from __future__ import annotations

import ast
import inspect
from dataclasses import replace

from torch import nn

from sources.aten.form import Form, Style, pick, wrapped

KINDS = ("Conv", "MaxPool", "AvgPool", "BatchNorm", "InstanceNorm", "GroupNorm", "LayerNorm", "RMSNorm", "Linear")
# Parameters that a constructor shows though nobody gives them; those that are given are always shown.
SHOWN = ("stride", "padding", "dilation", "output_padding", "groups", "bias", "eps", "affine")


def spelled(form: Form, made: str) -> Form | None:
    """The form of a layer with its parameters as the constructor's; None for a layer that is not made so."""
    call = ast.parse(made, mode="eval").body
    kind = made.removeprefix("nn.").partition("(")[0]
    if not isinstance(call, ast.Call) or not kind.startswith(KINDS):
        return None
    given, optional = _bound(kind, call)
    if not optional:
        return None
    key = (made, *(i.shape for i in form.inputs))
    if "bias" in optional and "bias" not in given and pick(("True", "False"), "bias", *key) == "False":
        optional["bias"] = "False"  # many leave it out unless it is asked for
    names = [n for n in given if n not in optional] + list(optional)
    last = max((names.index(n) for n in given), default=-1)  # positional up to the last that is given
    arguments = {n: given.get(n) or optional[n] for n in names[: last + 1]}
    passed = [n if n not in optional else f"{n}={n}" for n in names]
    made_so = wrapped(f"{form.layers[0].partition(' = ')[0]} = nn.{kind}(", passed, ")").rstrip()
    said, annotated, constants = (pick(("yes", ""), word, *key) == "yes" for word in ("said", "annotated", "constants"))
    style = Style(f"{kind} with its own parameters." if said else "", annotated, constants=constants)
    return replace(form, layers=tuple(made_so.split("\n")), arguments=arguments, defaults=optional, style=style)


def _bound(kind: str, call: ast.Call) -> tuple[dict[str, str], dict[str, str]]:
    """What a call gives its layer's parameters, and the defaults of those that have one and are shown."""
    parameters = inspect.signature(getattr(nn, kind)).parameters
    given = dict(zip(parameters, map(ast.unparse, call.args), strict=False))
    given |= {k.arg: ast.unparse(k.value) for k in call.keywords if k.arg}
    plain = {n: p.default for n, p in parameters.items() if isinstance(p.default, bool | int | float | str)}
    optional = {n: repr(v) for n, v in plain.items() if n in given or n in SHOWN}
    return given, optional

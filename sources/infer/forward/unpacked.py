"""Inputs of several parts, each of the shape that a comment tells where they are unpacked."""

from __future__ import annotations

import re

from torch import nn

from sources.hints.layouts import Sizes
from sources.infer.forward.consumers import first_layers
from sources.infer.forward.usual_shapes import channels_of, features_of
from sources.infer.inputs import Many, Spec, Tensor

_OFFSET = re.compile(r"o\d?|offsets?|ends?")


def unpacked(module: nn.Module, name: str, text: str) -> list[Spec]:
    """The parts of an input, as a comment tells where they are unpacked: ``p, x, o = pxo  # (n, 3), (n, c), (b)``."""
    found = re.search(rf"(?m)^\s*(\w+(?:, ?\w+)+) = {re.escape(name)}\s*#(.*)$", text)
    names = found[1].replace(" ", "").split(",") if found else []
    shapes = [tuple(filter(None, re.split(r",\s*", s))) for s in re.findall(r"\(([^()]+)\)", found[2] if found else "")]
    if not found or len(names) != len(shapes):
        return []
    layers = first_layers(module)
    own = {n: v for n, v in vars(module).items() if type(v) is int}
    known = [*map(Sizes(own, channels_of(layers), features_of(layers)).shape, shapes)]
    # where samples that lie end to end are over: there is one, as far as it is known
    ends = [_OFFSET.fullmatch(n) is not None and len(shape) == 1 for n, shape in zip(names, known, strict=True)]
    each = zip(known, ends, strict=True)
    return [Many(tuple(Tensor(s, "full", known[0][0]) if end else Tensor(s) for s, end in each), "tuple")]

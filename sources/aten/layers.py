"""Layers with parameters, whose constructors' numbers are sizes of their inputs, in the forms that people use.

A row says how the layer is made and what it is given, see ``layers.toml``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sources.aten import signatures, tables, words
from sources.aten.form import Drawn, Form, camel, pick

Found = Iterator[tuple[Form, tuple[str, ...]]]
PLACES = {1: "batch_size in_channels length", 2: "batch_size in_channels height width",
          3: "batch_size in_channels depth height width"}  # fmt: skip
# Arguments of convolutions after the channels.
KERNELS = (
    "3", "3, padding=1", "1", "5, stride=2, padding=2", "3, padding=1, bias=False", "3, padding=2, dilation=2",
    "3, stride=2", "7, padding=3", "4, stride=4", '3, padding="same"', "3, padding=1, groups=2",
    "3, padding=1, groups=8",
)  # fmt: skip
UNEVEN = {
    1: ("9, stride=3, dilation=2",),
    2: ("(3, 5), padding=(1, 2)", "(1, 7), padding=(0, 3)", "(3, 1), stride=(2, 1)",
        '3, padding=1, padding_mode="reflect"'),
    3: ("(1, 3, 3), padding=(0, 1, 1)", "(3, 1, 1)"),
}  # fmt: skip
TRANSPOSED = (
    "2, stride=2", "3, padding=1", "4, stride=2, padding=1", "3, stride=2, padding=1, output_padding=1, bias=False",
    "3, groups=4",
)  # fmt: skip
POOLS = ("2", "3, stride=2, padding=1", "3, stride=1", "2, stride=2, ceil_mode=True", "4")


def layers() -> Found:
    """All of them."""
    rows = [*tables.rows("layers"), *_convolutions(), *_pools()]
    for made, inputs in rows:
        form = _form(made, inputs)
        if pick(("numbers", "parameters", "parameters"), "signature", made, inputs) == "parameters":
            form = signatures.spelled(form, made) or form
        yield form, ()


def _convolutions() -> Iterator[tuple[str, str]]:
    for rank, shape in PLACES.items():
        for kernel in (*(KERNELS if rank < 3 else KERNELS[:6]), *UNEVEN[rank]):
            yield f"nn.Conv{rank}d(in_channels, out_channels, {kernel})", shape
        depthwise = shape.replace("in_channels", "channels")
        yield f"nn.Conv{rank}d(channels, channels, 3, padding=1, groups=channels)", depthwise
        for kernel in TRANSPOSED if rank < 3 else TRANSPOSED[:3]:
            yield f"nn.ConvTranspose{rank}d(in_channels, out_channels, {kernel})", shape


def _pools() -> Iterator[tuple[str, str]]:
    for rank, shape in PLACES.items():
        place = shape.replace("in_channels", "channels")
        for arguments in POOLS:
            yield f"nn.MaxPool{rank}d({arguments})", place
            yield f"nn.AvgPool{rank}d({arguments})", place
        yield f"nn.MaxPool{rank}d(3, stride=1, dilation=2)", place
        yield f"nn.AvgPool{rank}d(3, stride=2, padding=1, count_include_pad=False)", place
        for size in ("1", "4", "7") if rank < 3 else ("1", "2"):
            yield f"nn.AdaptiveAvgPool{rank}d({size})", place
            yield f"nn.AdaptiveMaxPool{rank}d({size})", place
        if rank < 3:
            yield f"nn.LPPool{rank}d(2, 3, stride=2)", place


def _form(made: str, inputs: str) -> Form:
    given = [part.split() for part in inputs.split(",")]
    key = (made, inputs)
    drawn = []
    for name, shape in zip("xy", given, strict=False):
        draw = f"below {shape[0][1:]}" if shape[0].startswith("<") else "normal"
        drawn.append(Drawn(name, tuple(s for s in shape if not s.startswith("<")), draw))
    kind = made.removeprefix("nn.").partition("(")[0]
    said = re.findall(r"[a-z_]+(?![\w=])", made.partition("(")[2])
    arguments = {w: w for w in said if w in words.VALUES}
    names = list(dict.fromkeys([*(s for d in drawn for s in d.shape if not s.isdigit()), *arguments]))
    shapes = [d.shape for d in drawn] + ([tuple(arguments)] if arguments else [])
    attribute = pick(("layer", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind).lower(), kind.lower()), "attribute", *key)
    name = camel(kind) + pick(("Model", "Layer", "Block", "Module"), "class", *key)
    body = (f"return self.{attribute}({', '.join(d.name for d in drawn)})",)
    sizes = words.values(names, *key, shapes=shapes)
    return Form(
        f"torch.nn.{kind}", name, "layer", tuple(drawn), body, sizes, (f"self.{attribute} = {made}",), arguments
    )

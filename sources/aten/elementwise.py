"""Elementwise operators: those of one input in each rank, those of two with every way to broadcast."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from sources.aten import words
from sources.aten.calls import call, drawn, literal, spelled
from sources.aten.form import Drawn, Form
from sources.aten.running import AUTO

Found = Iterator[tuple[Form, tuple[str, ...]]]
RANKS = (1, 2, 3, 4)
SKIPPED = (  # views, copies, or operators that are other ones by another name
    "positive", "conj", "conj_physical", "resolve_conj", "resolve_neg", "real", "imag", "clone", "contiguous", "isreal",
    "bfloat16", "bool", "byte", "char", "double", "float", "half", "int", "long", "short", "cdouble", "cfloat", "chalf",
    "complex", "polar", "true_divide", "floor_divide", "isclose", "isfinite", "isinf", "isposinf", "isneginf", "isnan",
)  # fmt: skip
# Functions and layers with other parameters than their defaults: people do not leave them alone.
PARAMETERS: dict[str, tuple[dict[str, str], ...]] = {
    "F.leaky_relu": ({"negative_slope": "0.1"}, {"negative_slope": "0.2"}, {"negative_slope": "0.01"}),
    "F.elu": ({"alpha": "0.5"}, {"alpha": "1.0"}, {"alpha": "1.5"}),
    "F.celu": ({"alpha": "0.5"}, {"alpha": "2.0"}),
    "F.selu": ({},),
    "F.hardtanh": ({"min_val": "-2.0", "max_val": "2.0"}, {"min_val": "0.0", "max_val": "6.0"}),
    "F.softplus": ({"beta": "2.0"}, {"beta": "0.5", "threshold": "10.0"}, {}),
    "F.threshold": ({"threshold": "0.1", "value": "20.0"}, {"threshold": "0.0", "value": "-1.0"}),
    "F.hardshrink": ({"lambd": "0.5"}, {"lambd": "1.0"}),
    "F.softshrink": ({"lambd": "0.5"}, {"lambd": "0.2"}),
    "F.gelu": ({"approximate": '"tanh"'}, {}),
    "torch.clamp": ({"min": "-1.0", "max": "1.0"}, {"min": "0.0"}, {"max": "0.5"}, {"min": "-0.5", "max": "2.0"}),
    "torch.logit": ({"eps": "1e-6"}, {"eps": "0.05"}),
    "torch.round": ({"decimals": "1"}, {"decimals": "3"}),
    "torch.nan_to_num": ({"nan": "0.0", "posinf": "1.0"},),
    "torch.pow": ({"exponent": "2"}, {"exponent": "3"}, {"exponent": "0.5"}, {"exponent": "-1.5"}),
    "torch.add": ({"other": "1.5"}, {"other": "3.0", "alpha": "0.1"}),
    "torch.sub": ({"other": "0.5"},),
    "torch.mul": ({"other": "2.5"}, {"other": "-0.125"}),
    "torch.div": ({"other": "3.0"}, {"other": "0.7", "rounding_mode": '"floor"'}),
    "torch.remainder": ({"other": "1.5"},),
    "torch.fmod": ({"other": "0.75"},),
    "torch.gt": ({"other": "0.0"},),
    "torch.le": ({"other": "0.25"},),
    "torch.polygamma": ({"n": "1"},),
}
# The shape of the second input against that of the first: dimensions kept, 1, or absent.
BROADCASTS: dict[int, tuple[str, ...]] = {1: (), 2: (".k", "k1", "1k"), 3: ("..k", "k1k", "kk1", ".kk"),
                                          4: (".k11", "k1kk", "...k", "kk11", "..kk")}  # fmt: skip


def unary(operators: list[Any]) -> Found:
    """Each operator of one input in ranks 1 to 4."""
    for op in operators:
        function = spelled(op.name)
        if _left_out(op.name) or not function or op.variant_test_name:
            continue
        variants = _keywords(op)
        for rank in RANKS if not op.name.startswith("special.") else (2,):
            keywords = variants[rank % len(variants)]
            x, sizes = drawn(rank, "x", AUTO, function, rank)
            yield call(function, "elementwise", [x], sizes, keywords), _domain(op)


def parametric() -> Found:
    """Activations and arithmetic with parameters of their own, in two ranks for each choice of them."""
    for function, choices in PARAMETERS.items():
        for number, keywords in enumerate(choices):
            for rank in {1 + number % 4, 1 + (number + 2) % 4, 1 + (number + 3) % 4}:
                x, sizes = drawn(rank, "x", AUTO, function, rank, number)
                draws = ("positive",) if keywords.get("exponent", "2") not in "23" else ("normal",)
                yield call(function, "activation", [x], sizes, keywords, tag=str(number)), draws


def binary(operators: list[Any]) -> Found:
    """Each operator of two inputs: equal shapes in ranks 1 to 4, and three ways to broadcast."""
    for number, op in enumerate(operators):
        function = spelled(op.name)
        if _left_out(op.name) or not function or op.variant_test_name.startswith("tensor"):
            continue
        more = _keywords(op)[0] | _variant(op)
        for rank in RANKS:
            ways = BROADCASTS[rank]
            yield _pair(function, rank, "k" * rank, more)
            if ways:
                yield _pair(function, rank, ways[(number + rank) % len(ways)], more)


def _left_out(name: str) -> bool:
    return name in SKIPPED or any(word in name for word in ("polynomial", "bessel", "airy"))


def _pair(function: str, rank: int, pattern: str, keywords: dict[str, str]) -> tuple[Form, tuple[str, ...]]:
    names = words.names(rank, function, rank, pattern)
    shape = tuple(name if p == "k" else "1" for name, p in zip(names, pattern, strict=True) if p != ".")
    # An outer product of two vectors: what is 1 in the second is spread out, and the first has a 1 where it is not.
    first = ("1", *names[1:]) if pattern == "k1" else names
    inputs = [Drawn("x", first, AUTO), Drawn("y", shape, AUTO)]
    sizes = words.values(names, function, rank, pattern)
    family = "elementwise" if set(pattern) == {"k"} else "broadcasting"
    return call(function, family, inputs, sizes, keywords, tag=pattern), ()


def _variant(op: Any) -> dict[str, str]:
    """Division by its rounding."""
    modes = {"trunc_rounding": '"trunc"', "floor_rounding": '"floor"'}
    return {"rounding_mode": modes[op.variant_test_name]} if op.variant_test_name in modes else {}


def _keywords(op: Any) -> list[dict[str, str]]:
    """The keyword arguments that an operator needs, or that its samples of a single tensor have."""
    found: list[dict[str, str]] = []
    for sample in op.sample_inputs("cpu", _dtype(op)):
        texts = {k: literal(v) for k, v in sample.kwargs.items()}
        plain = {k: v for k, v in texts.items() if v is not None and k != "out"}
        if len(plain) == len(sample.kwargs) and not any(_is_plain(a) for a in sample.args) and plain not in found:
            found.append(plain)
    return found or [{}]


def _is_plain(value: Any) -> bool:
    return literal(value) is not None


def _dtype(op: Any) -> torch.dtype:
    return torch.float32 if op.supports_dtype(torch.float32, "cpu") else torch.int64


def _domain(op: Any) -> tuple[str, ...]:
    low, high = getattr(op, "domain", None) or (None, None)
    if low is not None and high is not None:
        return ("signed",) if low < 0 else ("unit",)
    if low is not None:
        return ("above one",) if low >= 1 else ("positive",) if low >= 0 else ("unit",)
    return ("normal",)

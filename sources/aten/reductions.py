"""Operators along a dimension: reductions, arg-reductions, scans, softmax and sorting, over each dimension in turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sources.aten.calls import call, drawn
from sources.aten.form import Form
from sources.aten.running import AUTO

Found = Iterator[tuple[Form, tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class Along:
    """An operator along dimensions and what it takes beside them."""

    function: str
    family: str
    keepdim: bool = True  # whether it can
    several: bool = False  # whether it takes several dimensions at once
    whole: bool = False  # whether it can be left without any
    more: tuple[tuple[tuple[str, str], ...], ...] = ((),)
    results: tuple[str, ...] = ()
    draw: str = AUTO


def _each(name: str, *values: str) -> tuple[tuple[tuple[str, str], ...], ...]:
    return tuple(((name, value),) if value else () for value in values)


REDUCTION, SCAN, SORT = "reduction", "scan", "sorting"
PAIR = ("values", "indices")
OPERATORS = (
    Along("torch.sum", REDUCTION, several=True, whole=True),
    Along("torch.mean", REDUCTION, several=True, whole=True),
    Along("torch.amax", REDUCTION, several=True, whole=True),
    Along("torch.amin", REDUCTION, several=True, whole=True),
    Along("torch.prod", REDUCTION, draw="unit"),
    Along("torch.var", REDUCTION, several=True, whole=True, more=_each("correction", "", "0")),
    Along("torch.std", REDUCTION, several=True, whole=True, more=_each("correction", "", "0")),
    Along("torch.logsumexp", REDUCTION, several=True),
    Along("torch.nansum", REDUCTION, several=True),
    Along("torch.nanmean", REDUCTION, several=True),
    Along("torch.argmax", REDUCTION),
    Along("torch.argmin", REDUCTION),
    Along("torch.max", REDUCTION, results=PAIR, whole=True),
    Along("torch.min", REDUCTION, results=PAIR, whole=True),
    Along("torch.count_nonzero", REDUCTION, keepdim=False, draw="ticks"),
    Along("torch.var_mean", REDUCTION, several=True, results=("variance", "mean")),
    Along("torch.std_mean", REDUCTION, several=True, results=("deviation", "mean")),
    Along("torch.aminmax", REDUCTION, results=("low", "high")),
    Along("torch.norm", "norm", several=True, whole=True, more=_each("p", "1", "2", "3", 'float("inf")')),
    Along("torch.linalg.vector_norm", "norm", several=True, whole=True,
          more=_each("ord", "1", "2", "0.5", 'float("inf")', "4")),
    Along("F.normalize", "norm", keepdim=False, more=_each("p", "", "1.0", "2.0", "3.0", 'float("inf")')),
    Along("torch.cumsum", SCAN, keepdim=False),
    Along("torch.cumprod", SCAN, keepdim=False, draw="positive"),
    Along("torch.logcumsumexp", SCAN, keepdim=False),
    Along("torch.cummax", SCAN, keepdim=False, results=PAIR),
    Along("torch.cummin", SCAN, keepdim=False, results=PAIR),
    Along("torch.diff", SCAN, keepdim=False),
    Along("torch.softmax", "softmax", keepdim=False),
    Along("torch.log_softmax", "softmax", keepdim=False),
    Along("F.softmin", "softmax", keepdim=False),
    Along("F.glu", "activation", keepdim=False),
    Along("torch.median", SORT, results=PAIR),
    Along("torch.sort", SORT, keepdim=False, results=PAIR, more=_each("descending", "", "True")),
    Along("torch.argsort", SORT, keepdim=False, more=_each("descending", "", "True")),
    Along("torch.topk", SORT, keepdim=False, results=PAIR, more=_each("k", "4", "8", "1")),
    Along("torch.kthvalue", SORT, results=PAIR, more=_each("k", "2")),
    Along("torch.flip", "layout", keepdim=False, several=True),
    Along("torch.roll", "layout", keepdim=False, more=_each("shifts", "1", "-3", "8")),
    Along("torch.gradient", "reduction", keepdim=False, more=_each("spacing", "0.5")),
    Along("torch.trapezoid", REDUCTION, keepdim=False, more=_each("dx", "0.5", "2.0")),
    Along("torch.cumulative_trapezoid", SCAN, keepdim=False, more=_each("dx", "0.5")),
)  # fmt: skip
PLACES: dict[int, tuple[str, ...]] = {
    1: ("0", "-1"), 2: ("1", "0", "-1"), 3: ("1", "2", "0", "-2"), 4: ("1", "3", "2", "-1"),
}  # fmt: skip
PAIRS: dict[int, tuple[str, ...]] = {
    2: ("(0, 1)",), 3: ("(1, 2)", "(0, 2)"), 4: ("(2, 3)", "(0, 2, 3)", "(1, 3)", "(1, 2, 3)"),
}  # fmt: skip
NAMED = {"torch.flip": "dims", "torch.roll": "dims"}


def along() -> Found:
    """Every operator over every dimension of each rank, with and without keepdim."""
    for number, operator in enumerate(OPERATORS):
        for rank, places in PLACES.items():
            dims = [*places, *(PAIRS.get(rank, ()) if operator.several else ()), *([""] if operator.whole else [])]
            for place, dim in enumerate(_few(dims, rank, number)):
                yield _form(operator, rank, dim, number + place + rank), _draws(operator)


def _few(dims: list[str], rank: int, number: int) -> list[str]:
    """Of one rank not every dimension twice: the first two ones, and one after the other of the rest."""
    if rank == 1:
        return list(dict.fromkeys([dims[number % 2], *dims[2:]]))
    rest = dims[2:]
    start = number % len(rest)
    return [*dims[:2], *(rest[start:] + rest[:start])[: 3 if rank > 2 else 2]]


def _form(operator: Along, rank: int, dim: str, turn: int) -> Form:
    x, sizes = drawn(rank, "x", operator.draw, operator.function, rank, dim)
    keywords = dict(operator.more[turn % len(operator.more)])
    if dim:
        alone = operator.function == "torch.flip" and "(" not in dim  # it takes several or a tuple of one
        keywords[NAMED.get(operator.function, "dim")] = f"({dim},)" if alone else dim
        if operator.keepdim and turn % 2:
            keywords["keepdim"] = "True"
    results = operator.results if dim or operator.function in ("torch.var_mean", "torch.std_mean") else ()
    return call(operator.function, operator.family, [x], sizes, keywords, results, tag=f"{rank} {turn}")


def _draws(operator: Along) -> tuple[str, ...]:
    return ("normal",) if operator.draw == AUTO else ()

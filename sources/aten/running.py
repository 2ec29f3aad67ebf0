"""Programs tried at small sizes: inputs that suit them, and what it is that they compute. In the sandbox."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from kdata.record import digest
from sources.aten.form import Form
from sources.aten.words import PRIMES
from sources.infer.running.check import leaves

AUTO = "auto"  # a draw that is yet to be chosen
TRIED: tuple[tuple[str, ...], ...] = (
    ("normal",), ("normal", "positive"), ("unit",), ("positive",), ("signed",), ("above one",), ("ticks",),
    ("below 100",), ("below 100", "below 8"), ("mask",),
)  # fmt: skip
DRAWS = 2


def settled(form: Form, first: tuple[str, ...] = ()) -> tuple[Form, Form] | None:
    """The form with inputs on which it is finite and not constant, and the same at small sizes; None if there are none.

    ``first`` are the draws to try before all others: what the operator's domain says.
    """
    open_ = [i for i, drawn in enumerate(form.inputs) if drawn.draw == AUTO]
    for draws in ((first,) if first else ()) + TRIED if open_ else ((),):
        chosen = {i: draws[min(n, len(draws) - 1)] for n, i in enumerate(open_)}
        inputs = tuple(replace(drawn, draw=chosen.get(i, drawn.draw)) for i, drawn in enumerate(form.inputs))
        tried = replace(form, inputs=inputs)
        if (small := shrunk(tried)) is not None and _answers(small):
            return tried, small
    return None


def shrunk(form: Form) -> Form | None:
    """The form at the smallest sizes at which it runs; primes, each another one, where it bears them."""
    for sizes in _smaller(form):
        tried = replace(form, sizes=sizes)
        try:
            run(tried)
        except Exception:  # noqa: BLE001, S112 - whatever the reason, it does not bear these sizes
            continue
        return tried
    return None


def run(form: Form, seed: int = 0) -> list[torch.Tensor]:
    """All tensors that the program returns."""
    namespace: dict[str, Any] = {"__name__": "task"}
    torch.default_generator.manual_seed(seed)  # torch's own notes a stack for each absent kind of device
    exec(compile(form.text(""), "<form>", "exec", dont_inherit=True), namespace)  # noqa: S102 - in the sandbox
    module = namespace[form.name](*namespace["get_init_inputs"]())
    with torch.no_grad():
        return list(leaves(module(*namespace["get_inputs"]())))


def computed(form: Form) -> str:
    """What a form computes: its ATen calls, with sizes as which are equal and everything else as it is.

    Raises:
        Exception: whatever the program raises.
    """
    with _Calls() as calls:
        run(form)
    return digest(*calls.seen)


class _Calls(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self._sizes: dict[int, str] = {}

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = str(function)
        if not name.startswith(("aten.rand", "aten.normal", "aten.uniform", "aten.empty")):
            self.seen.append(f"{name} {self._said(args)} {self._said(sorted((kwargs or {}).items()))}")
        return function(*args, **(kwargs or {}))

    def _said(self, value: Any) -> str:
        if isinstance(value, torch.Tensor):
            return f"{value.dtype}[{', '.join(self._size(int(n)) for n in value.shape)}]"
        if isinstance(value, list | tuple):
            return f"[{', '.join(self._said(v) for v in value)}]"
        return self._size(value) if type(value) is int else repr(value)

    def _size(self, value: int) -> str:
        if value not in PRIMES:
            return str(value)
        return self._sizes.setdefault(value, f"s{len(self._sizes)}")


def _answers(form: Form) -> bool:
    """Whether every draw gives finite numbers that are not all the same."""
    every = [t for seed in range(DRAWS) for t in run(form, seed)]
    if not every or any(t.numel() == 0 or t.is_complex() or t.layout != torch.strided for t in every):
        return False
    if not all(bool(torch.isfinite(t).all()) for t in every if t.is_floating_point()):
        return False
    return not all(bool((t == every[0].flatten()[0]).all()) for t in every)


def _smaller(form: Form) -> Iterator[dict[str, int]]:
    """Sizes to try, smallest first."""
    names = list(form.sizes)
    yield dict(zip(names, itertools.cycle(PRIMES), strict=False))
    yield dict(zip(names, itertools.cycle((8, 12, 16, 20, 24)), strict=False))
    yield dict.fromkeys(names, 8)
    yield {name: max(4, value // 8) for name, value in form.sizes.items()}
    yield dict(form.sizes)


def distinct(forms: Iterable[tuple[Form, tuple[str, ...]]]) -> Iterator[tuple[Form, str]]:
    """Forms that run, each with a reason if it is not to be kept: "" for the first that computes what it does."""
    seen: set[str] = set()
    for form, first in forms:
        found = settled(form, first)
        if found is None:
            yield form, "runs on no inputs"
            continue
        chosen, small = found
        what = computed(small)
        yield chosen, "same computation as another" if what in seen else ""
        seen.add(what)

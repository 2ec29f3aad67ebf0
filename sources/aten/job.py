"""What runs inside the sandbox to make tasks of PyTorch's operators, and to prove that each is one."""

from __future__ import annotations

import ast
import importlib
import itertools
import random
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from kdata.task import execute, resize, sizes
from sources.aten import blocks, chains, elementwise, layers, products, reductions, samples
from sources.aten.form import Form, restored
from sources.aten.running import distinct
from sources.aten.words import PRIMES
from sources.infer.running.check import UnfitError, Work, check, leaves
from sources.isolation import isolated

DRAWN = {"chains": "chain", "blocks": "block"}  # kinds that are nobody's code
SEARCH_SECONDS = 20  # CPU seconds of one operator's samples
SMALL = 8  # up to here a constant may be a width of a window, or a dimension's number
Found = Iterator[tuple[Form, tuple[str, ...]]]


def warm() -> None:
    """Called once before any fork: the operator database takes seconds to import."""
    importlib.import_module("torch.testing._internal.common_modules")
    _operators()
    quiet()


def warm_to_check() -> None:
    """The same for checking, where the database is not needed; a dispatch mode imports the compiler."""
    quiet()
    with Work():
        torch.nn.Linear(2, 2)(torch.ones(1, 2))


def quiet() -> None:
    """One thread, and no warnings: what a test of PyTorch's own calls may be deprecated."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)


def generate(payload: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """Programs of the ``kinds`` that were asked for, each once, and ``chains`` chains drawn with ``seed``.

    Returns ``kept`` and ``left``, rows with kind, symbol, name, family and text, or with a reason.
    """
    kept: list[dict[str, str]] = []
    left: list[dict[str, str]] = []
    for kind in payload["kinds"]:
        wanted = payload["chains"] if kind == "chains" else None
        torch.manual_seed(0)
        random.seed(0)
        made = 0
        for form, reason in distinct(PRODUCERS[kind](payload["seed"])) if wanted != 0 else ():
            row = {"kind": kind, "symbol": form.symbol, "name": form.name, "family": form.family}
            if reason:
                left.append(row | {"reason": reason})
                continue
            kept.append(row | {"text": form.text(_header(kind, form, payload))})
            made += 1
            if made == wanted:
                break
    return {"kept": kept, "left": left}


def attempt(payload: dict[str, Any], scratch: Path) -> list[dict[str, Any]]:
    """Check the ``tasks``, one after another; an outcome has ``reason`` ("" for a task) and ``detail``."""
    quiet()
    return [_attempted(t["source"], t["name"], payload["operators"]) for t in payload["tasks"]]


def _attempted(source: str, name: str, operators: int) -> dict[str, Any]:
    try:
        return _checked(source, name, operators)
    except UnfitError as error:
        return {"reason": error.reason, "detail": str(error)}
    except Exception as error:  # noqa: BLE001 - whatever a program raises is its outcome
        return {"reason": "does not run alone", "detail": f"{type(error).__name__}: {error}"[:500]}


def _checked(source: str, name: str, operators: int) -> dict[str, Any]:
    found = check(source, name, operators)
    names, free = _names(source, name), _free(source, name)
    inputs = [i | {"name": n, "free": f} for i, n, f in zip(found["inputs"], names, free, strict=True)]
    return {"reason": "", "detail": found["mode"], "inputs": inputs}


def _names(source: str, name: str) -> list[str]:
    """What ``forward`` calls its inputs."""
    kind = next(n for n in ast.parse(source).body if isinstance(n, ast.ClassDef) and n.name == name)
    forward = next(n for n in kind.body if isinstance(n, ast.FunctionDef) and n.name == "forward")
    return [a.arg for a in forward.args.args[1:]]


def _free(source: str, name: str) -> list[list[bool]]:
    """Which dimensions of each input may vary: those that a constant decides with which the program runs otherwise."""
    constants = [s for s in sizes(source) if not s.name.startswith("get_")]
    small = next((v for v in _smaller(constants) if _shapes(source, name, v) is not None), {})
    before = _shapes(source, name, small) or [list(t.shape) for t in leaves(execute(source, name).inputs())]
    free = [[False] * len(shape) for shape in before]
    for number, constant in enumerate(constants):
        changed = small | {constant.name: small.get(constant.name, constant.value) + (8 if number else 2)}
        after = _shapes(source, name, changed)
        doubled = small | {constant.name: 2 * small.get(constant.name, constant.value)}
        after = after or _shapes(source, name, doubled)
        for i, shape in enumerate(after or ()):
            for d, size in enumerate(shape):
                free[i][d] |= size != before[i][d]
    return free


def _smaller(constants: list[Any]) -> Iterator[dict[str, int]]:
    names = [c.name for c in constants]
    yield dict(zip(names, itertools.cycle(PRIMES), strict=False))
    large = [c.name for c in constants if c.value > SMALL]
    yield dict(zip(large, itertools.cycle(PRIMES), strict=False))
    yield dict.fromkeys(names, 8)
    yield dict.fromkeys(names, 16)
    yield {c.name: max(4, c.value // 8) for c in constants}


def _shapes(source: str, name: str, values: dict[str, int]) -> list[list[int]] | None:
    """The inputs' shapes at these sizes; None where the program does not run."""
    try:
        program = execute(resize(source, values), name)
        inputs = program.inputs()
        with torch.no_grad():
            program.build()(*inputs)
    except Exception:  # noqa: BLE001 - whatever the reason, these sizes are not for it
        return None
    return [list(t.shape) for t in leaves(inputs)]


def _header(kind: str, form: Form, payload: dict[str, Any]) -> str:
    if kind in DRAWN:
        return f"{form.symbol}: a {DRAWN[kind]} of PyTorch's operators drawn with seed {payload['seed']}"
    return f"{form.symbol} of PyTorch {payload['version']} (BSD-3-Clause)"


def _elementwise(seed: int) -> Found:
    found = _operators()
    unary = [o for o in found if type(o).__name__ == "UnaryUfuncInfo"]
    binary = [o for o in found if type(o).__name__ == "BinaryUfuncInfo"]
    yield from elementwise.unary(unary)
    yield from elementwise.parametric()
    yield from elementwise.binary(binary)


def _samples(seed: int) -> Found:
    from torch.testing._internal.common_modules import module_db

    elsewhere = ("UnaryUfuncInfo", "BinaryUfuncInfo", "ReductionOpInfo")
    for op in (o for o in _operators() if type(o).__name__ not in elsewhere):
        yield from _apart(samples.operators, op)
    for info in module_db:
        yield from _apart(samples.modules, info)


def _apart(forms: Callable[[list[Any]], Found], one: Any) -> Found:
    """Forms found in a process of their own: sizes that do not fit crash some operators, and hang others."""

    def found() -> dict[str, Any]:
        return {"forms": [asdict(form) for form, _ in forms([one])]}

    for form in isolated(found, SEARCH_SECONDS).get("forms", ()):
        yield restored(form), ()


def _operators() -> list[Any]:
    from torch.testing._internal.common_methods_invocations import op_db

    found: list[Any] = op_db
    return found


PRODUCERS: dict[str, Callable[[int], Found]] = {
    "elementwise": _elementwise,
    "reductions": lambda _: reductions.along(),
    "products": lambda _: products.products(),
    "layers": lambda _: layers.layers(),
    "samples": _samples,
    "chains": chains.chains,
    "blocks": blocks.blocks,
}

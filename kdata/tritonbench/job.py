"""The problem's side: which of its test's calls is a task. In a child of its own, for it runs the problem's code."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from kdata.task import execute
from kdata.tritonbench import emit
from kdata.tritonbench.calls import Call, NoCallError, Reading, read
from kdata.tritonbench.emit import NUMBER, TENSOR, Kind
from kdata.verify.exchange.telling import line

SEEDS = (0, 1, 2)
NO_CALL, RAISES, RANDOM = "no call of the test can be cut out", "raises on a CPU", "random"
CHANGES, VIEWS = "changes its inputs", "returns only views of its inputs"
NO_INPUT, NO_OUTPUT, NOT_PLAIN = "takes no tensor", "returns no tensor", "takes what is no plain data"


class UnfitError(Exception):
    """A call that is no task: a short fixed phrase, and one line of detail."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason, detail)
        self.reason, self.detail = reason, detail


@dataclass(frozen=True, slots=True)
class Fit:
    """A call that is a task."""

    text: str
    elements: int  # of all its inputs
    finite: bool  # whether all that it returns is
    varied: bool  # whether it returns something else at another draw


def answer(payload: list[dict[str, str]], scratch: Path) -> list[dict[str, str]]:
    """The tasks of some problems, each given as name and source: ``{"text": ...}``, or reason and detail."""
    torch.set_num_threads(1)
    return [_task(problem["source"], problem["name"]) for problem in payload]


def _task(source: str, name: str) -> dict[str, str]:
    """The task of a problem, or why there is none.

    Of the calls that are tasks one is taken whose answer is finite and depends on what is drawn, the one with most
    elements, the first of equals. Where none is, the commonest reason is told.
    """
    try:
        reading = read(source, name)
    except NoCallError as error:
        return {"reason": NO_CALL, "detail": str(error)}
    fits: list[Fit] = []
    faults: list[UnfitError] = []
    for call in reading.calls:
        try:
            fits.append(_fit(reading, call))
        except UnfitError as error:
            faults.append(error)
    if fits:
        return {"text": max(fits, key=lambda f: (f.finite, f.varied, f.elements)).text}
    reason = Counter(f.reason for f in faults).most_common(1)[0][0]
    return {"reason": reason, "detail": next(f.detail for f in faults if f.reason == reason)}


def _fit(reading: Reading, call: Call) -> Fit:
    """The call with its literal tensors drawn, where that gives numbers as those do; else as it is written.

    Raises:
        UnfitError: it is no task either way.
    """
    kinds = _kinds(reading, call)
    if TENSOR not in kinds.values():
        raise UnfitError(NO_INPUT)
    written = _tried(emit.task(reading, call, kinds, draw=False)[0])
    text, count = emit.task(reading, call, kinds, draw=True)
    if not count:
        return written
    try:
        drawn = _tried(text)
    except UnfitError:
        return written
    return drawn if drawn.finite or not written.finite else written


def _kinds(reading: Reading, call: Call) -> dict[str, Kind]:
    """What each argument is; its statements are run for that."""
    values = ast.Tuple([a.value for a in call.arguments], ast.Load())
    body = [*call.setup(call.arguments), ast.Assign([ast.Name("_values", ast.Store())], values)]
    module = ast.Module([*reading.beside, *(copy.deepcopy(s) for s in body)], [])
    namespace: dict[str, Any] = {"__name__": "task"}
    try:
        for code in (ast.parse(reading.reference), ast.fix_missing_locations(module)):
            exec(compile(code, "<problem>", "exec", dont_inherit=True), namespace)  # noqa: S102 - in the sandbox
    except Exception as error:
        raise UnfitError(RAISES, line(error)) from error
    return {a.name: _kind(a.name, v) for a, v in zip(call.arguments, namespace["_values"], strict=True)}


def _kind(name: str, value: Any) -> Kind:
    leaves = tree_leaves(value)
    if leaves and all(isinstance(leaf, torch.Tensor) for leaf in leaves):
        return TENSOR
    if value is None or isinstance(value, bool | str | torch.dtype):
        return repr(value)
    if leaves and all(isinstance(leaf, int | float) and not isinstance(leaf, bool) for leaf in leaves):
        return NUMBER
    raise UnfitError(NOT_PLAIN, f"{name}: a {type(value).__qualname__}")


def _tried(text: str) -> Fit:
    """Run a task with a few draws.

    Raises:
        UnfitError: it is none.
    """
    try:
        runs = [_run(text, seed) for seed in SEEDS]
    except UnfitError:
        raise
    except Exception as error:
        raise UnfitError(RAISES, line(error)) from error
    finite = all(bool(torch.isfinite(a).all()) for _, answers in runs for a in answers)
    varied = any(not _same(a, b) for a, b in zip(runs[0][1], runs[1][1], strict=False))
    return Fit(text, runs[0][0], finite, varied)


def _run(text: str, seed: int) -> tuple[int, list[torch.Tensor]]:
    """One draw: how many elements the inputs have, and the tensors that come out.

    Raises:
        UnfitError: what comes out is no function of the inputs, or nothing but that.
    """
    torch.default_generator.manual_seed(seed)
    program = execute(text, "Model")
    module, inputs = program.build(), program.inputs()
    given = list(_tensors(inputs))
    held = tree_map(lambda t: t.detach().clone() if isinstance(t, torch.Tensor) else t, inputs)
    versions, state = [t._version for t in _tensors(held)], torch.default_generator.get_state()
    with torch.no_grad():
        returned = module(*held)
    if not torch.equal(state, torch.default_generator.get_state()):  # at other sizes it may matter what was drawn
        raise UnfitError(RANDOM)
    if not (answers := list(_tensors(returned))):
        raise UnfitError(NO_OUTPUT, f"a {type(returned).__qualname__}")
    equal = all(_same(a, b) for a, b in zip(given, _tensors(held), strict=True))  # running means have no versions
    if not equal or versions != [t._version for t in _tensors(held)]:  # what was added may have been zero
        raise UnfitError(CHANGES)
    own = {t.untyped_storage().data_ptr() for t in _tensors(held)}
    if all(t.untyped_storage().data_ptr() in own for t in answers):
        raise UnfitError(VIEWS)
    return sum(t.numel() for t in given), answers


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    return (leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor))


def _same(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and one.dtype == other.dtype and torch.equal(
        torch.nan_to_num(one), torch.nan_to_num(other)
    )  # fmt: skip

"""Modules that answer with distributions or records, as ones that answer with the tensors these are made of.

A policy returns ``Normal(mean, deviation)``: a kernel computes the mean and the deviation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import torch
from torch.distributions import Distribution

from sources.infer.constructor.constructions import build
from sources.infer.inputs import draw, parameters
from sources.infer.running.check import fields_of, tensors_of
from sources.infer.running.made import evaluated
from sources.infer.running.memory import bounded
from sources.infer.running.progress import Budget, Progress
from sources.infer.search import Solution

_MAY = re.compile(
    r"distributions|\b(Normal|Categorical|Bernoulli|Independent|SimpleNamespace)\(|dataclass"
    r"|^class \w+(\((object)?\))?:",
    re.M,
)


def answered(cut: dict[str, Any], solution: Solution, namespace: dict[str, Any]) -> tuple[dict[str, Any], Solution]:
    """The cut with a class that answers with tensors, which ``namespace`` then holds too; the same where it does."""
    if not _MAY.search(cut["source"]):
        return cut, solution
    try:
        result = _answer(namespace[cut["name"]], namespace, solution)
    except Exception:  # noqa: BLE001 - the check tells what it is that runs once and not twice
        return cut, solution
    parts = list(_parts(result, "answer"))
    if not parts or not _has_more(result):
        return cut, solution
    every = parameters(namespace[cut["name"]].forward)[1:]
    known = [p.name for p in every if p.kind is not p.VAR_POSITIONAL]
    given = ", ".join(known + [f"x{i}" for i in range(len(known), len(solution.specs))])
    name = f"{cut['name']}OfTensors"
    text = (
        f"class {name}({cut['name']}):\n"
        f'    """It answers with what its answer is made of."""\n\n'
        f"    def forward(self, {given}):\n"
        f"        answer = super().forward({given})\n"
        f"        return {', '.join(parts)}\n"
    )
    exec(text, namespace)  # noqa: S102 - in the sandbox
    return cut | {"source": f"{cut['source'].rstrip()}\n\n\n{text}", "name": name}, solution


def _answer(kind: Any, namespace: dict[str, Any], solution: Solution) -> Any:
    if (answer := evaluated(solution.made, kind, solution.specs)) is not None:
        return answer[0]
    module = build(kind, dict(solution.arguments), namespace, Budget()).eval()
    torch.manual_seed(0)
    inputs = [draw(spec) for spec in solution.specs]
    with torch.no_grad(), bounded(), Progress(Budget()):
        return module(*inputs)


def _has_more(value: Any) -> bool:
    """Whether a distribution or a record is in an answer."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return isinstance(value, Distribution) or bool(fields_of(value)) or any(map(_has_more, inner))


def _parts(value: Any, said: str) -> Iterator[str]:
    """Expressions of all tensors of an answer that goes by a name."""
    if isinstance(value, torch.Tensor):
        yield said
    elif isinstance(value, Distribution):
        yield from (f"{said}.{name}" for name in tensors_of(value))
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _parts(inner, f"{said}[{key!r}]")
    elif isinstance(value, list | tuple):
        for i, inner in enumerate(value):
            yield from _parts(inner, f"{said}[{i}]")
    else:
        for name, inner in fields_of(value).items():
            yield from _parts(inner, f"{said}.{name}")

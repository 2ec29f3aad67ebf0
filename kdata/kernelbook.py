"""Rows in the columns of KernelBook (huggingface.co/datasets/GPUMODE/KernelBook) as records, to check others' data."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from kdata.record import Candidate, Origin, Task
from kdata.verify.cuda.text import language_of

TASK_COLUMNS = ("python_code", "entry_point")
PAIR_COLUMNS = (*TASK_COLUMNS, "triton_code")


def task(row: Mapping[str, Any]) -> Task:
    """The task of a row; ``repo_name``, ``sha``, ``repo_link``, ``licenses`` and ``stars`` are taken where present."""
    licenses, symbol = row.get("licenses") or (), str(row.get("module_name") or "")
    origin = Origin(
        "kernelbook",
        repository=str(row.get("repo_name") or "unknown"),
        revision=str(row.get("sha") or ""),
        path=symbol,
        licenses=(licenses,) if isinstance(licenses, str) else tuple(licenses),
        url=str(row.get("repo_link") or ""),
        stars=row.get("stars"),
    )
    source, entry_point = text(row["python_code"]), text(row["entry_point"])
    return Task.make(source, entry_point or "Model", origin, symbol=symbol)


def candidate(row: Mapping[str, Any]) -> Candidate:
    """The candidate of a row. KernelBook names its class ``<entry point>New``; ours is ``ModelNew``.

    Its language is what its text says.
    """
    source, name = text(row["triton_code"]), f"{row['entry_point']}New"
    classes = _classes(source)
    if "ModelNew" not in classes and name in classes:
        source = f"{source.rstrip()}\n\n\nModelNew = {name}\n"
    return Candidate.make(task(row), source, language_of(source), "kernelbook")


def text(value: Any) -> str:
    """A cell's text; "" where there is none, which the judge then says."""
    return value if isinstance(value, str) else ""


def _classes(source: str) -> set[str]:
    try:
        return {s.name for s in ast.parse(source).body if isinstance(s, ast.ClassDef)}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()

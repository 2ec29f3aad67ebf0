"""The published columns: KernelBook's first and under its names, so that its users switch without a change, then ours.

The receipt, the input spec and the origin are nested and typed: their columns are those of the records themselves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import cache
from typing import Any

import pyarrow as pa

from kdata.record import Candidate, Inlined, Input, Origin, Pair, Receipt, Task, records, schema
from kdata.statistics import lines, max_error, synthetic

LATER = frozenset({"inlined"})  # columns that older sets have not

# The text of a dropped record stays at home: its licence may be why it was dropped.
DROPPED = ["stage", "id", "name", "reason", "detail"]


@cache
def columns() -> pa.Schema:
    """Arrow schema of a published row."""
    text, texts, integer = pa.string(), pa.list_(pa.string()), pa.int64()
    plain = {
        "uuid": integer, "entry_point": text, "python_code": text, "triton_code": text, "original_triton_code": text,
        "repo_name": text, "module_name": text, "synthetic": pa.bool_(), "licenses": texts, "stars": integer,
        "sha": text, "repo_link": text,
        "id": text, "task_id": text, "family": text, "ops": texts, "language": text, "made_by": text,
        "left_to_aten": texts, "reasoning": text, "transcript": text, "source": text, "path": text, "symbol": text,
        "inlined": schema(Origin).field("inlined").type,
        "benchmark_overlap": text, "kernel_lines": integer, "max_abs_error": pa.float64(),
        "inputs": schema(Task).field("inputs").type, "receipt": schema(Pair).field("receipt").type,
    }  # fmt: skip
    return pa.schema(list(plain.items()))


def row(pair: Pair, benchmark_overlap: str = "") -> dict[str, Any]:
    """A pair as a published row.

    ``benchmark_overlap`` names the benchmark problem that the pair equals in operators, "" for none.
    """
    candidate, task, origin = pair.candidate, pair.task, pair.task.origin
    return {
        "uuid": int(pair.id[:15], 16), "entry_point": task.entry_point, "python_code": task.source,
        "triton_code": candidate.source, "original_triton_code": candidate.original, "repo_name": origin.repository,
        "module_name": task.symbol.rpartition(".")[2] or task.entry_point, "synthetic": synthetic(pair),
        "licenses": list(origin.licenses), "stars": origin.stars, "sha": origin.revision, "repo_link": origin.url,
        "id": pair.id, "task_id": task.id, "family": candidate.family, "ops": list(candidate.ops),
        "language": candidate.language, "made_by": candidate.made_by, "left_to_aten": list(candidate.left_to_aten),
        "reasoning": candidate.reasoning, "transcript": candidate.transcript, "source": origin.source,
        "path": origin.path, "symbol": task.symbol, "inlined": [asdict(i) for i in origin.inlined],
        "benchmark_overlap": benchmark_overlap,
        "kernel_lines": lines(candidate.source), "max_abs_error": _or_none(max_error(pair)),
        "inputs": [asdict(i) for i in task.inputs], "receipt": asdict(pair.receipt),
    }  # fmt: skip


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value


def table(rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Published rows as an arrow table."""
    return pa.Table.from_pylist([dict(r) for r in rows], schema=columns())


def pair(values: Mapping[str, Any]) -> Pair:
    """The pair that a published row was made of."""
    origin = Origin(
        values["source"], values["repo_name"], values["sha"], values["path"], tuple(values["licenses"]),
        values["repo_link"], values["stars"], tuple(records(values.get("inlined") or [], Inlined)),
    )  # fmt: skip
    task = Task(
        values["task_id"], values["python_code"], values["entry_point"], origin, values["symbol"],
        tuple(records(values["inputs"], Input)),
    )  # fmt: skip
    candidate = Candidate(
        values["id"], task, values["triton_code"], values["language"], values["made_by"], tuple(values["ops"]),
        values["family"], tuple(values["left_to_aten"]), values["original_triton_code"], values["reasoning"],
        values["transcript"],
    )  # fmt: skip
    return Pair(candidate, records([values["receipt"]], Receipt)[0])

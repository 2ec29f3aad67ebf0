"""The same pairs told in another way, to learn what of the data matters to a model: a dataset folder in, one each out.

``python tests/bench/study.py DATASET OUT`` writes ``OUT/compiler-names``, where names say nothing (``in_ptr0``, ``tmp3``,
as Inductor writes them), and ``OUT/baked-sizes``, where every size is a constant of the kernel, as in KernelBook: the
tasks are aligned anew, each for its own sizes only.  Rows that have no such form are left out of both and of
``OUT/plain``, so that the three hold the same tasks.  Shares of the data need no copy: ``kdata sft --data OUT/plain=0.5``.
"""

from __future__ import annotations

import ast
import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kdata.align import step
from kdata.align.errors import AlignError
from kdata.sandbox.guard import Limits
from kdata.sandbox.pool import lease
from kdata.sandbox.worker import JobError

Row = dict[str, Any]
# Where jobs find kdata, this file, and what is installed nowhere.
PATH = os.pathsep.join([*(str(Path(__file__).parents[up]) for up in (2, 0)), os.environ.get("PYTHONPATH", "")])


def baked_job(payload: Row, scratch: Path) -> str:
    """The kernel of a task for its own sizes; in a sandbox worker."""
    from kdata.align.lower import lower
    from kdata.align.program import write
    from kdata.align.trace import trace

    source, entry_point = payload["python_code"], payload["entry_point"]
    traced = trace(source, entry_point, frozenset())
    text, left = write(source, entry_point, traced, lower(traced))
    return "" if left else text


def baked(row: Row) -> str | None:
    """A row's kernel with every size a constant, or None."""
    with lease(step.PRELOAD, **step.ENVIRONMENT, PYTHONPATH=PATH) as worker:
        try:
            given = {key: row[key] for key in ("python_code", "entry_point")}
            text = worker.call("study:baked_job", given, Limits(wall=60, cpu=30)).value
            return step.formatted(str(text)) if text else None
        except (JobError, AlignError):
            return None


class Anonymous(ast.NodeTransformer):
    """Gives functions, parameters and local names those of a compiler."""

    def __init__(self, tree: ast.Module) -> None:
        functions = [n for n in tree.body if isinstance(n, ast.FunctionDef)]
        self.functions: dict[str, str] = {}
        for function in functions:
            kind = "triton_" if function.decorator_list else "call_"
            count = sum(name.startswith(kind) for name in self.functions.values())
            self.functions[function.name] = f"{kind}{count}"
        self.locals = {f.name: _locals(f) for f in functions}
        self.scope: dict[str, str] = {}

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """A kernel, a launcher or forward."""
        if node.name == "__init__":
            return node
        outer, self.scope = self.scope, self.locals.get(node.name) or _locals(node)
        node.name = self.functions.get(node.name, node.name)
        self.generic_visit(node)
        self.scope = outer
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        """A parameter."""
        node.arg = self.scope.get(node.arg, node.arg)
        return node

    def visit_Name(self, node: ast.Name) -> ast.Name:
        """A local name, or one of the program's functions."""
        node.id = self.scope.get(node.id) or self.functions.get(node.id, node.id)
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        """Keywords are named by the function that is called."""
        called = node.func.value if isinstance(node.func, ast.Subscript) else node.func
        names = self.locals.get(called.id, {}) if isinstance(called, ast.Name) else {}
        self.generic_visit(node)
        for keyword in node.keywords:
            keyword.arg = names.get(keyword.arg or "", keyword.arg)
        return node


def _locals(function: ast.FunctionDef) -> dict[str, str]:
    """Old names to new ones, in order of appearance."""
    names: dict[str, str] = {}
    kernel = bool(function.decorator_list)
    for argument in function.args.args:
        if argument.arg != "self":
            names[argument.arg] = _parameter(argument, kernel, names)
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id not in names:
            start = "tmp" if kernel else "buf"
            names[node.id] = start + str(sum(n.startswith(start) for n in names.values()))
    return names


def _parameter(argument: ast.arg, kernel: bool, names: dict[str, str]) -> str:
    start = "arg"
    if kernel:
        constant = argument.annotation is not None
        start = "BLOCK" if constant else "ptr" if argument.arg.endswith("_ptr") else "ks"
    return start + str(sum(n.startswith(start) for n in names.values()))


def compiler_names(source: str) -> str:
    """A kernel program with names that say nothing."""
    tree = ast.parse(source)
    return step.formatted(ast.unparse(Anonymous(tree).visit(tree)))


def read(dataset: Path) -> tuple[list[Row], pa.Schema]:
    """The rows of a dataset folder, each with its split."""
    rows: list[Row] = []
    for file in sorted((dataset / "data").glob("*.parquet")):
        found = pq.read_table(file)
        rows += [{**row, "split": file.name.partition("-")[0]} for row in found.to_pylist()]
    return rows, found.schema


def write(rows: list[Row], schema: pa.Schema, like: Path, out: Path) -> None:
    """Dataset folder ``out`` with these rows in place of those of ``like``."""
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(like, out, ignore=shutil.ignore_patterns("data", "shards", "report.html"))
    for split in ("train", "test"):
        chosen = [{k: v for k, v in row.items() if k != "split"} for row in rows if row["split"] == split]
        (out / "data").mkdir(exist_ok=True)
        pq.write_table(pa.Table.from_pylist(chosen, schema=schema), out / "data" / f"{split}-00000.parquet")


def main(dataset: Path, out: Path) -> None:
    """Write the three folders."""
    rows, schema = read(dataset)
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        texts = list(threads.map(baked, rows))
    both = [(row, text) for row, text in zip(rows, texts, strict=True) if text]
    write([r for r, _ in both], schema, dataset, out / "plain")
    write([{**r, "triton_code": t} for r, t in both], schema, dataset, out / "baked-sizes")
    renamed = [{**r, "triton_code": compiler_names(r["triton_code"])} for r, _ in both]
    write(renamed, schema, dataset, out / "compiler-names")
    print(f"{len(both)} of {len(rows)} rows in each of {', '.join(p.name for p in sorted(out.iterdir()))}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))

"""Is the task, or nearly, a problem of the benchmark that models trained on this set will be scored with?

A benchmark's own text is never committed: KernelBench's problems are read from a folder or a parquet file, those of
TritonBench-T from a checkout (``kdata.tritonbench.problems``).  Four comparisons:
the class up to names, runs of tokens where the operators may be the same, the sequence of ATen operators, and its
overlap for long ones.  Nearly everything that is a single operator (a ReLU) is also a level-1 problem, or one of
TritonBench's: those are flagged, not dropped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from filters.canonical import jaccard, ops_jaccard, shingles, skeleton
from filters.chain import drop
from kdata.record import Dropped, Origin, Pair, SourceFile, digest
from kdata.step import Step
from kdata.task import TaskError, parse
from kdata.tritonbench import problems as tritonbench

Trace = Callable[[str], tuple[str, ...]]
TEXT_THRESHOLD = 0.6
OPS_THRESHOLD = 0.8
KERNELBENCH, TRITONBENCH = "KernelBench", "TritonBench"


@dataclass(frozen=True, slots=True)
class Problem:
    """One benchmark problem as fingerprints."""

    name: str  # "level1/19_ReLU"
    level: int
    skeleton: str
    shingles: tuple[str, ...]  # sorted
    ops: tuple[str, ...] = ()


@dataclass(frozen=True)
class Problems:
    """A benchmark as fingerprints; ``id`` changes with any of them."""

    items: tuple[Problem, ...]

    @cached_property
    def id(self) -> str:
        """Digest of names and fingerprints."""
        return digest(*(f"{p.name} {p.skeleton} {' '.join(p.ops)} {' '.join(p.shingles)}" for p in self.items))

    @cached_property
    def texts(self) -> tuple[frozenset[str], ...]:
        """The runs of tokens of each problem, as sets."""
        return tuple(frozenset(p.shingles) for p in self.items)


def read_problems(paths: str) -> list[SourceFile]:
    """Read benchmark problems: their texts by name.

    ``paths`` are, by commas, folders of ``.py`` files (levels in subfolders ``level1``...), parquet files or folders of
    such with columns ``code``, ``name`` and ``level``, and checkouts of TritonBench.

    Raises:
        ValueError: there is no such path, or no problem in it.
    """
    return [file for path in paths.split(",") for file in _read(path.strip())]


def _read(path: str) -> list[SourceFile]:
    if tritonbench.is_one(path):
        found = tritonbench.texts(path).items()
        return [SourceFile(Origin("benchmark", TRITONBENCH, "", name), text) for name, text in found]
    texts = sorted(_texts(Path(path)))
    if not texts:
        raise ValueError(f"no benchmark problems in {path}: neither .py nor .parquet files")
    return [SourceFile(Origin("benchmark", KERNELBENCH, "", name), text) for name, text in texts]


def fingerprint_step(trace: Trace, version: str) -> Step[SourceFile, Problem]:
    """The stage ``benchmark``: problems as fingerprints.

    ``trace`` gives a text's ATen operators in order, views dropped; operators are not compared with problems that it
    gives ``()`` for.  ``version`` changes with it.
    """

    def run(files: Sequence[SourceFile]) -> Iterator[Problem | Dropped]:
        for name, source in _sources(files):
            yield source if isinstance(source, Dropped) else _problem(name, source, trace(source))

    parameters = {"trace": version, "tritonbench": tritonbench.VERSION}
    return Step("benchmark", "1", SourceFile, Problem, run, parameters)


def _sources(files: Sequence[SourceFile]) -> Iterator[tuple[str, str | Dropped]]:
    """Name and task of each problem, or why it is none."""
    theirs = {f.origin.path: f.text for f in files if f.origin.repository == TRITONBENCH}
    for name, task in zip(theirs, tritonbench.tasks(theirs) if theirs else (), strict=True):
        yield f"tritonbench/{name}", task if isinstance(task, Dropped) else task.source
    for file in files:
        if file.origin.repository == TRITONBENCH:
            continue
        try:
            parse(file.text)
        except TaskError as error:
            yield file.origin.path, Dropped("benchmark", file.id, "not a task", str(error), file.origin.path)
        else:
            yield file.origin.path, file.text


def match(pair: Pair, problems: Problems) -> tuple[str, bool] | None:
    """What of the benchmark a pair resembles: ``reason: problem``, and whether that is a leak or only a flag."""
    form, text = skeleton(pair.task.source, pair.task.entry_point), shingles(pair.task.source)
    for problem, its_text in zip(problems.items, problems.texts, strict=True):
        if problem.skeleton == form:
            return f"benchmark problem, same program: {problem.name}", True
        similarity = jaccard(its_text, text)
        if similarity >= TEXT_THRESHOLD and _may_equal(problem.ops, pair.candidate.ops):
            return f"benchmark problem, similar text: {problem.name}, Jaccard {similarity:.2f}", True
    return _match_ops(pair.candidate.ops, problems)


def check(pair: Pair, problems: Problems) -> str | None:
    """A reason where the pair's task is a leak."""
    found = match(pair, problems)
    return found[0] if found and found[1] else None


def flags(pairs: Iterable[Pair], problems: Problems) -> dict[str, str]:
    """Pair id -> the one-operator problem that it equals in operators: a column of the published set."""
    matches = ((p.id, match(p, problems)) for p in pairs)
    return {i: found[0].partition(": ")[2] for i, found in matches if found and not found[1]}


def step(problems: Problems) -> Step[Pair, Pair]:
    """The stage ``leakage``: pairs that are no benchmark problem."""

    def run(pairs: Sequence[Pair]) -> Iterator[Pair | Dropped]:
        for pair in pairs:
            reason = check(pair, problems)
            yield drop("leakage", pair, reason) if reason else pair

    return Step("leakage", "2", Pair, Pair, run, {"problems": problems.id})


def _match_ops(ops: tuple[str, ...], problems: Problems) -> tuple[str, bool] | None:
    if not ops:
        return None
    for problem in problems.items:
        if problem.ops == ops:
            leak = not (_elementary(problem) and len(ops) == 1)
            return f"benchmark problem, same operators: {problem.name}", leak
    for problem in problems.items:
        if ops_jaccard(ops, problem.ops) >= OPS_THRESHOLD:
            return f"benchmark problem, similar operators: {problem.name}", True
    return None


def _elementary(problem: Problem) -> bool:
    """Whether a problem may be a single operator that anybody's code holds."""
    return problem.level == 1 or problem.name.startswith("tritonbench/")


def _may_equal(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two sequences are alike, or one is not known."""
    return not one or not other or ops_jaccard(one, other) >= OPS_THRESHOLD


def _problem(name: str, text: str, ops: tuple[str, ...]) -> Problem:
    level = re.search(r"level(\d+)", name)
    return Problem(name, int(level[1]) if level else 0, skeleton(text, "Model"), tuple(sorted(shingles(text))), ops)


def _texts(path: Path) -> Iterator[tuple[str, str]]:
    """Name and text of each problem."""
    if not path.exists():
        raise ValueError(f"no benchmark problems: {path} does not exist")
    files = [path] if path.is_file() else sorted(path.rglob("*.py")) + sorted(path.rglob("*.parquet"))
    for file in filter(Path.is_file, files):
        if file.suffix == ".parquet":
            yield from _rows(file)
        elif file.suffix == ".py":
            base = path.parent if path.name.startswith("level") or path.is_file() else path
            yield file.relative_to(base).with_suffix("").as_posix(), file.read_text("utf-8", "replace")


def _rows(file: Path) -> Iterator[tuple[str, str]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        rows: list[Mapping[str, Any]] = pq.read_table(file).to_pylist()
    except pa.ArrowInvalid as error:
        raise ValueError(f"{file} is not a parquet file: {error}") from error
    if rows and not {"code", "name"} <= set(rows[0]):
        raise ValueError(f"{file} holds no benchmark problems: it needs the columns code and name")
    for row in rows:
        yield f"level{row.get('level') or 0}/{row['name']}", row["code"]

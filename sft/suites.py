"""What models are asked: KernelBench, TritonBench-T, or the held-out split of a dataset of ours. Read, never kept.

KernelBench (https://github.com/ScalingIntelligence/KernelBench): a folder with ``level1`` ... of ``.py`` files, or its
dataset with columns ``code``, ``name``, ``level``, as parquet files or on the Hub. TritonBench-T: see
``kdata.tritonbench.problems``; its levels are its problems' difficulties.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kdata.align.families import family
from kdata.publish import read_dataset
from kdata.record import Dropped, Origin, Task
from kdata.step import Step
from kdata.task import TaskError, find_entry_point
from kdata.tritonbench import problems as tritonbench

COLUMNS = {"code", "name"}


@dataclass(frozen=True, slots=True)
class Problem:
    """One question of a suite."""

    name: str  # "level1/19_ReLU"
    level: int  # 0 where the suite has none
    task: Task
    family: str = ""  # operator family, see kdata.align.families; "" where it is not known yet

    @property
    def id(self) -> str:
        return self.task.id


@dataclass(frozen=True, slots=True)
class Suite:
    """The problems of a suite, and those that no task can be made of."""

    problems: list[Problem]
    left_out: list[Dropped]


def read_suite(suite: str, path: str, levels: Sequence[int] = (), most: int | None = None) -> Suite:
    """The problems of a suite, by level and number.

    Args:
        suite: "kernelbench", "tritonbench" or "heldout".
        path: folder, file, or dataset on the Hub.
        levels: which levels; () for all.
        most: at most this many of a level, the first ones.

    Raises:
        ValueError: there is nothing to read there, or no problem of these levels.
    """
    reader: Callable[[str, Sequence[int]], Iterator[Problem | Dropped]]
    reader = {"kernelbench": _kernelbench, "tritonbench": _tritonbench, "heldout": _heldout}[suite]
    read = list(reader(path, levels))
    problems = sorted((p for p in read if isinstance(p, Problem)), key=_order, reverse=True)
    found = sorted({p.id: p for p in problems}.values(), key=_order)
    if missing := set(levels) - {p.level for p in found}:
        raise ValueError(f"{path} holds no {suite} problems of level {', '.join(map(str, sorted(missing)))}")
    if not found:
        left = next((f" that can be a task: {d.reason}" for d in read if isinstance(d, Dropped)), "")
        raise ValueError(f"{path} holds no {suite} problems{left}")
    chosen = [p for _, level in groupby(found, key=lambda p: p.level) for p in islice(level, most)]
    return Suite(chosen, [d for d in read if isinstance(d, Dropped)])


def family_step(trace: Callable[[str, str], tuple[str, ...]], version: str) -> Step[Problem, Problem]:
    """The stage that names each problem's operator family.

    ``trace`` gives a text's ATen operators, () where it cannot be traced; ``version`` changes with it.
    """

    def name(problems: Sequence[Problem]) -> Iterator[Problem | Dropped]:
        for problem in problems:
            if operators := trace(problem.task.source, problem.task.entry_point):
                yield replace(problem, family=family(operators))
            else:
                yield Dropped("family", problem.id, "cannot be traced", name=problem.name)

    return Step("family", "1", Problem, Problem, name, {"trace": version})


def _order(problem: Problem) -> tuple[int, int, str]:
    number = re.match(r"(\d+)", problem.name.rpartition("/")[2])
    return problem.level, int(number[1]) if number else 0, problem.name


def _kernelbench(path: str, levels: Sequence[int]) -> Iterator[Problem | Dropped]:
    for level, name, text in _texts(path):
        if levels and level not in levels:
            continue
        label = f"level{level}/{name}" if level else name
        try:
            entry_point = find_entry_point(text)
        except TaskError as error:
            raise ValueError(f"{path}: {label} is no problem: {error}") from error
        origin = Origin("kernelbench", "ScalingIntelligence/KernelBench", "", label, ("MIT",))
        yield Problem(label, level, Task.make(text, entry_point, origin))


def _tritonbench(path: str, levels: Sequence[int]) -> Iterator[Problem | Dropped]:
    for name, level, task in tritonbench.read(path):
        if not levels or level in levels:
            yield task if isinstance(task, Dropped) else Problem(name, level, task)


def _texts(path: str) -> Iterator[tuple[int, str, str]]:
    """Level, name and text of each problem."""
    place = Path(path)
    if not place.exists():
        yield from _rows(_from_hub(path), path)
        return
    if place.is_file():
        yield from _rows(_parquet(place), path) if place.suffix == ".parquet" else [_file(place)]
        return
    files = [f for f in sorted(place.rglob("*.py")) if f.is_file() and re.match(r"\d+_", f.name)]
    yield from map(_file, files)
    for file in sorted(place.rglob("*.parquet")) if not files else []:
        yield from _rows(_parquet(file), str(file))


def _file(file: Path) -> tuple[int, str, str]:
    level = re.fullmatch(r"level_?(\d+)", file.parent.name)
    return int(level[1]) if level else 0, file.stem, file.read_text()


def _rows(rows: Iterable[Mapping[str, Any]], where: str) -> Iterator[tuple[int, str, str]]:
    for row in rows:
        if missing := COLUMNS - row.keys():
            raise ValueError(
                f"{where} holds no KernelBench problems: it lacks the columns {', '.join(sorted(missing))}"
            )
        yield int(row.get("level") or 0), str(row["name"]).removesuffix(".py"), str(row["code"])


def _parquet(file: Path) -> list[dict[str, Any]]:
    try:
        rows: list[dict[str, Any]] = pq.read_table(file).to_pylist()
    except pa.ArrowInvalid as error:
        raise ValueError(f"{file} is not a parquet file") from error
    return rows


def _from_hub(name: str) -> Iterator[Mapping[str, Any]]:
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", name):
        raise ValueError(f"there is no {name}")
    from datasets import load_dataset

    try:
        splits = load_dataset(name)
    except Exception as error:  # the Hub's libraries raise a dozen kinds; all mean that there is nothing to read
        raise ValueError(f"no dataset {name} can be loaded: {' '.join(str(error).split())[:300]}") from error
    for split in splits.values():
        yield from split


def _heldout(path: str, levels: Sequence[int]) -> Iterator[Problem | Dropped]:
    if levels:
        raise ValueError("a dataset's held-out split has no levels")
    for pair in read_dataset(_test_files(path)):
        origin = pair.task.origin
        yield Problem(f"{origin.repository}:{pair.task.symbol or pair.task.entry_point}", 0, pair.task,
                      pair.candidate.family)  # fmt: skip


def _test_files(path: str) -> str:
    """The parquet file of the test split in a dataset folder, or the file that is named itself.

    Raises:
        ValueError: there is no one such file.
    """
    if path.endswith(".parquet"):
        return path
    if not Path(path).exists() and re.fullmatch(r"[\w.-]+/[\w.-]+", path):
        from huggingface_hub import snapshot_download

        path = snapshot_download(path, repo_type="dataset", allow_patterns=["data/test-*"])
    found = sorted(Path(path).glob("data/test-*.parquet"))
    if len(found) != 1:
        raise ValueError(f"{path} holds no test split: {len(found)} files data/test-*.parquet")
    return str(found[0])

"""Folders of Python files as candidates: a file with ``Model`` and ``ModelNew``, or pairs of files by name.

A file that defines ``ModelNew`` is a candidate; one that defines ``get_inputs`` is a task, and a file may be both. A
candidate without a task of its own takes, of the tasks whose name its own begins with, the one with the longest name
(``relu.py``: ``relu_triton.py``), in its folder before elsewhere; else the only task of its folder (``reference.py``
and ``solution.py``). Nothing is left out: what has no partner is a candidate without a task, or a task without a
candidate, and the judge says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

import fsspec

from kdata.record import Candidate, Origin, Task
from kdata.task import TaskError, find_entry_point
from kdata.verify.candidate.source import task_part
from kdata.verify.cuda.text import language_of

LONGEST = 11 << 20  # bytes of a file that are read: more than the judge accepts
CANDIDATE = re.compile(rb"^class[ \t]+ModelNew\b", re.MULTILINE)
TASK = re.compile(rb"^def[ \t]+get_inputs\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Source:
    """One file."""

    path: PurePosixPath
    text: str
    is_task: bool
    is_candidate: bool


def candidates(root: str) -> list[Candidate]:
    """The candidates of a folder of ``.py`` files, or of one such file, in the order of their paths.

    Raises:
        FileNotFoundError: the folder holds none.
    """
    files = list(_read(root))
    if not files:
        raise FileNotFoundError(f"{root} holds no .py files")
    tasks = [f for f in files if f.is_task and not f.is_candidate]
    pairs = [(f if f.is_task else _partner(f, tasks), f) for f in files if f.is_candidate or not f.is_task]
    answered = {task.path for task, _ in pairs if task}
    pairs += [(task, Source(task.path, "", False, True)) for task in tasks if task.path not in answered]
    return [_candidate(task, file) for task, file in sorted(pairs, key=lambda pair: pair[1].path)]


def make(code: str, kernel: str, origin: Origin, made_by: str) -> Candidate:
    """The candidate of two texts, either of which may be anything."""
    code = task_part(code)
    try:
        entry_point = find_entry_point(code)
    except TaskError:
        entry_point = "Model"  # the judge says what is wrong
    task = Task.make(code, entry_point, origin, symbol=origin.path)
    return Candidate.make(task, kernel, language_of(kernel), made_by)


def _read(root: str) -> Iterator[Source]:
    fs, inner = fsspec.core.url_to_fs(root)
    files = [inner] if fs.isfile(inner) else sorted(f for f in fs.find(inner) if f.endswith(".py"))
    base = PurePosixPath(inner).parent if fs.isfile(inner) else PurePosixPath(inner)
    for file in files:
        with fs.open(file, "rb") as opened:
            data = opened.read(LONGEST)
        path = PurePosixPath(file).relative_to(base)
        yield Source(path, data.decode("utf-8", "replace"), bool(TASK.search(data)), bool(CANDIDATE.search(data)))


def _partner(file: Source, tasks: Sequence[Source]) -> Source | None:
    """The task that a candidate's file belongs to."""
    near = [t for t in tasks if t.path.parent == file.path.parent]
    for some in (near, tasks):
        named = [t for t in some if file.path.stem.startswith(t.path.stem)]
        if named:
            return max(named, key=lambda t: len(t.path.stem))
    return near[0] if len(near) == 1 else None


def _candidate(task: Source | None, file: Source) -> Candidate:
    origin = Origin("folder", str(file.path.parent), "", str(file.path))
    return make(task.text if task else "", file.text, origin, "file")

"""TritonBench-T (arXiv 2502.14752, https://github.com/thunlp/TritonBench) read as tasks in the KernelBench interface.

Each of its 166 problems is a file ``data/TritonBench_T_v1/<name>.py``: a PyTorch function, a line of 146 ``#``, and a
test that calls it about four times. A task's ``Model`` calls that function as one of these calls does: tensors are
``forward``'s inputs, numbers the constructor's arguments, and strings, flags and ``None`` stay where they are. Nothing
says where a tensor is, and tensors that the test writes out are drawn (``kdata.tritonbench.literals``).

What TritonBench counts, in ``EVAL/eval_T`` at commit 603e28a:

- call accuracy (``0_call_acc.py``): the answer's code followed by the test ends with exit status 0;
- execution accuracy (``1_exe_acc.py``): of these, the standard output is the same text as that of the problem's own
  file. Of the 166 tests one prints something, a shape; so what is called without an error is nearly always correct;
- speedup (``2_efficiency.py``): the sum of the reference's times, from ``performance_metrics/perf_T``, over that of the
  answer's at a dozen sizes; answers more than ten times faster or slower are left out; the mean over the rest.

A verdict of the judge's is on other ground than these: values are compared, at other sizes and draws, too, and a
kernel of the answer's own must have computed them. Problems of which that cannot be asked are dropped with a reason.
(KernelBench's rule, which stands beside ours in an evaluation, makes floats of integers: by it no answer is right to
the eleven problems whose references want integers.)
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kdata.align.step import ENVIRONMENT, PRELOAD
from kdata.record import Dropped, Origin, Task, digest
from kdata.sandbox.guard import Limits
from kdata.sandbox.pool import lease
from kdata.sandbox.worker import JobError, Worker
from kdata.tritonbench.calls import DIVISION

FOLDER, STATISTICS = "TritonBench_T_v1", ("TritonBench_T_v1.jsonl", "TritonBench_T_v1.json")
REPOSITORY, LICENSE = "thunlp/TritonBench", "Apache-2.0"
STAGE, NO_ANSWER = "tritonbench", "its process ended"
VERSION = "1"  # raise it when another task is made of the same file
BATCH, LIMITS = 24, Limits(wall=120, cpu=60)  # problems of one sandbox job


def is_one(path: str) -> bool:
    """Whether problems of TritonBench-T are there."""
    return _folder(Path(path)) is not None


def read(path: str) -> list[tuple[str, int, Task | Dropped]]:
    """Name, difficulty (1 to 5; 0 where it is not told) and task of each problem, by name; see ``texts``."""
    found = texts(path)
    levels = _levels(_folder(Path(path)) or Path(path))
    made = tasks(found)
    return [(name, levels.get(name, 0), task) for name, task in zip(found, made, strict=True)]


def texts(path: str) -> dict[str, str]:
    """The files of the problems, by name.

    Args:
        path: a checkout of the repository, its ``data``, the folder of the problems, one of their files, or
            ``TritonBench_T_v1.jsonl`` beside the folder.

    Raises:
        ValueError: no problems are there.
    """
    found = _folder(Path(path))
    if found is None:
        raise ValueError(f"{path} holds no TritonBench-T: no folder {FOLDER} of Python files with their tests")
    files = [Path(path)] if Path(path).suffix == ".py" else sorted(filter(Path.is_file, found.glob("*.py")))
    return {file.stem: text for file in files if DIVISION.search(text := file.read_text("utf-8", "replace"))}


def tasks(found: Mapping[str, str]) -> list[Task | Dropped]:
    """The task of each of these problems, or why there is none. They are run for that, in the sandbox."""
    names = list(found)
    with lease(PRELOAD, **ENVIRONMENT) as worker:  # the same that traces operators
        answers = [a for i in range(0, len(names), BATCH) for a in _answers(worker, names[i : i + BATCH], found)]
    return [_task(name, found[name], answer) for name, answer in zip(names, answers, strict=True)]


def _answers(worker: Worker, names: list[str], found: Mapping[str, str]) -> list[dict[str, str]]:
    """What a child makes of these problems; where it is lost, of their halves, down to who did it."""
    payload = [{"name": name, "source": found[name]} for name in names]
    try:
        answers: list[dict[str, str]] = worker.call("kdata.tritonbench.job:answer", payload, LIMITS).value
    except JobError as error:
        if len(names) == 1:
            return [{"reason": NO_ANSWER, "detail": str(error)[:500]}]
        half = len(names) // 2
        return [*_answers(worker, names[:half], found), *_answers(worker, names[half:], found)]
    return answers


def _task(name: str, text: str, answer: Mapping[str, str]) -> Task | Dropped:
    if "reason" in answer:
        return Dropped(STAGE, digest(STAGE, name, text), answer["reason"], answer["detail"], name)
    return Task.make(answer["text"], "Model", Origin(STAGE, REPOSITORY, "", f"{FOLDER}/{name}.py", (LICENSE,)))


def _folder(path: Path) -> Path | None:
    """Where the problems' files are."""
    if path.is_file() and path.suffix not in (".json", ".jsonl", ".py"):
        return None  # a parquet file of another benchmark's, whatever lies beside it
    if path.is_file():
        path = path.parent if path.suffix == ".py" else path.parent / FOLDER
    for folder in (path / "data" / FOLDER, path / FOLDER, path):
        if any(map(_has_test, sorted(folder.glob("*.py")))):
            return folder
    return None


def _has_test(file: Path) -> bool:
    return file.is_file() and DIVISION.search(file.read_text("utf-8", "replace")) is not None


def _levels(folder: Path) -> Mapping[str, int]:
    """The difficulty of each problem, from the statistics beside the folder; nothing where they are not there."""
    files = (folder.parent / name for name in STATISTICS)
    rows: list[Any] = next((list(_rows(file)) for file in files if file.is_file()), [])
    return {str(r["file"]).removesuffix(".py"): int(r["difficulty"]) for r in rows}


def _rows(file: Path) -> Iterator[Any]:
    """The file is a JSON array, whatever it is called.

    Raises:
        ValueError: it holds something else.
    """
    try:
        rows = json.loads(file.read_text())
        yield from ({"file": r["file"], "difficulty": r["difficulty"]} for r in rows)
    except (TypeError, KeyError, ValueError) as error:
        raise ValueError(f"{file} holds no TritonBench-T: {type(error).__name__}: {error}") from error

"""The stage that cuts tasks out of source files. All parsing and running happens in the sandbox."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from kdata.record import Dropped, Input, SourceFile, Task, digest
from kdata.sandbox import pool
from kdata.sandbox.guard import Limits
from kdata.sandbox.worker import JobError, Worker
from kdata.step import Step

STAGE, VERSION = "mine", "1"
CUTS_PER_TASK = 3  # definitions cut for every task that is wanted: most of them become one
BATCH = 12  # definitions of one sandbox job
CUT_LIMITS = Limits(wall=900, cpu=300)
ATTEMPT_LIMITS = Limits(wall=1200, cpu=300, memory=4 << 30)
# Large tensors stay in the process's heap: asking the system for fresh pages each time costs a third of the time.
ALLOCATOR = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 30)}
PRELOAD = ("torch", "sources.probe:warm")


def step(limit: int | None = None, part: int = 0, parts: int = 1, seed: int = 0) -> Step[SourceFile, Task]:
    """The mining stage over all files of one repository.

    Its definitions are put in an order that depends on ``seed`` only; this part takes every ``parts``-th of them,
    starting with number ``part``, and stops at ``limit`` tasks.  Every definition becomes a task or a ``Dropped``.

    Raises:
        ValueError: ``part`` is not below ``parts``, or ``limit`` is negative.
    """
    if not 0 <= part < parts:
        raise ValueError(f"part {part} of {parts}: parts are numbered from 0")
    if limit is not None and limit < 0:
        raise ValueError(f"limit {limit} is negative")
    parameters: dict[str, Any] = {
        "limit": limit,
        "part": part,
        "parts": parts,
        "seed": seed,
        "enough": 1 << 30 if limit is None else CUTS_PER_TASK * limit,
    }

    def mine(files: Sequence[SourceFile]) -> Iterable[Task | Dropped]:
        return _mine(files, limit, part, parts, seed)

    return Step(STAGE, VERSION, SourceFile, Task, mine, parameters)


def _mine(files: Sequence[SourceFile], limit: int | None, part: int, parts: int, seed: int) -> Iterator[Task | Dropped]:
    if not files:
        return
    by_path = {file.origin.path: file for file in files}
    payload = {"files": {path: file.text for path, file in by_path.items()}, "replacements": replacements(),
               "part": part, "parts": parts, "seed": seed,
               "enough": 1 << 30 if limit is None else CUTS_PER_TASK * limit}  # fmt: skip
    with pool.lease(*PRELOAD, **ALLOCATOR) as worker:
        try:
            package = worker.call("sources.probe:cut_package", payload, CUT_LIMITS).value
        except JobError as error:
            yield _dropped(files[0], "", "package not readable", str(error))
            return
        if part == 0:
            yield from (_dropped(by_path[p], "", "does not parse", d) for p, d in sorted(package["broken"].items()))
        yield from (_dropped(by_path[r["path"]], r["symbol"], r["reason"], r["detail"]) for r in package["refused"])
        for cut in package["cuts"]:
            cut["header"] = _header(by_path[cut["path"]], cut["symbol"])
        yield from _tasks(worker, package["cuts"], by_path, limit)


def _tasks(
    worker: Worker, cuts: list[dict[str, Any]], files: dict[str, SourceFile], limit: int | None
) -> Iterator[Task | Dropped]:
    kept, seen = 0, set()
    for start in range(0, len(cuts), BATCH):
        batch = cuts[start : start + BATCH]
        if limit is not None and kept >= limit:
            yield from (_dropped(files[c["path"]], c["symbol"], "limit reached") for c in batch)
            continue
        for cut, outcome in zip(batch, _attempt(worker, batch), strict=True):
            file = files[cut["path"]]
            if outcome["reason"]:
                yield _dropped(file, cut["symbol"], outcome["reason"], outcome["detail"], cut["source"])
            elif limit is not None and kept >= limit:
                yield _dropped(file, cut["symbol"], "limit reached")
            elif (task := _task(cut, outcome, file)).id in seen:
                yield _dropped(file, cut["symbol"], "duplicate", "equal to another task of its package")
            else:
                seen.add(task.id)
                kept += 1
                yield task


def _attempt(worker: Worker, batch: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Outcomes of a batch; where the whole job is lost, of its halves, down to the definition that did it."""
    try:
        outcomes: list[dict[str, Any]] = worker.call("sources.probe:attempt", {"cuts": batch}, ATTEMPT_LIMITS).value
        return outcomes
    except JobError as error:
        if len(batch) == 1:
            return [{"reason": error.reason if error.reason in ("timeout", "crash") else "crash", "detail": str(error)}]
    middle = len(batch) // 2
    return [*_attempt(worker, batch[:middle]), *_attempt(worker, batch[middle:])]


def _task(cut: dict[str, Any], outcome: dict[str, Any], file: SourceFile) -> Task:
    inputs = tuple(
        Input(i.get("name", "x"), i["dtype"], tuple(i["shape"]), tuple(i.get("free", [False] * len(i["shape"]))),
              i["low"], i["high"])
        for i in outcome["inputs"]
    )  # fmt: skip
    return Task.make(outcome["source"], cut["name"], file.origin, symbol=cut["symbol"], inputs=inputs)


def _header(file: SourceFile, symbol: str) -> list[str]:
    origin = file.origin
    licence = f" ({', '.join(origin.licenses)})" if origin.licenses else ""
    return [f"{symbol} from {origin.path} of {origin.repository}{licence}"]


def _dropped(file: SourceFile, symbol: str, reason: str, detail: str = "", text: str = "") -> Dropped:
    origin = file.origin
    name = f"{origin.repository}:{origin.path}" + (f":{symbol}" if symbol else "")
    return Dropped(STAGE, digest("definition", origin.revision, name), reason, detail[:500], name, text)


def replacements() -> dict[str, str]:
    """Our stand-ins for third-party modules: module name -> text."""
    folder = resources.files("sources.replacements")
    found = sorted((f for f in folder.iterdir() if f.name.endswith(".py")), key=lambda f: f.name)
    return {f.name.removesuffix(".py"): f.read_text() for f in found if f.name != "__init__.py"}


def write_tasks(tasks: Iterable[Task], out: str | Path) -> None:
    """Write one ``<repository>__<symbol>.py`` a task, and ``index.jsonl`` with where each comes from."""
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    taken: set[str] = set()
    with (folder / "index.jsonl").open("w") as index:
        for task in tasks:
            base = re.sub(r"[^\w.-]+", "_", f"{task.origin.repository}__{task.symbol or task.entry_point}")
            name = base if base not in taken else f"{base}_{task.id[:8]}"
            taken.add(name)
            (folder / f"{name}.py").write_text(task.source)
            index.write(json.dumps(_entry(f"{name}.py", task)) + "\n")


def _entry(file: str, task: Task) -> dict[str, Any]:
    origin = task.origin
    return {"file": file, "id": task.id, "entry_point": task.entry_point, "symbol": task.symbol,
            "repository": origin.repository, "revision": origin.revision, "path": origin.path,
            "licenses": list(origin.licenses)}  # fmt: skip

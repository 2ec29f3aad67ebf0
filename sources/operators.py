"""PyTorch's own operators as tasks: ``ops:torch``, with options such as ``ops:torch?chains=500&seed=0&limit=200``.

Each task calls one operator, or is one layer, in one rank and with one choice of arguments; what there is comes from
PyTorch's database of operators with samples of their arguments (``torch.testing``, which needs ``expecttest``), and
from tables of the forms that people use.  Chains of two to four operators, and blocks (an operator with what stands
around it in a module), are drawn with the seed, and say so.

Options: ``kinds`` of tasks (by commas, or the option again where a comma divides sources), ``chains`` (how many),
``seed`` and ``limit`` (which tasks it leaves, the seed decides, too).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import PurePosixPath
from typing import Any

from packaging.version import Version

from kdata.record import Definition, Dropped, Input, Origin, SourceFile, Task, digest
from kdata.sandbox import pool
from kdata.sandbox.guard import Limits
from kdata.sandbox.worker import JobError, Worker
from sources.fetch import stack
from sources.fetch.texts import SourceError, dropped
from sources.mine import Meter

NAME, PLACE = "ops", "torch"
OPTIONS = ("kinds", "chains", "seed", "limit")
KINDS = ("elementwise", "reductions", "products", "layers", "samples", "chains", "blocks")
DRAWN = ("chains", "blocks")
CHAINS = 500
ENDING = ".operator.py"  # of a path; the class stands before it
TOLD = '{"operator": true}'  # of a definition that has its inputs, and is yet to be checked
LICENSE = "BSD-3-Clause"
DATABASE, CHECKS = ("torch", "sources.aten.job:warm"), ("torch", "sources.aten.job:warm_to_check")
GENERATE_LIMITS, CHECK_LIMITS = Limits(wall=3600, cpu=1200), Limits(wall=600, cpu=60, memory=4 << 30)
# As in mining: asking the system for fresh pages each time costs a third of the time.
ALLOCATOR = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 30)}
BATCH = 25  # tasks of one sandbox job


def collect(name: str) -> list[SourceFile | Dropped]:
    """The programs of ``torch`` with the options of this module's docstring, in an order that only the seed decides.

    Raises:
        SourceError: no such place or option, or PyTorch's database cannot be read.
    """
    place, pairs = stack.options(name, OPTIONS)
    if place != PLACE:
        raise SourceError(f"{name}: the operators are those of {PLACE}: write {NAME}:{PLACE}")
    given = dict(pairs)
    limit, _ = stack.window(name, given, 1 << 40)
    chains, seed = (_number(name, given, key, default) for key, default in (("chains", CHAINS), ("seed", 0)))
    kinds = [kind for key, value in pairs if key == "kinds" for kind in value.split(",")] or list(KINDS)
    if unknown := sorted(set(kinds) - set(KINDS)):
        raise SourceError(f"{name}: no kind {unknown[0]!r}; there are {', '.join(KINDS)}")
    revision = Version(version("torch")).public
    payload = {"kinds": kinds, "chains": chains, "seed": seed, "version": revision}
    found = _generated(payload)
    files = [SourceFile(_origin(row, revision), row["text"]) for row in found["kept"]]
    files.sort(key=lambda f: digest(str(seed), f.id))
    left = [dropped(_origin(row, revision), row["reason"]) for row in found["left"]]
    return [*files[:limit], *(dropped(f.origin, "limit reached") for f in files[limit:]), *left]


def is_one(file: SourceFile) -> bool:
    """Whether a file is a program of this source."""
    return file.origin.source == NAME and file.origin.path.endswith(ENDING)


def definitions(files: Sequence[SourceFile], seed: int) -> Iterator[Definition]:
    """The programs as definitions that have their inputs."""
    for file in sorted(files, key=lambda f: digest(str(seed), f.id)):
        path = PurePosixPath(file.origin.path)
        yield Definition(file.origin, path.parts[1], path.name.removesuffix(ENDING), file.text, TOLD)


def tasks(found: Sequence[Definition], limit: int | None, operators: int, meter: Meter) -> Iterator[Task | Dropped]:
    """Those of the definitions, at most ``limit``, that hold what a task promises: ``sources.infer.running.check``.

    ``meter`` counts what it costs.
    """
    left, kept = found, 0
    with pool.lease(*CHECKS, **ALLOCATOR) as worker:
        while left and (limit is None or kept < limit):
            batch = left[: BATCH if limit is None else min(BATCH, limit - kept)]
            for definition, outcome in zip(batch, _attempt(worker, batch, operators, meter), strict=True):
                made = _outcome(definition, outcome)
                kept += isinstance(made, Task)
                yield made
            left = left[len(batch) :]
    yield from (_refused(d, "limit reached") for d in left)


def _number(name: str, given: dict[str, str], key: str, default: int) -> int:
    value = given.get(key, str(default))
    if not value.isdecimal():
        raise SourceError(f"{name}: {key} is a whole number")
    return int(value)


def _generated(payload: dict[str, Any]) -> dict[str, list[dict[str, str]]]:
    try:
        with pool.lease(*DATABASE) as worker:
            answer = worker.call("sources.aten.job:generate", payload, GENERATE_LIMITS)
    except (JobError, RuntimeError) as error:
        raise SourceError(f"PyTorch's operator database cannot be read (does it lack expecttest?): {error}") from error
    found: dict[str, list[dict[str, str]]] = answer.value
    return found


def _origin(row: dict[str, str], revision: str) -> Origin:
    """Operators are PyTorch's; chains and blocks of them are nobody's code, and have repositories of their own."""
    repository = f"{PLACE}-{row['kind']}" if row["kind"] in DRAWN else PLACE
    key = digest(row.get("text", ""), row["symbol"], row["name"])[:8]
    symbol = row["symbol"].replace("/", "_")
    path = f"{row['kind']}/{symbol}/{key}/{row['name']}{ENDING}"
    return Origin(NAME, repository, revision, path, (LICENSE,), f"https://github.com/pytorch/pytorch/tree/v{revision}")


def _attempt(worker: Worker, batch: Sequence[Definition], operators: int, meter: Meter) -> list[dict[str, Any]]:
    """Outcomes of a batch; where the job is lost, of its halves, down to who did it."""
    payload = {"tasks": [{"source": d.source, "name": d.name} for d in batch], "operators": operators}
    try:
        outcomes: list[dict[str, Any]] = meter.read(worker.call("sources.aten.job:attempt", payload, CHECK_LIMITS))
    except JobError as error:
        if len(batch) == 1:
            return [{"reason": error.reason if error.reason == "timeout" else "crash", "detail": str(error)}]
        half = len(batch) // 2
        return [o for part in (batch[:half], batch[half:]) for o in _attempt(worker, part, operators, meter)]
    return outcomes


def _outcome(definition: Definition, outcome: dict[str, Any]) -> Task | Dropped:
    if outcome["reason"]:
        return _refused(definition, outcome["reason"], outcome["detail"])
    inputs = tuple(
        Input(i["name"], i["dtype"], tuple(i["shape"]), tuple(i["free"]), i["low"], i["high"])
        for i in outcome["inputs"]
    )
    return Task.make(definition.source, definition.name, definition.origin, symbol=definition.symbol, inputs=inputs)


def _refused(definition: Definition, reason: str, detail: str = "") -> Dropped:
    name = f"{definition.origin.repository}:{definition.origin.path}"
    key = digest("definition", definition.origin.revision, name)
    return Dropped("mine", key, reason, detail[:500], name, definition.source)

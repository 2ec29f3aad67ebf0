"""The stages that cut definitions out of source files and make tasks of them. All parsing and running is sandboxed."""

from __future__ import annotations

import json
import posixpath
import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from kdata.record import Definition, Dropped, Input, Origin, SourceFile, Task, digest
from kdata.sandbox import pool
from kdata.sandbox.guard import Limits
from kdata.sandbox.worker import Answer, JobError, Worker
from kdata.step import Step
from sources.cut import cutpoints
from sources.fetch import foreign
from sources.lessons import DUPLICATE, Lessons

CUT, MINE = "cut", "mine"
NOT_CAPTURED = "package not captured"
NOT_FETCHED = "absent packages not fetched"
MAX_ASKING = 2  # rounds in which a package is asked what it lacks: what is fetched may lack something, too
# Like alignment's: another line here, or another torch, gives other shards.
VERSION = digest(*(p.read_text() for p in sorted(Path(__file__).parent.rglob("*.py"))), version("torch"))
CUTS_PER_TASK = 3  # definitions cut for every task that is wanted: most of them become one
MAX_ROUNDS = 3  # in which solved tasks teach: who was taught may teach its own parts
OPERATORS = 16  # that compute, of one task: programs of more are seldom short enough to be kept
LARGE = 2000  # the same where whole networks are wanted, too
BATCH = 12  # definitions of one sandbox job
CUT_LIMITS = Limits(wall=4 * 3600, cpu=1200, answer=1 << 29)  # a package of ten thousand definitions, run whole
ATTEMPT_LIMITS = Limits(wall=1200, cpu=300, memory=4 << 30)
# Large tensors stay in the process's heap: asking the system for fresh pages each time costs a third of the time.  And
# small chunks that are free are joined to what is beside them: glibc cuts one off before each tensor, to align it, and
# where that is kept for itself, as it is usually, no other tensor of that size fits into what the first one left.
# New pages are large ones where the system has them for who asks: a search touches some hundred MB in a fork that soon
# ends, and a page fault for each 4 KiB of these was a good part of what it took (glibc 2.35; before, it is unread).
ALLOCATOR = {
    "MALLOC_MMAP_THRESHOLD_": str(1 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 30),
    "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0:glibc.malloc.mxfast=0:glibc.malloc.hugetlb=1",
}
PRELOAD = ("torch", "sources.probe:warm")


@dataclass(slots=True)
class Meter:
    """CPU seconds that jobs took in the sandbox, and bytes of the largest process; threads may share one."""

    seconds: float = 0.0
    memory: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def read(self, answer: Answer) -> Any:
        """The value of a job's answer, whose cost is added."""
        with self._lock:
            self.seconds += answer.cpu
            self.memory = max(self.memory, answer.memory)
        return answer.value


def cut_step(
    limit: int | None = None, seed: int = 0, meter: Meter | None = None, inline: bool = False
) -> Step[SourceFile, Definition]:
    """The stage ``cut`` over all files of one repository: its definitions, each with what it needs in one text.

    They come in an order that depends on ``seed`` only, and end when there are enough for ``limit`` tasks.  ``meter``
    counts what it costs.  With ``inline``, packages that definitions need and that are absent are fetched from the
    package index as source, and what is needed of them becomes part of the text.

    Raises:
        ValueError: ``limit`` is negative.
    """
    _check(limit)
    enough = 1 << 30 if limit is None else CUTS_PER_TASK * limit
    parameters = {"enough": enough, "seed": seed, "inline": inline}
    counted, index = meter or Meter(), foreign.Index() if inline else None
    return Step(
        CUT, VERSION, SourceFile, Definition, lambda files: _cut(files, enough, seed, counted, index), parameters
    )


def step(
    limit: int | None = None, part: int = 0, parts: int = 1, operators: int = OPERATORS, meter: Meter | None = None
) -> Step[Definition, Task]:
    """The stage ``mine`` over the definitions of one repository: those that run alone, with inputs found by trying.

    This is number ``part`` of ``parts``, see ``share``, and stops at ``limit`` tasks.  Every definition of the part
    becomes a task or a ``Dropped``.  A task has at most so many ``operators`` that compute.
    ``meter`` counts what it costs.

    Raises:
        ValueError: ``part`` is not below ``parts``, or ``limit`` is negative.
    """
    if not 0 <= part < parts:
        raise ValueError(f"part {part} of {parts}: parts are numbered from 0")
    _check(limit)
    parameters: dict[str, Any] = {"limit": limit, "part": part, "parts": parts, "operators": operators}
    counted = meter or Meter()
    return Step(
        MINE,
        VERSION,
        Definition,
        Task,
        lambda found: _mine(share(found, part, parts), limit, operators, counted),
        parameters,
    )


def share(definitions: Sequence[Definition], part: int, parts: int) -> list[Definition]:
    """One of some parts, of like sizes and in the old order; definitions of one file, or folder, are kept together.

    Who is made of whom stands near by, see ``sources.lessons``.
    """
    folders, files = dict[tuple[str, ...], int](), dict[tuple[str, ...], int]()

    def place(number: int) -> tuple[int, int]:
        origin = definitions[number].origin
        folder = (origin.repository, origin.revision, posixpath.dirname(origin.path))
        return folders.setdefault(folder, number), files.setdefault((*folder, origin.path), number)

    grouped = sorted(range(len(definitions)), key=place)
    first, after = (len(grouped) * n // parts for n in (part, part + 1))
    return [definitions[n] for n in sorted(grouped[first:after])]


def _check(limit: int | None) -> None:
    if limit is not None and limit < 0:
        raise ValueError(f"limit {limit} is negative")


def _cut(
    files: Sequence[SourceFile], enough: int, seed: int, meter: Meter, index: foreign.Index | None
) -> Iterator[Definition | Dropped]:
    if not files:
        return
    origins = {file.origin.path: file.origin for file in files}
    payload = {"files": {file.origin.path: file.text for file in files}, "replacements": replacements(),
               "cut_points": cutpoints.texts(), "part": 0, "parts": 1, "seed": seed, "enough": enough}  # fmt: skip
    fetched = foreign.Fetched(index) if index else None
    try:
        with pool.lease(*PRELOAD, **ALLOCATOR) as worker:
            package = cut_package(worker, payload, fetched, meter)
    except JobError as error:
        yield _dropped(CUT, files[0].origin, "", "package not readable", str(error))
        return
    if package["failure"]:  # its definitions are cut all the same, with less told of them
        yield _dropped(CUT, replace(files[0].origin, path=""), "", NOT_CAPTURED, package["failure"])
    yield from (_dropped(CUT, origins[p], "", "does not parse", d) for p, d in sorted(package["broken"].items()))
    yield from (_dropped(CUT, origins[r["path"]], r["symbol"], r["reason"], r["detail"]) for r in package["refused"])
    if index and index.trouble:
        yield _dropped(CUT, replace(files[0].origin, path=""), "", NOT_FETCHED, index.trouble)
    for c in package["cuts"]:
        origin = origins[c["path"]]
        yield Definition(fetched.origin(origin, c["inlined"]) if fetched else origin, c["symbol"], c["name"],
                         c["source"], json.dumps(c["told"], sort_keys=True), tuple(c["lacks"]))  # fmt: skip


def cut_package(
    worker: Worker, payload: dict[str, Any], fetched: foreign.Fetched | None, meter: Meter
) -> dict[str, Any]:
    """The answer of ``sources.cut.cutting:cut_package``; what it asks for is ``fetched`` before it is asked again."""
    if fetched is None:
        return dict(meter.read(worker.call("sources.cut.cutting:cut_package", payload, CUT_LIMITS)))
    for left in reversed(range(MAX_ASKING + 1)):
        told, files = fetched.job()
        if not left:  # what it lacks now stays absent
            del told["asked"]
        package = dict(meter.read(worker.call("sources.cut.cutting:cut_package", payload | told, CUT_LIMITS, files)))
        if not package["asks"]:
            break
        fetched.add(package["asks"])
    fetched.look_up(f for c in package["cuts"] for f in c["inlined"])
    return package


def _mine(
    definitions: Sequence[Definition], limit: int | None, operators: int, meter: Meter
) -> Iterator[Task | Dropped]:
    left = set(range(len(definitions)))
    with pool.lease(*PRELOAD, **ALLOCATOR) as worker:
        for number, outcome in tried(worker, definitions, limit, operators, meter):
            left.discard(number)
            yield _outcome(definitions[number], outcome)
    yield from (_dropped(MINE, definitions[n].origin, definitions[n].symbol, "limit reached") for n in sorted(left))


def tried(
    worker: Worker, definitions: Sequence[Definition], limit: int | None, operators: int, meter: Meter
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The number and outcome of each definition, up to ``limit`` tasks; outcomes are as of ``sources.probe:attempt``.

    What other arguments or inputs may mend comes last: a solved task that is made of it may show them.
    """
    done, lessons = 0, Lessons()
    while done < len(definitions) and (limit is None or len(lessons.tasks) < limit):
        batch = definitions[done : done + BATCH]
        enough = len(batch) if limit is None else limit - len(lessons.tasks)
        for outcome in _attempt(worker, [_payload(d) for d in batch], operators, enough, meter):
            if settled := lessons.settled(done, definitions[done], outcome):
                yield done, settled
            done += 1
    _teach(worker, lessons, limit, operators, meter)
    yield from ((pupil.number, pupil.outcome) for pupil in lessons.pupils)


def _teach(worker: Worker, lessons: Lessons, limit: int | None, operators: int, meter: Meter) -> None:
    """Try those again that were kept back and that something else can teach, round by round."""
    for _ in range(MAX_ROUNDS):
        ready = lessons.ready()
        while ready and (limit is None or len(lessons.tasks) < limit):
            batch, ready = ready[:BATCH], ready[BATCH:]
            cuts = [_payload(pupil.definition) | {"teachers": teachers} for pupil, teachers in batch]
            enough = len(batch) if limit is None else limit - len(lessons.tasks)
            outcomes = _attempt(worker, cuts, operators, enough, meter, "sources.taught:attempt")
            for (pupil, _), outcome in zip(batch, outcomes, strict=False):
                lessons.learnt(pupil, outcome)


def _outcome(definition: Definition, outcome: dict[str, Any]) -> Task | Dropped:
    if not outcome["reason"]:
        return _task(definition, outcome)
    text = definition.source if outcome["reason"] != DUPLICATE else ""
    return _dropped(MINE, definition.origin, definition.symbol, outcome["reason"], outcome["detail"], text)


def _payload(definition: Definition) -> dict[str, Any]:
    header = _header(definition.origin, definition.symbol)
    source, name, lacks = definition.source, definition.name, list(definition.lacks)
    told = json.loads(definition.told) if definition.told else {"sites": [], "defaults": {}}
    return {"source": source, "name": name, "lacks": lacks, "told": told, "header": [header]}


def _attempt(
    worker: Worker, cuts: Sequence[dict[str, Any]], operators: int, enough: int, meter: Meter,
    job: str = "sources.probe:attempt",
) -> list[dict[str, Any]]:  # fmt: skip
    """Outcomes of a batch, up to ``enough`` tasks; where the job is lost, of its halves, down to who did it."""
    try:
        payload = {"cuts": cuts, "operators": operators, "enough": enough}
        outcomes: list[dict[str, Any]] = meter.read(worker.call(job, payload, ATTEMPT_LIMITS))
        return outcomes
    except JobError as error:
        if len(cuts) == 1:
            return [{"reason": error.reason if error.reason in ("timeout", "crash") else "crash", "detail": str(error)}]
    half = len(cuts) // 2
    first = _attempt(worker, cuts[:half], operators, enough, meter, job)
    enough -= sum(not outcome["reason"] for outcome in first)
    return [*first, *(_attempt(worker, cuts[half:], operators, enough, meter, job) if enough else [])]


def _task(definition: Definition, outcome: dict[str, Any]) -> Task:
    inputs = tuple(
        Input(i.get("name", "x"), i["dtype"], tuple(i["shape"]), tuple(i.get("free", [False] * len(i["shape"]))),
              i["low"], i["high"], i.get("reads", "values"))
        for i in outcome["inputs"]
    )  # fmt: skip
    return Task.make(outcome["source"], outcome["name"], definition.origin, symbol=definition.symbol, inputs=inputs)


def _header(origin: Origin, symbol: str) -> str:
    licence = f" ({', '.join(origin.licenses)})" if origin.licenses else ""
    taken = [f"{i.package} ({', '.join(i.licenses)})" for i in origin.inlined]
    parts = f", with parts of {', '.join(taken)}" if taken else ""
    return f"{symbol} from {origin.path} of {origin.repository}{licence}{parts}"


def _dropped(stage: str, origin: Origin, symbol: str, reason: str, detail: str = "", text: str = "") -> Dropped:
    name = f"{origin.repository}:{origin.path}" + (f":{symbol}" if symbol else "")
    return Dropped(stage, digest("definition", origin.revision, name), reason, detail[:500], name, text)


def replacements() -> dict[str, str]:
    """Our stand-ins for third-party modules: dotted module name -> text."""
    folder = Path(__file__).parent / "replacements"
    found = (f for f in sorted(folder.rglob("*.py")) if f.name != "__init__.py")
    return {".".join(f.relative_to(folder).with_suffix("").parts): f.read_text() for f in found}


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
            "licenses": list(origin.licenses), "inlined": [asdict(i) for i in origin.inlined]}  # fmt: skip

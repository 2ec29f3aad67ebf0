"""A library's pairs as candidates to be judged, and its other kernels as rows of their own."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kdata.align.errors import AlignError
from kdata.align.families import family
from kdata.align.step import ENVIRONMENT, PRELOAD, formatted
from kdata.progress import Lines, Progress
from kdata.record import Candidate, Dropped, Origin, SourceFile, Task, digest
from kdata.sandbox import pool
from kdata.sandbox.guard import Limits
from kdata.sandbox.worker import JobError, Worker
from kdata.shards import Manifest, Store
from sources import mine
from sources.fetch import git, pypi
from sources.fetch.texts import SourceError
from sources.libraries import LIBRARIES, Library
from sources.pairs import recipe

STAGE, KERNELS = "pairs", "kernels"
VERSION = digest(
    *(p.read_text() for p in sorted(Path(__file__).parent.rglob("*")) if p.suffix in (".py", ".toml")),
    *(
        (Path(__file__).parents[1] / f"{name}.py").read_text()
        for name in ("text/bindings", "text/symbols", "cut/pieces", "cut/slicer", "cut/writer")
    ),
)
MADE_BY = "library"
SOURCES = ("src/", "python/")  # repositories' folders that their packages' archives lack
TRACE_LIMITS = Limits(wall=60, cpu=30)
LIMITS = Limits(wall=1200, cpu=600, memory=4 << 30)


@dataclass(frozen=True, slots=True)
class LibraryKernel:
    """A launcher with its kernels in one text, for which no reference is known."""

    id: str
    origin: Origin
    library: str  # a key of sources.libraries.LIBRARIES
    symbol: str
    source: str


Found = Candidate | LibraryKernel | Dropped


def collect(name: str) -> list[Found]:
    """What a library gives: candidates, kernels without a reference, and what became neither.

    Args:
        name: ``liger-kernel``, or a copy of it: ``liger-kernel=DIR``, ``=git:URL@COMMIT``, ``=pypi:NAME``.

    Raises:
        SourceError: no such library, or it cannot be fetched.
    """
    key, _, place = name.partition("=")
    if key not in LIBRARIES:
        raise SourceError(f"no library {key!r}; there are {', '.join(LIBRARIES)}")
    library = LIBRARIES[key]
    files = [f for f in _fetch(library, place) if isinstance(f, SourceFile)]
    if not files:
        raise SourceError(f"{name} holds no readable file")
    return list(_found(key, library, files))


def make(store: Store, name: str) -> list[Manifest]:
    """Write the shards of one library, pairs and kernels, and return their manifests.

    Raises:
        SourceError: see ``collect``.
    """
    started = time.monotonic()
    found = collect(name)
    left = [f for f in found if isinstance(f, Dropped)]
    made = []
    for stage, kind, dropped in ((STAGE, Candidate, left), (KERNELS, LibraryKernel, [])):
        rows = [f for f in found if isinstance(f, kind)]
        shard = f"{stage}/{digest(stage, VERSION, name, *(r.id for r in rows))}"
        finished = store.manifest(shard)
        made.append(finished or store.make(shard, stage, kind, rows, dropped, {"source": name}, started))
    return made


def _fetch(library: Library, place: str) -> list[SourceFile | Dropped]:
    kind, colon, rest = place.partition(":")
    if colon and kind == "pypi":
        return pypi.collect_any(rest)
    return git.collect((rest if kind == "git" else place) or library.url)


def _found(key: str, library: Library, files: list[SourceFile]) -> Iterator[Found]:
    root = files[0].origin
    lacking = (s for s in SOURCES if not any(f.origin.path.startswith(s) for f in files))
    above = next((s for s in lacking if any(k.startswith(s) for k in library.kernels)), "")
    origins = {f"{above}{f.origin.path}": f.origin for f in files}
    payload = {"files": {f"{above}{f.origin.path}": f.text for f in files}, "library": key,
               "folders": list(library.kernels), "recipes": [asdict(r) for r in recipe.read(key)],
               "replacements": mine.replacements()}  # fmt: skip
    watcher, progress = Lines(parallel=1), Progress([STAGE])
    watcher.log(f"{key}: {len(files)} files read, {len(payload['recipes'])} recipes; cutting")
    with pool.lease("torch") as worker:
        try:
            cut: dict[str, Any] = worker.call("sources.pairs.job:cut", payload, LIMITS).value
        except JobError as error:
            raise SourceError(f"{key} could not be cut: {error}") from error

    def origin(path: str) -> Origin:
        found = origins.get(path) or Origin(root.source, root.repository, root.revision, path, (), root.url)
        licenses = found.licenses or (library.license,)
        return Origin(found.source, found.repository, found.revision, found.path, licenses, found.url, found.stars)

    for refused in cut["refused"]:
        yield _dropped(origin(refused["path"]), refused["name"], refused["reason"], refused["detail"])
    watcher.log(f"{key}: {len(cut['pairs'])} pairs cut, {len(cut['kernels'])} kernels more; tracing the pairs")
    progress.expect(STAGE, len(cut["pairs"]))
    with pool.lease(PRELOAD, **ENVIRONMENT) as worker:
        for pair in cut["pairs"]:
            yield (found := _candidate(pair, origin(pair["path"]), worker))
            kept = isinstance(found, Candidate)
            progress.finish(STAGE, kept, not kept, 0.0)  # the first waits for the sandbox: no guess of what is left
            watcher.update(progress)
    for row in cut["kernels"]:
        where = origin(row["path"])
        yield LibraryKernel(digest("kernel", row["source"]), where, key, row["symbol"], row["source"])


def _candidate(pair: dict[str, str], origin: Origin, worker: Worker) -> Candidate | Dropped:
    try:
        text, source = formatted(pair["task"]), formatted(pair["candidate"])
    except AlignError as error:
        return _dropped(origin, pair["name"], "not sliceable", str(error))
    task = Task.make(text, "Model", origin, symbol=pair["name"])
    try:
        traced = worker.call("kdata.align.job:trace_operators", {"source": text, "entry_point": "Model"}, TRACE_LIMITS)
        ops = tuple(traced.value)
    except JobError:  # the judge says what is wrong with the task
        ops = ()
    return Candidate.make(task, source, "triton", MADE_BY, ops=ops, family=family(ops))


def _dropped(origin: Origin, name: str, reason: str, detail: str) -> Dropped:
    where = f"{origin.repository}:{name}"
    return Dropped(STAGE, digest("pair", origin.revision, where), reason, detail[:500], where)

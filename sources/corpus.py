"""Raw kernels as text, for continued pretraining: CUDA, HIP, C++, Triton and other languages for tiles.

Every file keeps its licence and where it is from; what has no known licence is left out.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePosixPath

from kdata.record import Dropped, Origin, SourceFile, digest
from kdata.shards import Manifest, Store
from sources.fetch import git, hub, stack, stack_v2, stack_v3
from sources.fetch.texts import SourceError, dropped
from sources.libraries import LIBRARIES, Library

STAGE, VERSION = "corpus", "1"
HPC, HPC_DATASET = "hpc-instruct", "hpcgroup/hpc-instruct"
MAX_REVISIONS = 100  # that a manifest names; all are in the rows
CUDA, CPP, HIP, PTX = "CUDA", "C++", "HIP", "PTX"
SUFFIXES = {".cu": CUDA, ".cuh": CUDA, ".hip": HIP, ".ptx": PTX} | dict.fromkeys(
    (".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".inc", ".inl"), CPP
)
# What a Python file imports or decorates with tells its language; the first that fits counts.
_DIALECTS = [
    ("TileLang", re.compile(r"^\s*(import|from) tilelang\b", re.MULTILINE)),
    ("CuTe DSL", re.compile(r"^\s*(import|from) cutlass\.cute\b|^\s*from cutlass import cute\b", re.MULTILINE)),
    ("cuTile", re.compile(r"^\s*(import|from) cuda\.tile\b|^\s*from cuda import tile\b", re.MULTILINE)),
    ("Helion", re.compile(r"^\s*@helion\.(experimental\.\w+|kernel)", re.MULTILINE)),
    ("Gluon", re.compile(r"^\s*@(gluon|triton\.experimental\.gluon)\.jit", re.MULTILINE)),
    (
        "Triton",
        re.compile(r"^\s*@(triton\.(jit|autotune|heuristics)|jit|libentry\(\)|triton_heuristics)", re.MULTILINE),
    ),
]
_DEVICE = re.compile(r"\b(__global__|__device__|__launch_bounds__)\b")
_NOT_OURS = {"3rdparty", "3rd_party", "third_party", "third-party", "thirdparty", "external", "vendor", "_vendor"}


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """One file of kernels."""

    origin: Origin
    library: str  # a key of sources.libraries.LIBRARIES, or the kind of another source
    language: str
    text: str

    @property
    def id(self) -> str:
        return digest(self.origin.repository, self.origin.revision, self.origin.path, self.text)


def collect(name: str) -> list[CorpusFile | Dropped]:
    """The kernels of a source, each text once.

    Args:
        name: a library (``cutlass``), a copy of one (``cutlass=DIR-or-URL@COMMIT``), a part of The Stack
            (``stack-v2:Cuda?limit=1000``), or ``hpc-instruct?limit=1000``.

    Raises:
        SourceError: no such library, or it cannot be fetched.
    """
    kind, colon, rest = name.partition(":")
    if colon and kind in ("stack-v2", "stack-v3"):
        part = rest if "mentions=" in rest else f"{rest}{'&' if '?' in rest else '?'}mentions="
        found = (stack_v2 if kind == "stack-v2" else stack_v3).collect(part)
        return list(_rows(found, kind, ()))
    if name.partition("?")[0] == HPC:
        return list(_hpc_instruct(name))
    key, _, place = name.partition("=")
    if key not in LIBRARIES:
        raise SourceError(f"no library {key!r}; there are {', '.join(LIBRARIES)}, stack-v2:Cuda and {HPC}")
    library = LIBRARIES[key]
    if place.startswith("pypi:"):
        raise SourceError(f"{name}: packages lack kernels; a corpus is read from {key}'s repository, or =DIR-or-URL")
    found = git.collect(place.removeprefix("git:") or library.url, lambda path: chosen(library, path))
    return list(_rows(found, key, (library.license,)))


def make(store: Store, name: str) -> Manifest:
    """Write the shard of one source, unless it is there, and return its manifest.

    Raises:
        SourceError: see ``collect``.
    """
    started = time.monotonic()
    found = collect(name)
    rows = [f for f in found if isinstance(f, CorpusFile)]
    left = [f for f in found if isinstance(f, Dropped)]
    shard = f"{STAGE}/{digest(STAGE, VERSION, name, *(r.id for r in rows))}"
    if finished := store.manifest(shard):
        return finished
    parameters = {
        "source": name,
        "revisions": sorted({f"{r.origin.repository} {r.origin.revision}" for r in rows})[:MAX_REVISIONS],
        "languages": dict(sorted(Counter(r.language for r in rows).items())),
        "licenses": dict(sorted(Counter(x for r in rows for x in r.origin.licenses).items())),
    }
    return store.make(shard, STAGE, CorpusFile, rows, left, parameters, started)


def _hpc_instruct(name: str) -> Iterator[CorpusFile | Dropped]:
    """Problems in words with solutions in C++, CUDA and others (https://huggingface.co/datasets/hpcgroup/hpc-instruct).

    Written by language models: its licence is MIT; nothing is known of an overlap with benchmarks.
    """
    _, pairs = stack.options(name, ("dataset", "revision", "limit", "skip"))
    given = dict(pairs)
    limit, skip = stack.window(name, given, 1 << 40)
    dataset = given.get("dataset", HPC_DATASET)
    revision = hub.resolve(dataset, given.get("revision", "main"))
    url, seen = f"https://huggingface.co/datasets/{HPC_DATASET}", set[str]()
    rows = hub.stream(dataset, revision, "**/*.parquet", ("problem statement", "solution", "language"))
    for number, row in islice(enumerate(rows), skip, skip + limit):
        where = Origin(HPC, HPC_DATASET, hub.identity(dataset, revision), str(number), ("MIT",), url)
        problem, solution = str(row["problem statement"] or ""), str(row["solution"] or "")
        if not solution or solution in seen:
            yield dropped(where, "same text as another file" if solution else "no solution")
            continue
        seen.add(solution)
        yield CorpusFile(where, HPC, str(row["language"] or ""), f"{problem.strip()}\n\n{solution.strip()}\n")


def chosen(library: Library, path: str) -> bool:
    """Whether a path of a library's repository may hold kernels of its own that may be passed on."""
    suffix, parts = PurePosixPath(path).suffix, PurePosixPath(path).parts
    if suffix not in SUFFIXES and suffix != ".py" or _NOT_OURS & set(parts):
        return False
    return _under(path, library.kernels) and not _under(path, library.excluded)


def language(path: str, text: str) -> str:
    """What a file is written in; "" if no kernels are in it."""
    suffix = PurePosixPath(path).suffix
    if suffix == ".py":
        return next((name for name, pattern in _DIALECTS if pattern.search(text)), "")
    if SUFFIXES.get(suffix) == CPP and _DEVICE.search(text):
        return CUDA
    return SUFFIXES.get(suffix, "")


def _under(path: str, folders: tuple[str, ...]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def _rows(found: list[SourceFile | Dropped], library: str, licenses: tuple[str, ...]) -> Iterator[CorpusFile | Dropped]:
    seen: set[str] = set()
    for record in found:
        if isinstance(record, Dropped):
            yield record
            continue
        origin, text = record.origin, record.text
        known = origin.licenses or licenses
        written = language(origin.path, text)
        reason = "" if written else "no kernels"
        if not known or any(name.startswith("LicenseRef-") for name in known):  # the latter are terms of somebody's own
            reason = reason or "license unknown"
        if reason or (key := digest(text)) in seen:
            yield dropped(origin, reason or "same text as another file")
            continue
        seen.add(key)
        where = Origin(origin.source, origin.repository, origin.revision, origin.path, known, origin.url, origin.stars)
        yield CorpusFile(where, library, written, text)

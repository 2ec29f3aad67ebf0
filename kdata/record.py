"""The records that flow through kdata: frozen dataclasses, and the arrow schemas derived from them.

Nothing else defines a column: a field added here appears in every shard, in the published set and in its card.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import tokenize
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeVar

import pyarrow as pa

LONGEST = 1 << 20  # characters of a text that is compared by its tokens
Verdict = Literal["verified", "rejected", "unverified"]
Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class Inlined:
    """A package beside the origin itself that definitions of a text were taken from."""

    package: str  # name==version
    revision: str  # version and hash of the archive
    licenses: tuple[str, ...]  # SPDX identifiers of the files that they stood in
    url: str = ""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a text comes from, precisely enough to fetch the same bytes again and to honour their licence."""

    source: str  # "local", "pypi", "git", ...
    repository: str  # package or repository name: the unit of splits and of licences
    revision: str  # version and archive hash, or commit
    path: str  # inside the repository
    licenses: tuple[str, ...] = ()  # SPDX identifiers: all of them hold, those of what is inlined among them
    url: str = ""
    stars: int | None = None
    inlined: tuple[Inlined, ...] = ()  # packages that definitions were taken from


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of text with its origin."""

    origin: Origin
    text: str

    @property
    def id(self) -> str:
        return digest(self.origin.repository, self.origin.revision, self.origin.path, self.text)


@dataclass(frozen=True, slots=True)
class Definition:
    """A class or function of a package in one text with all that it needs of the package: a task but for its inputs."""

    origin: Origin
    symbol: str
    name: str  # the nn.Module class in the text
    source: str
    told: str = ""  # JSON: what the package tells about its arguments, see sources.hints.hints
    lacks: tuple[str, ...] = ()  # names that stand for None, because their package is absent


@dataclass(frozen=True, slots=True)
class Input:
    """What a task promises about one positional input of ``forward``."""

    name: str
    dtype: str  # "float32", "int64", ...; "" for a value that is no tensor
    shape: tuple[int, ...]
    free: tuple[bool, ...]  # which dimensions may vary, found by trying
    low: float | None = None  # observed value range of the drawn inputs
    high: float | None = None
    reads: str = "values"  # "shape": of what is drawn for it, nothing else has a part in the answer


@dataclass(frozen=True, slots=True)
class Task:
    """A self-contained PyTorch program in the KernelBench interface, and its input spec."""

    id: str
    source: str
    entry_point: str  # the nn.Module class
    origin: Origin
    symbol: str = ""  # qualified name of what was cut out of the origin
    inputs: tuple[Input, ...] = ()

    @staticmethod
    def make(source: str, entry_point: str, origin: Origin, **more: Any) -> Task:
        return Task(digest("task", normalise(source), entry_point), source, entry_point, origin, **more)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One kernel program offered for a task: a class ``ModelNew`` with the reference's constructor and ``forward``."""

    id: str
    task: Task
    source: str
    language: str  # "triton", "cuda"
    made_by: str  # "inductor", "library", "teacher:<model>"
    ops: tuple[str, ...] = ()  # the reference's ATen operators in order, views dropped
    family: str = ""  # operator family, see kdata.align.families
    left_to_aten: tuple[str, ...] = ()  # compute that the candidate leaves to ATen; () for a pure one
    original: str = ""  # what the maker wrote before it was made readable
    reasoning: str = ""
    transcript: str = ""

    @staticmethod
    def make(task: Task, source: str, language: str, made_by: str, **more: Any) -> Candidate:
        return Candidate(digest("candidate", task.id, normalise(source)), task, source, language, made_by, **more)


@dataclass(frozen=True, slots=True)
class Check:
    """One thing the judge looked at."""

    name: str
    passed: bool
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Trial:
    """One run of candidate against reference: a shape variant, a seed and a dtype.

    Errors are against the fp64 reference; ``max_abs <= atol + rtol * |golden|`` held elementwise if ``passed``.
    """

    sizes: str  # the task's constants in this variant, "" for its own
    shapes: str  # "float32[4, 7], int64[3]"
    seed: int
    dtype: str
    max_abs: float
    max_rel: float
    rmse: float
    rmse_reference: float  # the eager reference's own error in this dtype
    atol: float
    rtol: float
    passed: bool
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Build:
    """One kernel compiled for one GPU that need not be here."""

    kernel: str
    target: str  # "sm_90", "gfx942"
    registers: int | None
    spills: int | None
    shared: int | None  # bytes
    error: str = ""


@dataclass(frozen=True, slots=True)
class Series:
    """The samples of one program, in microseconds, block after block, each call on inputs that no call had seen."""

    name: str  # "candidate", a baseline: "eager", "compile", "max-autotune", or "launch": of one small kernel
    gpu: tuple[float, ...]  # between two events on the device, begun while it was kept busy
    wall: tuple[float, ...]  # from an idle device to an idle device, as the process's own clock has it
    outer: tuple[float, ...]  # the same as the judge's clock has it, with the way there and back
    device: tuple[float, ...] = ()  # what the device did, as its profiler has it, with a gap behind each kernel


@dataclass(frozen=True, slots=True)
class Timing:
    """How fast a candidate is on one GPU, with every sample it rests on."""

    protocol: str  # its version: what a sample is, and how medians become a claim
    device: str
    driver: str
    precision: str  # "ieee" or "tf32": the track of both sides
    label: str  # "": sound; "launch-bound", "host-bound", "contended", "extraordinary"; "unstable": no speedup
    baseline: str  # the fastest one, which the speedup is over
    speedup: float  # by what the device does; "host-bound": by events or the wall's clock; 0 where it is not firm
    low: float  # 95 % bootstrap interval
    high: float
    speedup_eager: float
    speedup_wall: float  # over the same baseline, as the wall clock has it
    gpu: float  # microseconds that the device takes for the candidate: the middle of its samples
    floor: float  # the least microseconds that the device can take for the task
    share: float  # of the device's time that the candidate's own kernels have
    kernels: tuple[str, ...]  # everything the device ran in the profiled calls
    blocks: int  # into which each series divides evenly
    verified: int  # timed calls whose output was compared
    condition: tuple[str, ...] = ()  # clocks, temperature, power, throttle reasons before and after
    series: tuple[Series, ...] = ()
    note: str = ""  # why a baseline is missing, how often all was measured


@dataclass(frozen=True, slots=True)
class Receipt:
    """What executing a candidate showed. But for ``timing`` nothing in it depends on the clock."""

    candidate_id: str
    verdict: Verdict
    reason: str  # "" when verified, else one of kdata.verify.reasons
    detail: str = ""
    checks: tuple[Check, ...] = ()
    trials: tuple[Trial, ...] = ()
    launches: tuple[str, ...] = ()  # kernels seen launching, in order, for the task's first variant
    builds: tuple[Build, ...] = ()
    mode: str = "train"  # how the modules ran: as constructed ("train") or, where that is random, "eval"
    level: str = "interpreted"
    device: str = ""
    isolation: str = ""
    tolerances: str = ""  # version of the table
    harness: str = ""  # hash of the judge's own source
    versions: tuple[str, ...] = ()
    effort: str = "screen"  # how much was tried: "screen" or "trust", see kdata.verify.options
    timing: Timing | None = None  # on a GPU only
    precision: str = "ieee"  # or "tf32": of products of fp32, the track of both sides
    form: int = 4  # version of this record; 2 added effort and timing, 3 precision, 4 samples of the profiler's


@dataclass(frozen=True, slots=True)
class Pair:
    """Task, candidate and receipt: a row of the published set once it is verified and filtered."""

    candidate: Candidate
    receipt: Receipt

    @property
    def id(self) -> str:
        return self.candidate.id

    @property
    def task(self) -> Task:
        return self.candidate.task


@dataclass(frozen=True, slots=True)
class Dropped:
    """A record that a stage did not keep, and why. Kept beside the kept."""

    stage: str
    id: str
    reason: str  # a short fixed phrase that the funnel groups by
    detail: str = ""
    name: str = ""  # repository and symbol, for people
    text: str = ""  # what was dropped, where it is worth keeping
    pair: Pair | None = None  # a judged candidate with its receipt


def digest(*parts: str) -> str:
    """Hex digest of the parts: 16 bytes of SHA-256, enough for 10^18 records."""
    return hashlib.sha256("\x00".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def normalise(source: str) -> str:
    """Python text without comments, blank lines and layout, so that reformatting keeps an id.

    Text that does not tokenise, or is too long to be anybody's program, is returned stripped.
    """
    if len(source) > LONGEST:
        return source.strip()
    skip = {tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER}
    layout = {tokenize.NEWLINE: "\n", tokenize.INDENT: "\t", tokenize.DEDENT: "\b"}
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError):
        return source.strip()
    return " ".join(layout.get(t.type, t.string) for t in tokens if t.type not in skip)


@cache
def schema(kind: type) -> pa.Schema:
    """Arrow schema of a record class."""
    hints = typing.get_type_hints(kind)
    return pa.schema([pa.field(f.name, _arrow(hints[f.name])) for f in dataclasses.fields(kind)])


def table(records: Iterable[Any], kind: type) -> pa.Table:
    """Records of one kind as an arrow table."""
    return pa.Table.from_pylist([dataclasses.asdict(r) for r in records], schema=schema(kind))


def records(rows: Iterable[Mapping[str, Any]], kind: type[Record]) -> list[Record]:
    """Rows of an arrow table, or dictionaries of the same shape, as records. Missing columns take their default."""
    return [_build(kind, row) for row in rows]


def _arrow(hint: Any) -> pa.DataType:
    plain: dict[Any, pa.DataType] = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    if hint in plain:
        return plain[hint]
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return pa.struct(list(schema(hint)))
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is tuple:
        return pa.list_(_arrow(arguments[0]))
    if origin is Literal:
        return pa.string()
    if origin in (types.UnionType, typing.Union):
        return _arrow(next(a for a in arguments if a is not type(None)))
    raise TypeError(f"no arrow type for {hint}")


def _build(hint: Any, value: Any) -> Any:
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        hints = typing.get_type_hints(hint)
        return hint(
            **{f.name: _build(hints[f.name], value[f.name]) for f in dataclasses.fields(hint) if f.name in value}
        )
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is tuple:
        return tuple(_build(arguments[0], v) for v in value)
    if origin in (types.UnionType, typing.Union):
        return None if value is None else _build(next(a for a in arguments if a is not type(None)), value)
    return value

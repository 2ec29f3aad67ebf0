"""Candidates in CUDA C++: what they need of a machine, and the libraries that are compiled of them. The trusted side.

A candidate's text is imported once, in a child without a GPU, to learn what C++ it has compiled
(``kdata.verify.cuda.gather``); compilers run in children of their own (``kdata.verify.cuda.build``); what they made
goes to the processes that run the candidate, which compile nothing.
"""

from __future__ import annotations

import functools
import json
import os
import re
import secrets
import shutil
import subprocess
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from kdata.record import Build, Candidate
from kdata.sandbox.guard import Limits
from kdata.sandbox.pool import lease
from kdata.sandbox.worker import JobError
from kdata.verify import reasons
from kdata.verify.cuda import build as cuda_build
from kdata.verify.cuda import calls as cuda_calls
from kdata.verify.cuda import symbols as cuda_symbols
from kdata.verify.cuda.text import object_to_sources, python_part
from kdata.verify.evidence.findings import Findings, RejectedError
from kdata.verify.exchange.scratch import LIBRARIES, SOURCE
from kdata.verify.gpu.cards import cards
from kdata.verify.gpu.full import COMPILING, Full
from kdata.verify.options import INTERPRETED, Options

SECONDS = 300.0  # of CPU that one compiler may take; on a busy machine it waits
BUSY = 4.0  # times as long at most
BUILDING = Limits(wall=2 * BUSY * SECONDS, cpu=SECONDS, memory=10 << 30, file_size=256 << 20)
MOST = 64  # compilations that are kept: for all the processes of one verdict, and for other rules than ours
NATIVE = "not checked: each access and race of compiled code; guard bars, poison and whole outputs are"
MOVING = re.compile(r"Mem(cpy|set)\b|direct_copy_kernel|float\w*_copy_kernel|FillFunctor|arange_cuda")  # of torch's
NO_CALLS = "its C++ has no calls of ATen compute"
ACCESSES = "each access of its kernels"
STREAM = "launches on the current stream"


@dataclass(frozen=True, slots=True)
class Program:
    """A compiled candidate."""

    source: str  # its Python
    libraries: tuple[tuple[str, bytes], ...]  # by the key of the call that asked for each
    hosts: dict[str, bytes]  # by the same key: what its host code alone was compiled to
    calls: tuple[cuda_calls.Call, ...]  # what its Python asks for
    builds: tuple[Build, ...]
    kernels: cuda_symbols.Kernels
    operators: tuple[str, ...]  # of torch that its C++ can call beyond what wrappers may leave to it


_Key = tuple[str, bool, bool]
_kept: OrderedDict[_Key, Program | RejectedError] = OrderedDict()
_turns: defaultdict[_Key, threading.Lock] = defaultdict(threading.Lock)
_lock = threading.Lock()
_compiling = threading.BoundedSemaphore(max(1, (os.cpu_count() or 1) // 2))  # each call has two compilers or three


def lacking(options: Options) -> tuple[str, str] | None:
    """Why no candidate in CUDA can be judged here: a reason, and what to do; None where one can."""
    if options.device != "cuda" or not cards():
        return reasons.NO_GPU, "CUDA C++ is compiled and run, not interpreted: use --device cuda where there is a GPU"
    if toolkit() is None:
        return reasons.NO_COMPILER, "there is no nvcc: install the CUDA toolkit and set CUDA_HOME to its folder"
    missing = [name for name in ("g++", "nm", "c++filt") if shutil.which(name) is None]
    return (reasons.NO_COMPILER, f"there is no {missing[0]}: install g++ and binutils") if missing else None


@functools.cache
def toolkit() -> Path | None:
    """The folder of the CUDA toolkit: CUDA_HOME, the usual one, or that of the nvcc that is found."""
    found = shutil.which("nvcc")
    places = [os.environ.get("CUDA_HOME"), "/usr/local/cuda", str(Path(found).resolve().parents[1]) if found else None]
    whole = (Path(p) for p in places if p)
    return next((p for p in whole if (p / "bin/nvcc").exists() and (p / "include/cuda_runtime.h").exists()), None)


@functools.cache
def compilers() -> tuple[str, ...]:
    """What compiles, with versions, as receipts have it."""
    home = toolkit()
    nvcc = _said([str(home / "bin/nvcc"), "--version"]) if home else ""
    release = re.search(r"\bV([\d.]+)", nvcc)
    return "CUDA C++", f"nvcc {release[1] if release else '?'}", f"g++ {_said(['g++', '-dumpfullversion']).strip()}"


def compiled(candidate: Candidate, options: Options, lenient: bool = False) -> Program:
    """A candidate's libraries, compiled once.

    ``lenient``: whatever its code calls, for rules that do not mind.

    Raises:
        RejectedError: there are none: the text's fault.
    """
    strict = _kept.get((candidate.id, False, options.delayed))
    key = candidate.id, lenient and not isinstance(strict, Program), options.delayed
    with _lock:
        turn = _turns[key]
    with turn:
        made = _kept.get(key)
        if made is None:
            try:
                made = _compile(candidate, options, key[1])
            except RejectedError as rejection:
                made = rejection
        with _lock:
            _kept[key] = made
            _kept.move_to_end(key)
            while len(_kept) > MOST:
                _turns.pop(_kept.popitem(last=False)[0], None)
    if isinstance(made, RejectedError):
        raise RejectedError(made.reason, made.detail)
    return made


def prepare(candidate: Candidate, options: Options, found: Findings) -> None:
    """Compile, and note with what, for what, and what cannot be seen of compiled code.

    Raises:
        RejectedError: see ``compiled``.
    """
    found.versions = compilers()
    program = compiled(candidate, options)
    found.builds = program.builds
    found.check("compiles", True, ", ".join(sorted({b.target for b in program.builds})))
    found.check(NO_CALLS, not program.operators, ", ".join(program.operators)[:300])
    found.check(ACCESSES, False, NATIVE)


def handed(candidate: Candidate, options: Options, lenient: bool = False) -> dict[str, bytes]:
    """The files that a process needs which runs a candidate, whatever its language. ``lenient``: see ``compiled``.

    Raises:
        RejectedError: see ``compiled``.
    """
    if candidate.language != "cuda":
        return {SOURCE: candidate.source.encode()}
    program = compiled(candidate, options, lenient)
    files = {f"{number}_{cuda_build.LIBRARY}": data for number, (_, data) in enumerate(program.libraries)}
    names = {key: name for (key, _), name in zip(program.libraries, files, strict=True)}
    return {SOURCE: program.source.encode(), LIBRARIES: json.dumps(names).encode()} | files


def look(full: Full, own: cuda_symbols.Kernels) -> None:
    """See that at a task's own sizes torch computes nothing and a device runs the candidate's own kernels only.

    Raises:
        RejectedError: others do the work.
    """
    if called := full.ask({"do": "watch", "seed": secrets.randbits(48)}).get("aten"):
        raise RejectedError(reasons.ATEN, f"at its own sizes: {called}"[:300])
    events = full.ask({"do": "profile", "seed": secrets.randbits(48)}, COMPILING).get("kernels")
    if not isinstance(events, list) or not all(isinstance(e, list) and len(e) > 1 for e in events):
        raise RejectedError(reasons.CRASH, "its process said what makes no sense")
    names = {str(event[1]) for event in events}
    foreign = sorted(name for name in names if name not in own and not MOVING.search(name))
    if foreign:
        raise RejectedError(reasons.ATEN, f"at its own sizes: {', '.join(foreign)}"[:500])
    if not any(name in own for name in names):
        raise RejectedError(reasons.NOT_LAUNCHED, "at its own sizes, as the profiler has it")


def follow(full: Full, found: Findings) -> None:
    """Note whether the candidate launches on the stream that is current."""
    follows = full.ask({"do": "follow", "seed": secrets.randbits(48)}).get("follows") is True
    found.check(STREAM, follows, "" if follows else "it is only right where that is the default one")


def _compile(candidate: Candidate, options: Options, lenient: bool) -> Program:
    python = python_part(candidate.source)
    plain = compiled(candidate, replace(options, delayed=False), lenient) if options.delayed else None
    calls = plain.calls if plain else _gather(candidate, python, options)
    if not lenient and (objection := object_to_sources([text for call in calls for text in call.sources])):
        raise RejectedError(objection.reason, objection.detail)
    arch = _arch(calls)
    hosts = plain.hosts if plain else {}
    with ThreadPoolExecutor(len(calls)) as threads:
        made = list(threads.map(lambda call: _build(call, arch, hosts.get(call.key)), calls))
    symbols = [symbol for answer, _ in made for symbol in answer["symbols"]]
    if not lenient and (objection := cuda_symbols.object_to(symbols)):
        raise RejectedError(objection.reason, objection.detail)
    builds = tuple(Build(cuda_symbols.base(b["kernel"]), b["target"], b["registers"], b["spills"], b["shared"])
                   for answer, _ in made for b in answer["builds"])  # fmt: skip
    kernels = cuda_symbols.Kernels([b["kernel"] for answer, _ in made for b in answer["builds"]])
    libraries = tuple((call.key, files[cuda_build.LIBRARY]) for call, (_, files) in zip(calls, made, strict=True))
    hosts = {call.key: files[cuda_build.HOST_OBJECT] for call, (_, files) in zip(calls, made, strict=True)}
    calls_torch = tuple(cuda_symbols.computes(symbols))
    return Program(python, libraries, hosts, tuple(calls), builds, kernels, calls_torch)


def _gather(candidate: Candidate, python: str, options: Options) -> Sequence[cuda_calls.Call]:
    """What the text has compiled."""
    payload = {"source": candidate.task.source, "entry_point": candidate.task.entry_point}
    try:
        with lease("torch", "kdata.verify.candidate.host:warm", **INTERPRETED) as worker:
            files = {SOURCE: python.encode("utf-8", "replace")}
            found = worker.call("kdata.verify.cuda.gather:answer", payload, options.limits(), files).value
        if "failed" in found:
            raise RejectedError(reasons.RAISES, str(found["failed"])[:500])
        calls = [cuda_calls.of(values) for values in found["calls"]]
    except JobError as error:
        raise RejectedError(reasons.CRASH, f"on import: {error}"[:500]) from error
    except ValueError as error:
        raise RejectedError(reasons.TOO_LONG, str(error)) from error
    except (LookupError, TypeError, AttributeError) as error:
        raise RejectedError(reasons.CRASH, "its process said what makes no sense") from error
    if not calls:
        raise RejectedError(reasons.NO_KERNEL, "load_inline is called neither on import nor by the constructor")
    return calls[: cuda_calls.MOST]


def _arch(calls: Sequence[cuda_calls.Call]) -> str:
    """The device's instruction set, with what only its own generation has where a text asks for that."""
    found = cards()[0].capability() or "90"
    own = any(f"{found}a" in flag for call in calls for flag in call.cuda_cflags)
    return f"{found}a" if own else found


def _build(call: cuda_calls.Call, arch: str, host: bytes | None = None) -> tuple[dict[str, Any], Mapping[str, bytes]]:
    """What the compilers made of one call. ``host``: its host code's part, where that of the device is to wait.

    Raises:
        RejectedError: nothing, or something that is not run.
    """
    home = str(toolkit())
    payload = {"call": asdict(call), "cuda": home, "arch": arch, "seconds": BUSY * SECONDS, "delayed": host is not None}
    given = {} if host is None else {cuda_build.HOST_OBJECT: host}
    made = (cuda_build.LIBRARY, cuda_build.HOST_OBJECT)
    try:
        with _compiling, lease(CUDA_HOME=home) as worker:
            answer = worker.call("kdata.verify.cuda.build:answer", payload, BUILDING, given, fetch=made)
    except JobError as error:
        raise RejectedError(f"{reasons.NO_COMPILE} sm_{arch}", f"the compiler's process ended with {error}") from error
    if "refused" in answer.value:
        flag = str(answer.value["refused"])
        library = cuda_symbols.LIBRARIES.search(flag)
        raise RejectedError(reasons.ATEN if library else reasons.BEHIND, f"compiler option {flag}"[:200])
    if "failed" in answer.value or set(made) - answer.files.keys():
        raise RejectedError(f"{reasons.NO_COMPILE} sm_{arch}", str(answer.value.get("failed", "nothing was linked")))
    return answer.value, answer.files


def _said(command: Sequence[str]) -> str:
    """What a program of this machine prints; "" where it fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return ""

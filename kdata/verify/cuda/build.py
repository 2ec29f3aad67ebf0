"""Compiling a candidate's C++ into a library that Python loads. In a child without GPU or network, of its own.

Written after ``load_inline`` and ``_write_ninja_file_to_build_library`` in torch's torch/utils/cpp_extension.py (2.11
and 2.13): the same texts with the same flags, but for the shim (``kdata.verify.cuda.shim``), flags that choose a
device, and flags that a kernel has no need of, which are refused.  None of the candidate's Python runs here.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kdata.verify.cuda import calls as cuda_calls
from kdata.verify.cuda import delays
from kdata.verify.cuda import shim as cuda_shim

LIBRARY, HOST_OBJECT = "library.so", "main.o"
NAME = "kdata_candidate"  # of the module
LONGEST = 1 << 18  # bytes of a compiler's log that are read
SYMBOLS = 1 << 23  # bytes of all that code needs
NEEDED = re.compile(r"(?m)^\s*[Uwv] (.+)$")  # weak ones, too, are bound where they are found
DEFINED = ("__CUDA_NO_HALF_OPERATORS__", "__CUDA_NO_HALF_CONVERSIONS__", "__CUDA_NO_BFLOAT16_CONVERSIONS__",
           "__CUDA_NO_HALF2_OPERATORS__")  # fmt: skip
DROPPED = re.compile(
    r"-gencode.*|--generate-code.*|(-|--gpu-)arch(itecture)?=.*|-?arch=compute_.*|--?std=.*|-lcudart|-lstdc\+\+|-lm"
    r"|-lc10\w*|-ltorch\w*|--?threads=?\d*|-lineinfo|--generate-line-info|--?v(erbose)?|--keep|--ptxas-options=-v"
    r"|-Xptxas=-v|--resource-usage|-res-usage|--source-in-ptx|-G"
)
HOST = re.compile(
    r"-O([0-3sg]|fast)|-[DU]\w+(=[\w.+-]*)?|-W[\w=-]*|-w|-g\d?|-fPIC|-pthread|-f(no-)?(fast-math|unroll-loops|exceptions"
    r"|strict-aliasing|tree-vectorize|inline-functions|math-errno|finite-math-only|lto|openmp|omit-frame-pointer|rtti"
    r"|associative-math|reciprocal-math|signed-zeros|trapping-math|visibility=\w+)|-m(arch|tune)=[\w-]+"
    r"|-m(avx2?|fma|sse[\d.]*)"
)
DEVICE = re.compile(
    r"-O[0-3]|-[DU]\w+(=[\w.+-]*)?|-w|--?use_fast_math|--expt-(relaxed-constexpr|extended-lambda)|--?extended-lambda"
    r"|--?maxrregcount=\d+|--?(ftz|fmad|prec-div|prec-sqrt)=\w+|--?default-stream=legacy|--?extra-device-vectorization"
    r"|--?restrict|--optimize=\d|--?diag-suppress=?[\d,]*|-Xcudafe=--diag_suppress=\w+|--?disable-warnings|-g"
)
PTXAS = re.compile(r"-O[0-3]|--?(warn-\w+(-\w+)*|allow-expensive-optimizations(=\w+)?|opt-level=\d|dlcm=\w+|dscm=\w+"
                   r"|maxrregcount=\d+)|-d[ls]cm=\w+")  # fmt: skip
PASSED = {"-Xcompiler": HOST, "--compiler-options": HOST, "-Xptxas": PTXAS, "--ptxas-options": PTXAS}
VALUED = {"-gencode", "--generate-code", "-arch", "--gpu-architecture", "--threads", "-t", "-code"}  # with one to drop
KERNEL = re.compile(r"Compiling entry function '(?P<name>[^']+)' for '(?P<target>\w+)'")
SPILLS = re.compile(r"(\d+) bytes spill stores")
USED = re.compile(r"Used (\d+) registers(?:.*?(\d+) bytes smem)?")
ERRORS = [
    re.compile(p) for p in (r"\berror\b( \w+)?:|undefined reference|multiple definition", r"(?i)error|fatal|cannot")
]
SCRATCH = re.compile(r"(/[\w.+-]+)+/(?=(main\.cpp|cuda\.cu|shim\.cpp))")


class RefusedError(ValueError):
    """A flag that is not compiled with: which."""


@dataclass(frozen=True, slots=True)
class Toolkit:
    """Where compilers and headers are."""

    cuda: Path  # holds bin/nvcc and include/
    arch: str  # "90": of the device

    @property
    def nvcc(self) -> str:
        """The compiler of device code."""
        return str(self.cuda / "bin" / "nvcc")


def answer(payload: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """Compile and link: the symbols that the candidate's code needs and its kernels, or why not.

    ``payload``: call, cuda, arch, seconds, delayed (see ``cuda.delays``: there the host's part is compiled already).
    The library lies in the scratch folder.  Where there is none: ``refused``, a flag, or ``failed``, the first error.
    """
    call, toolkit = cuda_calls.of(payload["call"]), Toolkit(Path(payload["cuda"]), payload["arch"])
    try:
        commands, last = compilations(call, toolkit), linking(call, toolkit)
    except RefusedError as refused:
        return {"refused": str(refused)}
    lay(call, scratch, payload["delayed"])
    commands = commands[1:] if payload["delayed"] else commands
    with ThreadPoolExecutor(max(1, len(commands))) as threads:
        done = list(threads.map(lambda c: _run(c, scratch, payload["seconds"]), commands))
    done += [_run(last, scratch, payload["seconds"])] if not any(code for code, _ in done) else []
    if failed := [log for code, log in done if code]:
        return {"failed": first_error(failed[0])}
    objects = [HOST_OBJECT, *(["cuda.o"] if call.cuda else [])]
    listed = ["nm", "--undefined-only", "--no-sort", "--demangle", *objects]
    code, symbols = _run(listed, scratch, payload["seconds"], SYMBOLS + 1)
    if code or len(symbols.encode()) > SYMBOLS:
        return {"failed": f"error: what it needs cannot be told: {first_error(symbols[:LONGEST])}"}
    builds = list(kernels("\n".join(log for _, log in done)))
    readable = _readable([b["kernel"] for b in builds], scratch)
    builds = [b | {"kernel": name} for b, name in zip(builds, readable, strict=True)]
    return {"symbols": list(_named(symbols)), "builds": builds}


def lay(call: cuda_calls.Call, folder: Path, delayed: bool = False) -> None:
    """Write the texts as ``load_inline`` does."""
    (folder / "main.cpp").write_text("\n".join(host_text(call)))
    if call.cuda:
        headers = ["#include <torch/types.h>", "#include <cuda.h>", "#include <cuda_runtime.h>"] if call.headers else []
        headers += [delays.TEXT] if delayed else []
        (folder / "cuda.cu").write_text("\n".join([*headers, *call.cuda]))
        (folder / "shim.cpp").write_text(cuda_shim.TEXT)


def host_text(call: cuda_calls.Call) -> Iterator[str]:
    """The parts of ``main.cpp``."""
    if call.headers:
        yield "#include <torch/extension.h>"
    yield from call.cpp
    if call.functions:
        yield "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {"
        for name, told in call.functions:
            function = f"torch::wrap_pybind_function({name})" if call.guarded else name
            yield f'm.def("{name}", {function}, "{told}");'
        yield "}"


def compilations(call: cuda_calls.Call, toolkit: Toolkit) -> list[list[str]]:
    """The compilers' command lines, to be run at once.

    Raises:
        RefusedError: a flag has no place there.
    """
    common = [f"-DTORCH_EXTENSION_NAME={NAME}", "-DTORCH_API_INCLUDE_EXTENSION_H"]
    common += [part for path in includes(toolkit.cuda) for part in ("-isystem", path)]
    own = list(allowed(call.cflags, HOST))
    made = [["g++", "-c", "main.cpp", "-o", HOST_OBJECT, *common, "-fPIC", "-std=c++20", *own]]
    if call.cuda:
        code = f"-gencode=arch=compute_{toolkit.arch},code=[sm_{toolkit.arch},compute_{toolkit.arch}]"
        device = [f"-D{name}" for name in DEFINED] + ["--expt-relaxed-constexpr", code, "-Xcompiler", "-fPIC"]
        own = list(allowed(call.cuda_cflags, DEVICE))
        made.append(
            [toolkit.nvcc, "-c", "cuda.cu", "-o", "cuda.o", *common, *device, *own, "-std=c++20", "-Xptxas", "-v"]
        )
        made.append(["g++", "-c", "shim.cpp", "-o", "shim.o", "-O2", "-fPIC", "-fvisibility=hidden", "-isystem",
                     str(toolkit.cuda / "include")])  # fmt: skip
    return made


def linking(call: cuda_calls.Call, toolkit: Toolkit) -> list[str]:
    """The linker's command line.

    Raises:
        RefusedError: a flag has no place there.
    """
    for flag in " ".join(call.ldflags).split():
        if not DROPPED.fullmatch(flag):
            raise RefusedError(flag)
    place = _torch() / "lib"
    libraries = ["c10", "c10_cuda", "torch_cpu", "torch_cuda", "torch", "torch_python"]
    present = [f"-l{name}" for name in libraries if (place / f"lib{name}.so").exists()]
    objects = [HOST_OBJECT, *(["cuda.o", "shim.o"] if call.cuda else [])]
    wrapped = [f"-Wl,--wrap={name}" for name in cuda_shim.WRAPPED] if call.cuda else []
    runtime = [part for name in ("lib64", "lib") if (toolkit.cuda / name).is_dir()
               for part in (f"-L{toolkit.cuda / name}",)]  # fmt: skip
    return [
        "g++",
        *objects,
        "-shared",
        "-o",
        LIBRARY,
        "-Wl,-z,now",
        *wrapped,
        f"-L{place}",
        *present,
        *runtime,
        "-lcudart",
    ]


def includes(cuda: Path) -> list[str]:
    """Folders of headers: torch's, CUDA's, Python's, and those of the libraries that torch's packages bring along."""
    torch = _torch() / "include"
    python = sysconfig.get_path("include", scheme="posix_prefix")
    beside = sorted(map(str, _torch().parent.glob("nvidia/*/include")))
    return [str(torch), str(torch / "torch" / "csrc" / "api" / "include"), str(cuda / "include"), python, *beside]


def allowed(flags: Sequence[str], known: re.Pattern[str]) -> Iterator[str]:
    """The flags to compile with: those that choose a device or a standard are ours to choose.

    Raises:
        RefusedError: one of them is none that a kernel needs.
    """
    parts = iter([part for flag in flags for part in flag.split()])
    for part in parts:
        name, _, value = part.partition("=")
        if name in PASSED:
            value = (value or next(parts, "")).strip("'\"")
            if DROPPED.fullmatch(value):
                continue
            if not all(PASSED[name].fullmatch(v) for v in value.split(",")):
                raise RefusedError(f"{name} {value}")
            yield from (name, value)
        elif part in VALUED:
            next(parts, "")
        elif part in ("--maxrregcount", "-maxrregcount", "--diag-suppress", "-Xcudafe"):
            yield f"{part}={next(parts, '')}" if "max" in part else "-w"
        elif not DROPPED.fullmatch(part):
            if not known.fullmatch(part):
                raise RefusedError(part)
            yield part


def first_error(log: str) -> str:
    """A compiler's first error, without the folder it ran in."""
    lines = [SCRATCH.sub("", line).strip() for line in log.splitlines() if line.strip()]
    said = next((line for error in ERRORS for line in lines if error.search(line)), lines[-1] if lines else "")
    return said[:500] or "it says nothing"


def kernels(log: str) -> Iterator[dict[str, Any]]:
    """What ptxas tells of each kernel: its mangled name, target, registers, bytes of spills and of shared memory."""
    parts = KERNEL.split(log)
    for name, target, told in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        used, spills = USED.search(told), SPILLS.search(told)
        yield {"kernel": name, "target": target, "registers": int(used[1]) if used else None,
               "spills": int(spills[1]) if spills else None, "shared": int(used[2] or 0) if used else None}  # fmt: skip


def _run(command: Sequence[str], folder: Path, seconds: float, most: int = LONGEST) -> tuple[int, str]:
    """Exit status and log of a program, at most so many bytes of it."""
    log = folder / f"{Path(command[0]).name}-{abs(hash(tuple(command)))}.log"
    with log.open("wb") as told:
        try:
            code = subprocess.run(command, cwd=folder, stdout=told, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                  timeout=seconds, check=False).returncode  # fmt: skip
        except subprocess.TimeoutExpired:
            return 1, f"error: more than {seconds:.0f} s"
    with log.open("rb") as told:
        text = told.read(most).decode("utf-8", "replace")
    return code, text if code >= 0 else f"{text}\nerror: {Path(command[0]).name} was ended by signal {-code}"


def _named(symbols: str) -> Iterator[str]:
    yield from dict.fromkeys(NEEDED.findall(symbols))


def _readable(names: Sequence[str], folder: Path) -> Iterable[str]:
    """Names as C++ has them."""
    if not names:
        return []
    code, text = _run(["c++filt", *names], folder, 60.0)
    return text.splitlines() if code == 0 else names


def _torch() -> Path:
    spec = importlib.util.find_spec("torch")
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0])

"""Compiling a candidate's kernels for GPUs that are not here. In a child of its own, without the interpreter.

ptxas and LLVM come with triton; nothing is launched.  Registers and spills are read from the machine code, because
triton asks a driver for them.
"""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

from kdata.verify.candidate import warmup
from kdata.verify.candidate.enclosure import ForbiddenError
from kdata.verify.candidate.loading import ImportingError, load
from kdata.verify.exchange.telling import line
from kdata.verify.interpreter import pretence

MOST_THREADS, MOST_SHARED = 1024, 227 << 10  # of a block, on any GPU of NVIDIA's
CUOBJDUMP = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"


def answer(payload: list[dict[str, Any]], scratch: Path) -> list[dict[str, Any]]:
    """Compile kernels for launches as ``candidate.launches`` has them, each of a ``file`` and for a ``target``."""
    os.environ["TRITON_CACHE_DIR"], tempfile.tempdir = str(scratch / "cache"), str(scratch)
    loaded: dict[str, ModuleType | str] = {}
    for launch in payload:
        if launch["file"] not in loaded:
            loaded[launch["file"]] = _load(scratch / launch["file"])
    return [_report(loaded[launch["file"]], launch, scratch) for launch in payload]


def _load(path: Path) -> ModuleType | str:
    """The module, or why there is none."""
    try:
        with pretence.presented():
            return load(path)
    except (ImportingError, ForbiddenError) as error:
        return f"on import: {line(error)}"


def warm() -> None:
    """Load the compilers by using them, and what a candidate's import may load late."""
    import_module("triton.tools.tensor_descriptor")
    torch.set_num_threads(1)
    pretence.install(lambda: False)
    triton.knobs.compilation.disable_line_info = True  # a seventh of the time, and no other code
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRITON_CACHE_DIR"] = folder
        for target in (("cuda", 90, 32), ("hip", "gfx942", 64)):
            pointer = {"type": "*fp32"}
            arguments = {
                "x_ptr": pointer,
                "y_ptr": pointer,
                "n": {"type": "i32", "value": 20},
                "BLOCK": {"constant": 16},
            }
            launch = {"kernel": "double", "arguments": arguments, "options": {}, "target": target}
            _compile(warmup, launch)


def _report(module: ModuleType | str, launch: dict[str, Any], scratch: Path) -> dict[str, Any]:
    if isinstance(module, str):
        return {"error": module}
    try:
        compiled = _compile(module, launch)
    except Exception as error:  # noqa: BLE001 - whatever the compiler says about the candidate's kernel is the answer
        return {"error": line(error)}
    if "amdgcn" not in compiled.asm and not _tuned(module, launch["kernel"]) and (excess := _excess(compiled.metadata)):
        return {"error": excess}
    usage = _amd(compiled.asm["amdgcn"]) if "amdgcn" in compiled.asm else _nvidia(compiled.asm["cubin"], scratch)
    return {**usage, "shared": int(compiled.metadata.shared)}


def _excess(metadata: Any) -> str:
    """What no GPU of NVIDIA's has for a launch; of an autotuner's configurations such are left out as it runs."""
    threads = 32 * metadata.num_warps
    if threads > MOST_THREADS:
        return f"cannot be launched: {metadata.num_warps} warps are {threads} threads, a block has {MOST_THREADS}"
    if metadata.shared > MOST_SHARED:
        return f"cannot be launched: it takes {metadata.shared} bytes of shared memory, a block has {MOST_SHARED}"
    return ""


def _compile(module: ModuleType, launch: dict[str, Any]) -> Any:
    kernel = _find(module, launch["kernel"])
    signature: dict[str, Any] = {}
    found = Found({}, {})
    plain = {parameter.name for parameter in kernel.params if parameter.do_not_specialize}
    for position, name in enumerate(kernel.arg_names):
        argument = launch["arguments"].get(name) or {"constant": _default(kernel, name)}
        argument = {k: v for k, v in argument.items() if k != "value" or name not in plain}
        if (said := kernel.params[position].annotation_type) and "type" in argument:
            argument = {"type": said}
        signature[name] = _type(module, name, argument, (position,), found)
    source = ASTSource(kernel, signature, constexprs=found.constants, attrs=found.attributes)
    target = GPUTarget(*launch["target"])
    with pretence.compiling_for(target):
        return triton.compile(source, target=target, options=launch["options"])


@dataclass(frozen=True, slots=True)
class Found:
    """What arguments are fixed to, and what is known of them, by their places."""

    constants: dict[tuple[int, ...], Any]
    attributes: dict[tuple[int, ...], list[list[Any]]]


def _type(module: ModuleType, name: str, argument: dict[str, Any], place: tuple[int, ...], found: Found) -> Any:
    """An argument's type, as triton specialises it; of a tuple those of its members.

    Raises:
        TypeError: it has none.
    """
    if "unknown" in argument:
        raise TypeError(f"argument {name} is a {argument['unknown']}")
    if "tuple" in argument:
        return tuple(_type(module, name, a, (*place, n), found) for n, a in enumerate(argument["tuple"]))
    if "constant" in argument:
        found.constants[place] = _constant(module, argument["constant"])
        return "constexpr"
    if argument["type"].startswith("*"):
        found.attributes[place] = [["tt.divisibility", 16]]
    elif argument.get("value") == 1 and argument["type"] in ("i32", "i64"):
        found.constants[place] = 1
        return "constexpr"
    return argument["type"]


def _tuned(module: ModuleType, name: str) -> bool:
    """Whether an autotuner chooses how a kernel is launched."""
    return any(isinstance(layer, Autotuner) for layer in _layers(module, name))


def _find(module: ModuleType, name: str) -> Any:
    return _layers(module, name)[-1]


def _layers(module: ModuleType, name: str) -> list[Any]:
    """The kernel of this name, or that of a class: ``Kernels.forward``; and before it what it is wrapped in.

    Raises:
        NameError: there is none.
    """
    outer, _, inner = name.rpartition(".")
    space = vars(module).get(outer) if outer else module
    for value in vars(space).values() if isinstance(space, type | ModuleType) else ():
        layers = [getattr(value, "__func__", value)]  # of a static method
        while not isinstance(layers[-1], JITFunction) and getattr(layers[-1], "fn", None) is not None:
            layers.append(layers[-1].fn)
        if isinstance(layers[-1], JITFunction) and layers[-1].fn.__name__ == inner:
            return layers
    raise NameError(f"no kernel {name} in the file")


def _default(kernel: Any, name: str) -> Any:
    default = inspect.signature(kernel.fn).parameters[name].default
    return None if default is inspect.Parameter.empty else default


def _constant(module: ModuleType, value: Any) -> Any:
    if isinstance(value, dict) and "dtype" in value:
        return tl.dtype(value["dtype"])
    return _find(module, value["function"]) if isinstance(value, dict) else value


def _nvidia(cubin: bytes, scratch: Path) -> dict[str, int]:
    """Registers and spilled 4-byte words a thread, from the binary's resource table."""
    file = scratch / "kernel.cubin"
    file.write_bytes(cubin)
    text = subprocess.run([str(CUOBJDUMP), "-res-usage", str(file)], capture_output=True, text=True, check=True).stdout
    numbers = {k: int(v) for k, v in re.findall(r"(REG|STACK|LOCAL):(\d+)", text)}
    return {"registers": numbers["REG"], "spills": max(numbers.get("STACK", 0), numbers.get("LOCAL", 0)) // 4}


def _amd(assembly: str) -> dict[str, int]:
    """Vector registers, and spilled registers of both kinds, from the metadata at the assembly's end."""
    numbers = {k: int(v) for k, v in re.findall(r"\.(vgpr_count|vgpr_spill_count|sgpr_spill_count): *(\d+)", assembly)}
    return {"registers": numbers["vgpr_count"], "spills": numbers["vgpr_spill_count"] + numbers["sgpr_spill_count"]}

"""A candidate's compiled libraries where it runs: loaded before its text, watched while outputs are checked.

Native code can do here whatever its sandbox lets it: what is noted is evidence, as launches of Triton's kernels are,
and outputs, clocks and bytes are judged elsewhere.
"""

from __future__ import annotations

import builtins
import contextlib
import ctypes
import hashlib
import importlib.machinery
import importlib.util
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from kdata.verify.candidate import loading
from kdata.verify.candidate.allowed import SCALARS
from kdata.verify.candidate.enclosure import refuse
from kdata.verify.candidate.launches import InjectedError, Ledger
from kdata.verify.cuda import calls as cuda_calls
from kdata.verify.cuda.build import NAME
from kdata.verify.cuda.symbols import base
from kdata.verify.cuda.text import LOADER
from kdata.verify.exchange.scratch import LIBRARIES

OF_NO_FUNCTION = ("__",)  # how names begin that a module has beside its functions
_stream = torch.cuda.current_stream
_libraries: list[Library] = []


class _Launch(ctypes.Structure):
    """As in ``kdata.verify.cuda.shim``."""

    _fields_ = [("name", ctypes.c_char * 240), ("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3),
                ("stream", ctypes.c_void_p)]  # fmt: skip


class Library:
    """One compiled library, and what is linked into it beside the candidate's code."""

    def __init__(self, path: Path) -> None:
        name = f"{path.stem}.{NAME}"  # of one name pybind11 makes one module, whichever library it comes from
        loader = importlib.machinery.ExtensionFileLoader(name, str(path))
        spec = importlib.util.spec_from_file_location(name, path, loader=loader)
        assert spec is not None
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
        self.functions: dict[str, Callable[..., Any]] = {
            name: value
            for name, value in vars(module).items()
            if callable(value) and not name.startswith(OF_NO_FUNCTION)
        }
        self._shim: Any = ctypes.CDLL(str(path))
        self.watched = hasattr(self._shim, "kdata_begin")
        if self.watched:
            self._shim.kdata_host_bytes.restype = self._shim.kdata_variables.restype = ctypes.c_size_t
            self._shim.kdata_refused.restype = ctypes.c_char_p

    def begin(self, noting: bool, held: bool) -> None:
        """From here on note launches, or hold them back."""
        if self.watched:
            self._shim.kdata_begin(int(noting), int(held))

    def launches(self) -> list[dict[str, Any]]:
        """Those since then, in order."""
        if not self.watched:
            return []
        first = ctypes.c_void_p()
        count = self._shim.kdata_launches(ctypes.byref(first))
        made = (_Launch * count).from_address(first.value) if count and first.value else ()
        return [{"kernel": base(m.name.decode("utf-8", "replace")), "arguments": {}, "options": {},
                 "grid": list(m.grid), "block": list(m.block), "stream": m.stream or 0} for m in made]  # fmt: skip

    def refused(self) -> str:
        """Why CUDA's runtime refused a launch since then; "" where it refused none, or its code took the error away."""
        said = self._shim.kdata_refused() if self.watched else None
        return said.decode("utf-8", "replace") if said else ""

    def host_bytes(self) -> int:
        """Bytes that its code has copied to the host since then."""
        return int(self._shim.kdata_host_bytes()) if self.watched else 0

    def variables(self) -> str:
        """Hash of its own variables."""
        if not self.watched:
            return ""
        first = ctypes.c_void_p()
        count = self._shim.kdata_variables(ctypes.byref(first))
        return hashlib.sha256(ctypes.string_at(first.value or 0, count)).hexdigest()


class Extension:
    """What a candidate's ``load_inline`` returns: its functions, and nothing that it could keep something on."""

    __slots__ = ("_functions",)

    def __init__(self, functions: Mapping[str, Callable[..., Any]]) -> None:
        object.__setattr__(self, "_functions", dict(functions))

    def __getattr__(self, name: str) -> Any:
        """A function.

        Raises:
            AttributeError: there is no such function.
        """
        functions = object.__getattribute__(self, "_functions")
        if name not in functions:
            raise AttributeError(f"the compiled library has no function {name}")
        return functions[name]

    def __deepcopy__(self, _: Any) -> Any:
        """Modules cannot be copied.

        Raises:
            TypeError: always, as of any module.
        """
        raise TypeError("cannot pickle 'module' object")

    def __setattr__(self, name: str, value: Any) -> None:
        """Compiled modules keep no state for their users."""
        refuse(f"an attribute {name} of a compiled library")


def prepare(scratch: Path, ledger: Ledger, called: Callable[[str], None]) -> None:
    """Load a candidate's libraries, if it has any, and give its text a ``load_inline`` that finds them.

    ``called``: to be told of compute that no kernel does.
    """
    if not (scratch / LIBRARIES).exists():
        return
    loaded = _load(scratch)
    _libraries.extend(loaded.values())

    def load_inline(*args: Any, **kwargs: Any) -> Extension:
        library = _asked(loaded, cuda_calls.read(*args, **kwargs))
        return Extension({name: _watched(function, library, ledger, called)
                          for name, function in library.functions.items()})  # fmt: skip

    ledger.native = True
    loading.offer(LOADER, load_inline)


def offer_plainly(scratch: Path) -> None:
    """Load a candidate's libraries, if it has any, and give every text of this process a ``load_inline``; no watch."""
    if not (scratch / LIBRARIES).exists():
        return
    loaded = _load(scratch)

    def load_inline(*args: Any, **kwargs: Any) -> Extension:
        return Extension(_asked(loaded, cuda_calls.read(*args, **kwargs)).functions)

    setattr(builtins, LOADER, load_inline)


def left() -> list[str]:
    """What libraries keep in variables of their own."""
    return [library.variables() for library in _libraries]


def _load(scratch: Path) -> dict[str, Library]:
    files = json.loads((scratch / LIBRARIES).read_text())
    return {key: Library(scratch / name) for key, name in files.items()}


def _asked(loaded: Mapping[str, Library], call: cuda_calls.Call) -> Library:
    """The library that a call asks for.

    Raises:
        RuntimeError: it is none that was compiled.
    """
    if call.key not in loaded:
        raise RuntimeError("load_inline: not what was compiled when this text was imported first")
    return loaded[call.key]


def _watched(
    function: Callable[..., Any], library: Library, ledger: Ledger, called: Callable[[str], None]
) -> Callable[..., Any]:  # fmt: skip
    """A function of a library whose launches the ledger notes, or holds back; one that is refused is an error."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if not getattr(ledger, "watching", True):
            return function(*args, **kwargs)
        if ledger.behaviour == "fail":
            raise InjectedError("injected: this launch failed")
        tensors = [t for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)]
        if any(not t.is_cuda and t.numel() > SCALARS for t in tensors):
            called("compiled code is given a tensor on the host")
        library.begin(True, ledger.behaviour == "skip")
        try:
            with ledger.made.around(tensors) if ledger.made else contextlib.nullcontext():
                returned = function(*args, **kwargs)
            if said := library.refused():
                raise RuntimeError(f"a launch was refused: {said}")
            return returned
        finally:
            ledger.launches += _on_streams(library.launches())
            if library.host_bytes() > 8 * SCALARS:
                called(f"cudaMemcpy of {library.host_bytes()} bytes to the host")
            library.begin(False, False)

    return call


def _on_streams(launches: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each launch with whether it went to the stream that torch uses: 0 and 1 are both the usual one."""
    if not launches:
        return []
    current = _stream().cuda_stream
    for launch in launches:
        own = launch.pop("stream")
        launch["elsewhere"] = own != current and not {own, current} <= {0, 1}
    return launches

"""A call of ``torch.utils.cpp_extension.load_inline`` as data: the same where it is compiled and where it runs.

What the call is named, where it would build and how much it tells while it does make no other library.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from kdata.record import digest

LONGEST = 1 << 20  # characters of C++ in one library
MOST = 8  # libraries of one candidate


@dataclass(frozen=True, slots=True)
class Call:
    """What is to be compiled."""

    cpp: tuple[str, ...]
    cuda: tuple[str, ...]
    functions: tuple[tuple[str, str], ...]  # name and docstring of each that Python may call
    cflags: tuple[str, ...] = ()
    cuda_cflags: tuple[str, ...] = ()
    ldflags: tuple[str, ...] = ()
    headers: bool = True  # torch's, without being asked for
    guarded: bool = True  # torch's errors become Python's

    @property
    def key(self) -> str:
        """Hash of all of it."""
        return digest("load_inline", json.dumps(asdict(self), sort_keys=True))

    @property
    def sources(self) -> tuple[str, ...]:
        """All texts that become C++."""
        return (*self.cpp, *self.cuda, *(text for function in self.functions for text in function))


def read(
    name: Any, cpp_sources: Any, cuda_sources: Any = None, functions: Any = None, *,
    extra_cflags: Any = None, extra_cuda_cflags: Any = None, extra_ldflags: Any = None, extra_include_paths: Any = None,
    build_directory: Any = None, verbose: Any = False, with_cuda: Any = None, is_python_module: Any = True,
    with_pytorch_error_handling: Any = True, keep_intermediates: Any = True, use_pch: Any = False,
    no_implicit_headers: Any = False,
) -> Call:  # fmt: skip
    """The call that has these arguments, which are those of ``load_inline``.

    Raises:
        TypeError: they are no texts.
        ValueError: they ask for what is not judged: operators registered with torch, headers of one's own.
    """
    if not is_python_module:
        raise ValueError("load_inline(is_python_module=False): operators that torch knows are not judged")
    if extra_include_paths:
        raise ValueError("load_inline(extra_include_paths=...): there are no headers but torch's and CUDA's")
    named = functions if isinstance(functions, dict) else {f: f for f in _texts(functions)}
    return Call(
        _texts(cpp_sources), _texts(cuda_sources), tuple((str(n), str(d)) for n, d in named.items()),
        _texts(extra_cflags), _texts(extra_cuda_cflags), _texts(extra_ldflags), not no_implicit_headers,
        bool(with_pytorch_error_handling),
    )  # fmt: skip


def of(values: dict[str, Any]) -> Call:
    """A call that ``asdict`` made data of, as JSON brings it.

    Raises:
        TypeError: it is none.
        ValueError: it is too long.
    """
    lists = {name: _texts(values[name]) for name in ("cpp", "cuda", "cflags", "cuda_cflags", "ldflags")}
    functions = tuple((str(name), str(told)) for name, told in values["functions"])
    call = Call(**lists, functions=functions, headers=bool(values["headers"]), guarded=bool(values["guarded"]))
    if sum(map(len, call.sources)) > LONGEST:
        raise ValueError(f"more than {LONGEST} characters of C++")
    return call


def _texts(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Sequence) and all(isinstance(part, str) for part in value):
        return tuple(value)
    raise TypeError(f"load_inline takes texts, not {type(value).__name__}")

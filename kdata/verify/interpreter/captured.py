"""Values of a module that kernels use, which may not change once a kernel was compiled: Triton refuses such launches.

The interpreter reads them anew at each launch.  In the host's child.

Source: triton's ``JITFunction.run``, "Check that used global values have not changed".
"""

from __future__ import annotations

from typing import Any

from triton import language as tl
from triton.runtime import JITFunction, interpreter

_known: dict[Any, dict[str, Any]] = {}  # of each kernel's function, at its first launch


def unchanged(kernel: Any) -> None:
    """Ask of a launched kernel, and of those that it calls, what Triton asks of what it has compiled.

    Raises:
        RuntimeError: a value that it uses is another one than at its first launch.
    """
    now = _used(kernel, {})
    for name, value in _known.setdefault(kernel, now).items():
        if now.get(name, name) != value:
            raise RuntimeError(
                f"Global variable {name} has changed since we compiled this kernel, from {value} to {now.get(name)}"
            )


def _used(kernel: Any, found: dict[str, Any]) -> dict[str, Any]:
    names = kernel.__globals__
    for name in kernel.__code__.co_names:
        value = names.get(name)
        if isinstance(value, interpreter.InterpretedFunction | JITFunction) and value.fn is not kernel:
            if (inner := f"{value.fn.__name__}()") not in found:
                found[inner] = True
                _used(value.fn, found)
        elif isinstance(value, tl.constexpr):
            found[name] = value.value
    return found

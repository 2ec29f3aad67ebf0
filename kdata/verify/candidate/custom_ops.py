"""``torch.library``'s operators for candidates: the functions that they are made of, so that what these do is seen.

Registered with torch, an operator runs below what watches a candidate, and its name stays taken when its text is read
again.  Without, it does the same, but for compilers; ``torch.ops`` has it by its name where torch has no other there.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import torch

Function = Callable[..., Any]
KINDS = ("custom_op", "triton_op")


class CustomOpDef:
    """An operator that is its function, with a derivative if it is given one."""

    __slots__ = ("_backward", "_function", "_setup")

    def __init__(self, function: Function) -> None:
        self._function, self._backward, self._setup = function, None, None

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Call the function."""
        if self._backward is None or not torch.is_grad_enabled():
            return self._function(*args, **named)
        bound = inspect.signature(self._function).bind(*args, **named)
        bound.apply_defaults()
        function = partial(self._function, **bound.kwargs)
        setup = partial(self._setup, keyword_only_inputs=bound.kwargs) if self._setup and bound.kwargs else self._setup
        return _differentiable(function, self._backward, setup).apply(*bound.args)

    @property
    def default(self) -> CustomOpDef:
        """Its only overload."""
        return self

    def register_fake(self, function: Function, /) -> Function:
        """What compilers ask for its shapes; nobody does here."""
        return function

    def register_kernel(self, device_types: Any, function: Function | None = None, /) -> Any:
        """What it is on some devices: here on the one that counts."""

        def register(function: Function) -> Function:
            if device_types is None or "cuda" in device_types:
                self._function = function
            return function

        return register if function is None else register(function)

    def register_autograd(self, backward: Function, /, *, setup_context: Function | None = None) -> None:
        """Its derivative."""
        self._backward, self._setup = backward, setup_context  # type: ignore[assignment]


def _differentiable(function: Function, backward: Function, setup: Function | None) -> Any:
    def forward(ctx: Any, *inputs: Any) -> Any:
        output = function(*inputs)
        if setup is not None:
            setup(ctx=ctx, inputs=inputs, output=output)
        return output

    ways = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("CustomOp", (torch.autograd.Function,), ways)


def install(candidate: str) -> None:
    """Make such operators of the functions of the module of this name, once a process; the libraries' stay theirs."""
    for name in KINDS:
        setattr(torch.library, name, _for_candidates(getattr(torch.library, name), candidate))
    wrap = torch.library.wrap_triton
    torch.library.wrap_triton = lambda kernel, /: (
        kernel if _of(getattr(kernel, "fn", None), candidate) else wrap(kernel)
    )


def _for_candidates(original: Any, candidate: str) -> Any:
    @wraps(original)
    def make(name: str, function: Function | None = None, /, **more: Any) -> Any:
        def register(function: Function) -> Any:
            if _of(function, candidate):
                return _named(name, CustomOpDef(function))
            return original(name, function, **more)

        return register if function is None else register(function)

    return make


def _named(name: str, made: CustomOpDef) -> CustomOpDef:
    """The operator, which ``torch.ops`` gives by its name unless that is one of a library's."""
    space, _, short = name.partition("::")
    known = getattr(torch.ops, space)
    if short.isidentifier() and isinstance(getattr(known, short, made), CustomOpDef):
        setattr(known, short, made)
    return made


def _of(function: Any, candidate: str) -> bool:
    """Whether a function, or what it wraps, is the candidate's."""
    while hasattr(function, "fn"):
        function = function.fn
    return getattr(function, "__globals__", {}).get("__name__") == candidate

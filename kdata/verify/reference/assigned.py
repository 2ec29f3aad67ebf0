"""Inputs that a reference assigns to: a cache in which it puts what it was given. In its child only.

What an operator changes in place on its way (``x.relu_()``) no kernel needs to change; but where other numbers, that do
not follow from what stood there, are put in an input, and that is not handed back, they are what the next call finds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from kdata.verify.exchange.guards import storage_of
from kdata.verify.reference.values import same

# Operators that put something in the place of what stands there, and which of their arguments that is.
ASSIGNS = {"copy_": 1, "index_put_": 2, "_index_put_impl_": 2, "index_copy_": 3, "scatter_": 3, "masked_scatter_": 2}
ADDS = 3  # the argument that says of ``index_put_`` that it adds


class Assigned(TorchDispatchMode):
    """Notes while operators run in which memory one puts what does not follow from what is there."""

    def __init__(self) -> None:
        super().__init__()
        self._from: dict[int, set[int]] = {}  # of each memory, which memory its numbers follow from
        self._alive: list[Any] = []  # none of it is given to another one meanwhile
        self._memory: set[int] = set()

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = str(function).split(".")[1]
        if name in ASSIGNS:
            self._note(name, args)
        out = function(*args, **(kwargs or {}))
        given = [t for t in tree_leaves((args, kwargs)) if isinstance(t, Tensor)]
        follows = set[int]().union(*map(self._follows, given))
        for made in tree_leaves(out):
            if isinstance(made, Tensor):
                self._follows(made).update(follows)
        return out

    def _follows(self, tensor: Tensor) -> set[int]:
        storage = storage_of(tensor)
        key: int = storage._cdata
        if key not in self._from:
            self._alive.append(storage)
            self._from[key] = {key}
        return self._from[key]

    def _note(self, name: str, args: Any) -> None:
        source = args[ASSIGNS[name]] if len(args) > ASSIGNS[name] else None
        adds = name.endswith(("put_", "put_impl_")) and len(args) > ADDS and args[ADDS]
        if isinstance(source, Tensor) and source.numel() > 1 and not adds:
            place: int = storage_of(args[0])._cdata
            self._follows(args[0])
            if place not in self._follows(source):
                self._memory.add(place)

    def among(self, held: Any, outputs: Any) -> list[int]:
        """Which of the tensors that a call was given these are, by their order, but for what it returns."""
        returned = {storage_of(t)._cdata for t in tree_leaves(outputs) if isinstance(t, Tensor)}
        tensors = [t for t in tree_leaves(held) if isinstance(t, Tensor)]
        return [n for n, t in enumerate(tensors) if storage_of(t)._cdata in self._memory - returned]


def assigned(call: Callable[[], tuple[Any, Any, Any]], inputs: Any, held: Any) -> dict[str, list[int]]:
    """Which of the inputs a ``call`` assigns to; nothing where ``held`` are ``inputs`` still.

    ``call`` gives what it returns, a module, and its copies of the inputs.
    """
    try:
        if same(held, inputs):
            return {}
        with torch.no_grad(), Assigned() as seen:
            outputs, _, copies = call()
        return {"assigned": seen.among(copies, outputs)}
    except Exception:  # noqa: BLE001 - tensors without memory of their own: nothing is known
        return {}

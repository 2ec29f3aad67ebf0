"""Which other indices a reference might have named of what is equal. In the reference's child only.

``torch.argsort(labels)`` does not promise an order among labels that are equal, of which there are many: at every place
any of them will do, each once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from kdata.verify.reference.ties import chooses, dimension
from kdata.verify.reference.values import integral

COPIES = frozenset({torch.ops.aten._to_copy, torch.ops.aten.clone})


@dataclass(frozen=True, slots=True)
class Chosen:
    """Indices, the row of ``classes`` [rows, elements of a row] of each, and in these equal numbers for equal ones."""

    indices: Tensor
    rows: Tensor
    classes: Tensor


class Choices(TorchDispatchMode):
    """Notes while operators run what indices they name, be these copied then or looked at in part."""

    def __init__(self) -> None:
        super().__init__()
        self._chosen: list[Chosen] = []

    def __torch_dispatch__(self, function: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None) -> Any:
        out = function(*args, **(kwargs or {}))
        if function._schema.is_mutable and self._chosen:
            self._forget(function, args, kwargs or {})
        if chooses(function, args, kwargs or {}) and args[0].numel():
            self._note(args[0], out[1], dimension(function, args, kwargs or {}))
        elif function.overloadpacket in COPIES and integral(out) and (found := self._of(args[0])):
            rows = torch.empty_strided(out.shape, out.stride(), dtype=torch.int64).copy_(found.rows)
            self._chosen.append(Chosen(out, rows, found.classes))
        return out

    def of(self, outputs: Any) -> list[Any]:
        """Of each output that is such indices the rows, and the classes; nothing where there is none."""
        found = {id(t): self._of(t) for t in tree_leaves(outputs) if integral(t)} if self._chosen else {}
        if not any(found.values()):
            return []
        rows, classes = (
            tree_map(lambda t, part=part: getattr(found.get(id(t)), part, None), outputs)
            for part in ("rows", "classes")
        )
        return [rows, classes]

    def _note(self, given: Tensor, indices: Tensor, dim: int) -> None:
        line, named = (given, indices) if given.ndim else (given[None], indices[None])
        ordered = line.movedim(dim, -1).reshape(-1, line.shape[dim])
        classes = _classes(ordered)
        if bool((classes.amax(-1) == ordered.shape[-1] - 1).all()):
            return  # none are equal
        kept = named if named.ndim == line.ndim else named.unsqueeze(dim)
        number = torch.arange(len(ordered)).reshape(kept.movedim(dim, -1)[..., :1].shape).movedim(-1, dim)
        rows = torch.empty_strided(indices.shape, indices.stride(), dtype=torch.int64)
        self._chosen.append(Chosen(indices, rows.copy_(number.expand(kept.shape).reshape(indices.shape)), classes))

    def _forget(self, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        """What an operator writes to names something else then: ``indices += offset`` is beyond the row, even."""
        given = {a.name: value for a, value in zip(function._schema.arguments, args, strict=False)} | kwargs
        written = [given.get(a.name) for a in function._schema.arguments if a.is_write]
        memory = {t.untyped_storage().data_ptr() for t in tree_leaves(written) if integral(t)}
        self._chosen = [c for c in self._chosen if c.indices.untyped_storage().data_ptr() not in memory]

    def _of(self, tensor: Tensor) -> Chosen | None:
        """What is known of a tensor that may be a part of noted indices."""
        for chosen in self._chosen:
            own = chosen.indices
            if own.dtype == tensor.dtype and own.untyped_storage().data_ptr() == tensor.untyped_storage().data_ptr():
                offset = tensor.storage_offset() - own.storage_offset()
                return Chosen(tensor, chosen.rows.as_strided(tensor.shape, tensor.stride(), offset), chosen.classes)
        return None


def _classes(rows: Tensor) -> Tensor:
    """For each element of a row how many other values are before its own, in order; NaN is unlike all others."""
    ordered, places = rows.sort(-1)
    begins = torch.ones(rows.shape, dtype=torch.int64)
    begins[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    return torch.empty_like(places).scatter_(-1, places, begins.cumsum(-1) - 1)

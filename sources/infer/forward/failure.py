"""A failed call of ``forward``, as the rules that mend inputs see it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from sources.infer.forward.usual_shapes import shaped
from sources.infer.inputs import Spec, Specs, Tensor, all_tensors, edited, parameters, positional

# Of two tensors that meet in one operator: sizes that have to be equal.
APART = re.compile(r"tensor a \((\d+)\) must match the size of tensor b \((\d+)\)")
# The shape that a view is to have, and how many elements there are.
VIEWED = re.compile(r"shape '\[([-\d, ]+)\]' is invalid for input of size (\d+)")
NO_TENSOR = "no tensor among the outputs"  # the message of a call that came to its end without one
APART_COST = 0.1  # of one tensor that is replaced where others are like it
Change = tuple[float, Specs]  # cost and new inputs


@dataclass(slots=True)
class Failure:
    """One failed call: its inputs, the error, and the last torch function that was called."""

    specs: Specs
    message: str  # "ValueError: ..."
    module: nn.Module
    function: str = ""
    arguments: tuple[Any, ...] = ()
    given: Sequence[int] = ()  # where the values of each tensor among the inputs lie in memory, see ``Progress``
    of_rank: dict[int, Tensor] = field(default_factory=dict)  # see ``shaped``: those that are known
    _names: list[str] = field(default_factory=list, init=False)  # see ``names``: each input is asked for its own

    def shaped(self, rank: int) -> Tensor:
        """See ``shaped``: that looks through the whole module."""
        if rank not in self.of_rank:
            self.of_rank[rank] = shaped(self.module, rank)
        return self.of_rank[rank]

    def of_shape(self, tensor: Any) -> Iterator[tuple[tuple[int, ...], Tensor]]:
        """Inputs that have the shape of an operator's argument: most likely they are it."""
        if isinstance(tensor, torch.Tensor):
            yield from ((p, t) for p, t in all_tensors(self.specs) if t.shape == tuple(tensor.shape))

    def from_input(self, tensor: Any) -> Iterator[tuple[tuple[int, ...], Tensor]]:
        """The input that an operator's argument is, or a view of it: it lies in the same memory."""
        if isinstance(tensor, torch.Tensor) and not tensor.is_meta and tensor.layout == torch.strided:
            at = tensor.untyped_storage().data_ptr()
            for place, (path, t) in zip(self.given, all_tensors(self.specs), strict=False):
                if place == at != 0:
                    yield path, t

    def names(self) -> list[str]:
        """What forward calls its inputs, those that it may do without included."""
        if not self._names:
            found = [p.name for p in parameters(self.module.forward)]
            if len(found) < len(self.specs):
                found = positional(self.module.forward) or found
            self._names = (found or ["x"]) + ["x"] * (len(self.specs) - len(found))
        return self._names

    def with_tensor(self, path: tuple[int, ...], new: Spec, cost: float) -> Change:
        return cost, edited(self.specs, path, new)

    def with_alike(self, path: tuple[int, ...], new: Spec, cost: float) -> Iterator[Change]:
        """A tensor replaced, and all that are like it, once: two images, say, are of one size."""
        found = all_tensors(self.specs)
        old = dict(found)[path]
        alike = [p for p, t in found if t == old]
        if len(alike) > 1 and path == alike[0]:
            specs = self.specs
            for other in alike:
                specs = edited(specs, other, new)
            yield cost, specs
        yield self.with_tensor(path, new, cost + (APART_COST if len(alike) > 1 else 0))

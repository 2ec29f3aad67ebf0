"""A call at sizes that are too large to compute: on tensors without memory, while no kernel runs. In children only.

What a wrapper does shows all the same: which kernels it launches with which numbers, and what it leaves to torch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._pytree import tree_map_only

from kdata.task import Program
from kdata.verify.candidate.allowed import SCALARS, Watch
from kdata.verify.candidate.launches import Ledger
from kdata.verify.exchange.wire import Outline, Reader

ONE = {torch.bool: True, torch.float64: 1.0, torch.float32: 1.0, torch.float16: 1.0, torch.bfloat16: 1.0}


@dataclass(frozen=True, slots=True)
class _Unseen:
    """An operator that asks tensors where they are, and is told the truth."""

    function: Any
    ledger: Ledger

    def __str__(self) -> str:
        return str(self.function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with self.ledger.move():
            return self.function(*args, **kwargs)


class Unfilled(Watch):
    """A watch over tensors without memory: a number that is read from one is 1."""

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if function is not torch.ops.aten._local_scalar_dense.default:
            return super().__torch_dispatch__(_Unseen(function, self._ledger), types, args, kwargs)
        self.scalars += 1
        if self.scalars > SCALARS:
            self.called["aten._local_scalar_dense"] = None
        return ONE.get(args[0].dtype, 1)

    def _truncates(self, args: Any, result: Tensor) -> bool:
        return False

    def _poisoned(self, tensor: Tensor) -> Tensor:
        return tensor


class Blank(Reader):
    """Makes values of nodes whose tensors have no elements."""

    def _tensor(self, index: int) -> Tensor:
        entry = self._manifest[index]
        dtype = getattr(torch, entry["dtype"])
        return torch.empty_strided(entry["shape"], entry["strides"], dtype=dtype, device="meta")


def outlined(program: Program, entry_point: str, train: bool) -> dict[str, Any]:
    """What a task's forward is given and what it returns at its own sizes, and how many elements it is given."""
    with FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad():
        positional, keyword = program.arguments()
        module = program.namespace[entry_point](*positional, **keyword)
        inputs = program.inputs()
        outputs = (module if train else module.eval())(*inputs)
    writer = Outline()
    nodes = {name: writer.write(tree_map_only(Tensor, _hollow, value)) for name, value in
             (("args", positional), ("kwargs", keyword), ("inputs", inputs), ("outputs", outputs))}  # fmt: skip
    return nodes | {"manifest": writer.manifest}


def _hollow(tensor: Tensor) -> Tensor:
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")

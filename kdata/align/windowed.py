"""Operators over windows that a candidate writes as one kernel each: convolutions and poolings.

Said in views and matmuls they fuse with what stands around them, but their index arithmetic is then the compiler's:
long, and different for every layer.  Kept whole until the text is written (see ``kdata.align.patterns``), each is the
same short program wherever it stands, and what follows it reads sizes off its result.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import sympy
import torch
from torch import Tensor
from torch._dynamo.source import ConstantSource
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv

from kdata.align.patterns import AXES

# It holds the operators for as long as the process lives.
LIBRARY = torch.library.Library("kdata", "DEF")
CONVOLUTION = "torch.ops.kdata.convolution.default"
POOL = "torch.ops.kdata.pool.default"
FLOATS = (torch.float32, torch.float16, torch.bfloat16)
MOST_IMAGES = 65535  # along the third axis of CUDA's grid

# For every traced task, the sizes of what convolutions and poolings make that are no size of the task's already.
_extents: WeakKeyDictionary[ShapeEnv, dict[Any, tuple[torch.SymInt, str]]] = WeakKeyDictionary()

LIBRARY.define(
    "convolution(Tensor x, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation, "
    "bool transposed, SymInt[] output_padding, SymInt groups) -> Tensor"
)
LIBRARY.define(
    "pool(Tensor x, str kind, SymInt[] kernel_size, SymInt[] stride, SymInt[] padding, SymInt[] dilation) -> Tensor"
)


def convolution(
    x: Tensor, weight: Tensor, bias: Tensor | None, stride: Sequence[Any], padding: Sequence[Any],
    dilation: Sequence[Any], transposed: bool, output_padding: Sequence[Any], groups: Any,
) -> Any:  # fmt: skip
    """``aten.convolution`` of ``[N, C, *spatial]``, kept whole; NotImplemented where its kernel does not serve."""
    images = _hint(x.shape[0]) * _hint(groups)
    depthwise = _hint(groups) == _hint(x.shape[1]) and _hint(weight.shape[1]) == 1
    if x.dtype not in FLOATS or (images > MOST_IMAGES and not depthwise):
        return NotImplemented
    return torch.ops.kdata.convolution(
        x.contiguous(), weight.contiguous(), None if bias is None else bias.contiguous(),
        stride, padding, dilation, transposed, output_padding, groups,
    )  # fmt: skip


def pool(
    x: Tensor, kind: str, kernel: Sequence[Any], stride: Sequence[Any], padding: Sequence[Any], dilation: Sequence[Any]
) -> Any:
    """A pooling of ``[N, C, *spatial]``, kept whole: "max", "avg", or "avg_inside", whose padding does not count."""
    if x.dtype not in FLOATS:
        return NotImplemented
    return torch.ops.kdata.pool(x.contiguous(), kind, kernel, stride, padding, dilation)


def _hint(size: Any) -> int:
    """A size's value in the task's own text."""
    return int(size.node.hint) if isinstance(size, torch.SymInt) else int(size)


def positions(size: Any, kernel: Any, stride: Any, padding: Any, dilation: Any) -> Any:
    """How many windows there are along one axis; for integers, torch's symbols."""
    return (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1


@torch.library.register_fake("kdata::convolution", lib=LIBRARY)  # type: ignore[untyped-decorator]
def _convolved(
    x: Tensor, weight: Tensor, bias: Tensor | None, stride: Sequence[Any], padding: Sequence[Any],
    dilation: Sequence[Any], transposed: bool, output_padding: Sequence[Any], groups: Any,
) -> Tensor:  # fmt: skip
    axes = zip(x.shape[2:], weight.shape[2:], stride, padding, dilation, output_padding, strict=True)
    if transposed:
        out = [(n - 1) * s - 2 * p + d * (k - 1) + extra + 1 for n, k, s, p, d, extra in axes]
    else:
        out = [positions(n, k, s, p, d) for n, k, s, p, d, _ in axes]
    channels = weight.shape[1] * groups if transposed else weight.shape[0]
    return x.new_empty([x.shape[0], channels, *_extents_of(out)])


@torch.library.register_fake("kdata::pool", lib=LIBRARY)  # type: ignore[untyped-decorator]
def _pooled(
    x: Tensor, kind: str, kernel: Sequence[Any], stride: Sequence[Any], padding: Sequence[Any], dilation: Sequence[Any]
) -> Tensor:
    axes = zip(x.shape[2:], kernel, stride, padding, dilation, strict=True)
    return x.new_empty([*x.shape[:2], *_extents_of([positions(*axis) for axis in axes])])


def _extents_of(sizes: Sequence[Any]) -> list[Any]:
    """Sizes as symbols of their own: in what follows, ``out_height`` is a size and not a formula of the input's."""
    return [_extent(size, f"out_{name}") for size, (name, _) in zip(sizes, AXES[len(sizes)], strict=True)]


def _extent(size: Any, name: str) -> Any:
    if not isinstance(size, torch.SymInt) or isinstance(size.node.expr, sympy.Symbol) or size.node.hint < 2:
        return size
    environment: ShapeEnv = size.node.shape_env
    made = _extents.setdefault(environment, {})
    expression, value = size.node.expr, size.node.hint
    if expression not in made:
        source = ConstantSource(f"{name}_{len(made)}")
        symbol = environment.create_symbol(value, source=source, dynamic_dim=DimDynamic.DYNAMIC, constraint_dim=None)
        created = environment.create_symintnode(symbol, hint=value, source=source)
        assert isinstance(created, torch.SymInt)
        made[expression] = created, name
    return made[expression][0]


def extents(environment: ShapeEnv) -> dict[sympy.Symbol, str]:
    """The symbols of sizes that a task's convolutions and poolings made, in order, and what they are."""
    return {size.node._expr: name for size, name in _extents.get(environment, {}).values()}


def is_wide(*tensors: Sequence[int]) -> bool:
    """Whether an index into one of these shapes needs 64 bits."""
    return any(math.prod(shape) >= 2**31 for shape in tensors)

"""Functions that ask a symbolic size for its value, replaced while a task is traced by ones that do not.

ATen's own recurrent cells, ``max_pool1d`` and the initialisation of parameters would turn symbols into numbers.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import numpy as np
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx.experimental import proxy_tensor
from torch.nn.modules import rnn
from torch.utils._sympy import functions

from kdata.align.whole import Real, ceil, floor

_plain_square_root, _plain_linspace = math.sqrt, torch.linspace
POOLS = (("avg_pool1d", 1, torch.mean), ("avg_pool2d", 2, torch.mean), ("avg_pool3d", 3, torch.mean),
         ("max_pool2d", 2, torch.amax), ("max_pool3d", 3, torch.amax))  # fmt: skip
NUMPY = {"sqrt": torch.sym_sqrt, "power": operator.pow, "prod": math.prod, "floor": floor, "ceil": ceil}
_plain_deep_copy = torch.Tensor.__deepcopy__
_plain_group_norm, _plain_one_hot = nn.functional.group_norm, nn.functional.one_hot


def _square_root(x: Any) -> Any:
    return torch.sym_sqrt(x) if isinstance(x, torch.SymInt | torch.SymFloat) else _plain_square_root(x)


def _of_numpy(name: str, symbolic: Callable[..., Any]) -> Callable[..., Any]:
    """Numpy's function, with another for symbolic numbers, of which it would make an array of objects."""
    plain = getattr(np, name)

    def function(x: Any, *arguments: Any, **keywords: Any) -> Any:
        parts = x if isinstance(x, list | tuple) else (x,)
        is_symbolic = any(isinstance(part, torch.SymInt | torch.SymFloat) for part in parts)
        return symbolic(x, *arguments) if is_symbolic and not keywords else plain(x, *arguments, **keywords)

    return function


def _nothing(module: nn.Module) -> None:
    """In place of drawing parameters."""


def _deep_copy(tensor: torch.Tensor, memo: dict[int, Any]) -> torch.Tensor:
    """Torch's own asks where the memory lies: of what ``copy.deepcopy(layer)`` holds, as stacks of layers are made."""
    if not isinstance(tensor, FakeTensor):
        copied: torch.Tensor = _plain_deep_copy(tensor, memo)
    elif id(tensor) in memo:
        copied = memo[id(tensor)]
    else:
        copied = tensor.detach().clone()
        if isinstance(tensor, nn.Parameter):
            copied = nn.Parameter(copied, tensor.requires_grad)
        memo[id(tensor)] = copied
    return copied


def _apply(module: nn.Module, change: Callable[[torch.Tensor], torch.Tensor], recurse: bool = True) -> nn.Module:
    """``half()`` and its like, with new parameters: torch would swap tensors that the tracer holds on to."""
    for child in module.children() if recurse else ():
        child._apply(change)
    for name, parameter in module._parameters.items():
        if parameter is not None:
            module._parameters[name] = nn.Parameter(change(parameter), parameter.requires_grad)
    for name, buffer in module._buffers.items():
        if buffer is not None:
            module._buffers[name] = change(buffer)
    return module


def _lstm_cell(x: torch.Tensor, state: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Any:
    """Like the other cells below: ATen's own ask for the hidden size as a number."""
    h, c = state
    gates = nn.functional.linear(x, w_ih, b_ih) + nn.functional.linear(h, w_hh, b_hh)
    i, f, g, o = gates.chunk(4, 1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def _gru_cell(x: torch.Tensor, h: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Any:
    r, z, n = nn.functional.linear(x, w_ih, b_ih).chunk(3, 1)
    r_h, z_h, n_h = nn.functional.linear(h, w_hh, b_hh).chunk(3, 1)
    z = (z + z_h).sigmoid()
    n = (n + (r + r_h).sigmoid() * n_h).tanh()
    return (h - n) * z + n


def _rnn_cell(activation: str) -> Callable[..., Any]:
    def cell(x: torch.Tensor, h: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Any:
        total = nn.functional.linear(x, w_ih, b_ih) + nn.functional.linear(h, w_hh, b_hh)
        return getattr(torch, activation)(total)

    return cell


def _max_pool1d(
    x: torch.Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """ATen's own asks for the length as a number; in two dimensions it does not."""
    kernel, step, pad, gap = (
        v[0] if isinstance(v, list | tuple) else v for v in (kernel_size, stride, padding, dilation)
    )
    pooled: Any = nn.functional.max_pool2d(  # type: ignore[call-overload]
        x.unsqueeze(-2), (1, kernel), (1, step or kernel), (0, pad), (1, gap), ceil_mode, return_indices
    )
    return tuple(p.squeeze(-2) for p in pooled) if return_indices else pooled.squeeze(-2)


def _linspace(start: Any, end: Any, steps: Any, **options: Any) -> torch.Tensor:
    """ATen's own takes the number of steps as a number."""
    if not isinstance(steps, torch.SymInt):
        return _plain_linspace(start, end, steps, **options)
    kind = options.pop("dtype", None) or torch.get_default_dtype()
    index: torch.Tensor = torch.arange(steps, dtype=kind, **options)  # type: ignore[call-overload]
    line: torch.Tensor = start + index * (end - start) / (steps - 1)
    return torch.where(index == 0, start, line).to(kind)  # a single step has no quotient


def _group_norm(x: torch.Tensor, num_groups: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """ATen's own takes the number of groups as a number."""
    if not isinstance(num_groups, torch.SymInt):
        return _plain_group_norm(x, num_groups, weight, bias, eps)
    grouped = x.reshape(x.shape[0], num_groups, x.shape[1] // num_groups * math.prod(x.shape[2:]))
    variance, mean = torch.var_mean(grouped, -1, correction=0, keepdim=True)
    normal = ((grouped - mean) * torch.rsqrt(variance + eps)).reshape(x.shape)
    for parameter, apply in ((weight, torch.mul), (bias, torch.add)):
        normal = normal if parameter is None else apply(normal, parameter.reshape(1, -1, *[1] * (x.dim() - 2)))
    return normal


def _norm_except_dim(v: torch.Tensor, power: int = 2, dim: int = 0) -> torch.Tensor:
    """ATen's own, which ``weight_norm`` is made of, takes the sizes as numbers."""
    axes = [d for d in range(v.dim()) if d != dim]
    norm: torch.Tensor = torch.linalg.vector_norm(v, power, axes, keepdim=True)
    return norm if dim != -1 else norm.reshape(())


def _one_hot(index: torch.Tensor, num_classes: Any = -1) -> torch.Tensor:
    """ATen's own takes the number of classes as a number."""
    if not isinstance(num_classes, torch.SymInt):
        return _plain_one_hot(index, num_classes)
    classes: Any = torch.arange(num_classes, device=index.device)  # type: ignore[call-overload]
    hot: torch.Tensor = index.unsqueeze(-1) == classes
    return hot.long()


def _pool(plain: Callable[..., Any], dims: int, reduce: Callable[..., Any]) -> Callable[..., Any]:
    """ATen's own take the window as numbers; one that is all of the image needs none."""

    def pool(x: torch.Tensor, kernel_size: Any, *arguments: Any, **keywords: Any) -> Any:
        window = kernel_size if isinstance(kernel_size, list | tuple) else (kernel_size,) * dims
        if any(isinstance(n, torch.SymInt) for n in window) and tuple(x.shape[-dims:]) == tuple(window):
            return reduce(x, list(range(-dims, 0)), keepdim=True)
        return plain(x, kernel_size, *arguments, **keywords)

    return pool


def _teach_tracer() -> None:
    """Let the tracer read numbers that a constructor computes (``dim ** -0.5``) off the symbols.

    Its own table of operators covers those on integers.
    """
    known = proxy_tensor._sympy_handlers()
    known[functions.ToFloat] = torch.sym_float
    known[functions.IntTrueDiv] = operator.truediv
    known[functions.PowByNatural] = operator.pow
    known[functions.OpaqueUnaryFn_sqrt] = torch._sym_sqrt  # type: ignore[attr-defined]


@contextmanager
def symbolic_twins() -> Iterator[None]:
    """Skip the initialisation of parameters, which asks symbolic sizes for their values; keep square roots symbolic."""
    _teach_tracer()
    modules = {c for m in vars(nn).values() if isinstance(m, type) and issubclass(m, nn.Module) for c in m.__mro__}
    with ExitStack() as stack:
        for kind in modules:
            for name in ("reset_parameters", "_reset_parameters"):
                if name in vars(kind):
                    stack.enter_context(mock.patch.object(kind, name, _nothing))
        for name, function in list(vars(nn.init).items()):
            if name.endswith("_") and callable(function) and not name.startswith("_"):
                stack.enter_context(mock.patch.object(nn.init, name, lambda tensor, *a, **k: tensor))
        for module, name, twin in (
            (math, "sqrt", _square_root), (math, "floor", floor), (math, "ceil", ceil), (torch, "linspace", _linspace),
            (torch, "max_pool1d", _max_pool1d), (nn.functional, "max_pool1d", _max_pool1d),
            (nn.functional, "group_norm", _group_norm), (nn.functional, "one_hot", _one_hot),
            (nn.Module, "_apply", _apply), (torch.Tensor, "__deepcopy__", _deep_copy),
        ):  # fmt: skip
            stack.enter_context(mock.patch.object(module, name, twin))
        for name, symbolic in NUMPY.items():
            stack.enter_context(mock.patch.object(np, name, _of_numpy(name, symbolic)))
        weight_norm = sys.modules["torch.nn.utils.weight_norm"]  # whose name in torch.nn.utils is its function's
        stack.enter_context(mock.patch.object(weight_norm, "norm_except_dim", _norm_except_dim))
        for name, dims, reduce in POOLS:
            twin = _pool(getattr(nn.functional, name), dims, reduce)
            stack.enter_context(mock.patch.object(nn.functional, name, twin))
        stack.enter_context(mock.patch.object(nn.functional, "float", Real, create=True))  # a head's size
        stack.enter_context(mock.patch.object(rnn, "int", (int, torch.SymInt), create=True))  # isinstance(n, int)
        cells = {"lstm_cell": _lstm_cell, "gru_cell": _gru_cell, "rnn_tanh_cell": _rnn_cell("tanh"),
                 "rnn_relu_cell": _rnn_cell("relu")}  # fmt: skip
        for name, cell in cells.items():
            stack.enter_context(mock.patch.object(torch._VF, name, cell))
        yield

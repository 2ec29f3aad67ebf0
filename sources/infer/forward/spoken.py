"""What the sides of a test speak of: ranks and sizes of tensors, and the values of these.

Only its syntax is read, with the values that names have where it stands; nothing of the program is called.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import torch
from torch import nn

from sources.infer.forward.usual_shapes import shaped
from sources.infer.inputs import Tensor

MAX_RANK = 6
Place = tuple[tuple[int, ...], int | None]  # of what a side is: a tensor's shape, and which size of it; None: its rank


def shape(node: ast.expr, values: Mapping[str, Any]) -> tuple[int, ...] | None:
    """The shape that ``x.shape`` or ``x.size()`` is, where x is a tensor, or one that is written as a tuple."""
    if isinstance(node, ast.Tuple):
        sizes = [value(size, values) for size in node.elts]
        return tuple(sizes) if all(type(size) is int and size > 0 for size in sizes) else None
    name, _, asked = ast.unparse(node).partition(".")
    tensor = values.get(name)
    return tuple(tensor.shape) if asked in ("shape", "size()") and isinstance(tensor, torch.Tensor) else None


def changed(t: Tensor, dimension: int | None, value: int, module: nn.Module) -> Tensor | None:
    """A tensor of another rank, or with another size in one dimension; None where there is none such."""
    if dimension is None:
        return replace(shaped(module, value), kind=t.kind, high=t.high) if 0 < value <= MAX_RANK else None
    return t.resized(dimension % len(t.shape), value) if 0 < value <= 1 << 12 and t.shape else None


def place(node: ast.expr, values: Mapping[str, Any]) -> Place | None:
    """What ``x.dim()``, ``len(x.shape)``, ``x.size(1)`` or ``x.shape[1]`` speaks of."""
    owner, dimension = of_tensor(node, values)
    tensor = values.get(owner)
    return (tuple(tensor.shape), dimension) if isinstance(tensor, torch.Tensor) else None


def of_tensor(node: ast.expr, values: Mapping[str, Any] = MappingProxyType({})) -> tuple[str, int | None]:
    """The name of a tensor, and the number of the size that is asked for: None for the rank; "" where it is neither."""
    text = ast.unparse(node)
    for start, end in ((0, ".dim()"), (0, ".ndim"), (0, ".ndimension()"), (4, ".shape)"), (4, ".size())")):
        if text.endswith(end) and text[start : -len(end)].isidentifier() and (not start or text.startswith("len(")):
            return text[start : -len(end)], None
    if isinstance(node, ast.Call) and len(node.args) == 1:
        number, holder = node.args[0], ast.unparse(node.func)
    elif isinstance(node, ast.Subscript):
        number, holder = node.slice, ast.unparse(node.value)
    else:
        return "", None
    name, _, asked = holder.partition(".")
    try:
        found = ast.literal_eval(number)
    except ValueError:
        found = value(number, values) if isinstance(number, ast.Name | ast.Attribute) else None
    return (name, found) if asked in ("size", "shape", "size()") and type(found) is int else ("", None)


def value(node: ast.expr, values: Mapping[str, Any]) -> Any:
    """A constant, what a name or an attribute holds, ``self.conf.width``, a rank or size of a tensor; else None.

    And the product of such numbers, or a tuple of them.
    """
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Tuple):  # ``assert x.shape[1:] == (self.channels, self.size)``
        return tuple(value(part, values) for part in node.elts)
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "len" and len(node.args) == 1:
        held = value(node.args[0], values)
        counted = isinstance(held, list | tuple | dict | nn.ModuleList | nn.Sequential)
        if counted or isinstance(held, torch.Tensor) and held.dim():
            return len(held)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):  # ``assert length == height * width``
        sides = value(node.left, values), value(node.right, values)
        return sides[0] * sides[1] if all(type(side) is int for side in sides) else None
    owner, dimension = of_tensor(node, values)
    tensor = values.get(owner)
    if isinstance(tensor, torch.Tensor):
        rank = tensor.dim()
        return rank if dimension is None else tensor.shape[dimension] if -rank <= dimension < rank else None
    if isinstance(node, ast.Name):
        return values.get(node.id)
    if isinstance(node, ast.Attribute):
        owner_of = value(node.value, values)
        held = getattr(owner_of, "__dict__", {}).get(node.attr)
        if held is None and isinstance(owner_of, nn.Module):
            return owner_of._buffers.get(node.attr, owner_of._modules.get(node.attr))
        return held
    return None

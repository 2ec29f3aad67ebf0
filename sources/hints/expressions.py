"""What simple expressions of a program were when it failed, and what they are called: nothing is called for that."""

from __future__ import annotations

import ast
import enum
import operator
from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from sources.infer.constructor.configs import Config

_COMPUTED = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
             ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow}  # fmt: skip
MAX_POWER = 16  # exponents of sizes: what is raised to more is none
_PLAIN = (dict, list, tuple, str, int, float)  # what a class says for all that are made of it, no property
_TENSORS = (torch.Tensor, nn.Parameter)  # and no class of the program's, which may answer in its own way
MISSING = object()  # of what is not known


def named(node: ast.expr) -> str:
    """What something is called: the last part of a dotted name, the key of an item, what a method is called on."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return str(node.slice.value)
    if isinstance(node, ast.Call):
        inner = node.func.value if isinstance(node.func, ast.Attribute) else node.args[0] if node.args else node
        return named(inner) if inner is not node else ""
    return node.id if isinstance(node, ast.Name) else ""


def value(node: ast.expr, values: Mapping[str, Any]) -> Any:
    """What a simple expression was when the program failed: nothing of the program is called for it."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return values.get(node.id, MISSING)
    if isinstance(node, ast.Attribute):
        return _held(value(node.value, values), node.attr)
    if isinstance(node, ast.Subscript):
        owner, key = value(node.value, values), value(node.slice, values)
        inside = isinstance(owner, list | tuple) and type(key) is int and -len(owner) <= key < len(owner)
        return owner[key] if inside else MISSING
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        items = [value(e, values) for e in node.elts]
        return MISSING if any(i is MISSING for i in items) else items
    if isinstance(node, ast.Dict):  # what is looked up in it are its keys: what they stand for may have to be made
        keys = [MISSING if key is None else value(key, values) for key in node.keys]
        return MISSING if any(k is MISSING or k.__hash__ is None for k in keys) else dict.fromkeys(keys)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "keys":
        return value(node.func.value, values)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("size", "dim"):
        return _measured(value(node.func.value, values), node.func.attr, [value(a, values) for a in node.args])
    if is_length(node) and isinstance(node, ast.Call):
        inner = value(node.args[0], values)
        return len(inner) if isinstance(inner, list | tuple | dict | str) else MISSING
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _computed(ast.Sub(), 0, value(node.operand, values))
    if isinstance(node, ast.BinOp) and type(node.op) in _COMPUTED:
        return _computed(node.op, value(node.left, values), value(node.right, values))
    return MISSING


def _held(owner: Any, name: str) -> Any:
    """An attribute of something that is there already; of a configuration, what it answered when it was asked."""
    if isinstance(owner, Config):
        return owner.answered(name, MISSING)
    if isinstance(owner, enum.EnumMeta):
        return owner.__members__.get(name, MISSING)
    if owner is MISSING:
        return MISSING
    if type(owner) in _TENSORS:
        return {"shape": tuple(owner.shape), "ndim": owner.dim()}.get(name, MISSING)
    own = getattr(owner, "__dict__", {})
    if isinstance(owner, nn.Module) and name not in own:
        own = {n: v for kept in ("_parameters", "_buffers", "_modules") for n, v in own.get(kept, {}).items()} | own
    kinds = owner.__mro__ if isinstance(owner, type) else type(owner).__mro__
    said = next((vars(kind)[name] for kind in kinds if name in vars(kind)), MISSING)
    return own.get(name, said if isinstance(said, _PLAIN) else MISSING)  # ``self.widths[name]``, a table of the class


def _measured(owner: Any, asked: str, given: list[Any]) -> Any:
    """What a tensor answers that is asked for its ``size``, of one dimension or of all, or for how many these are."""
    if type(owner) not in _TENSORS:
        return MISSING
    if asked == "dim":
        return owner.dim()
    sizes = tuple(owner.shape)
    inside = len(given) == 1 and type(given[0]) is int and -len(sizes) <= given[0] < len(sizes)
    return sizes[given[0]] if inside else MISSING if given else sizes


def _computed(op: ast.operator, left: Any, right: Any) -> Any:
    """What an operator makes of two numbers: ``3 * size ** 2``, ``n_fft // 2 + 1``."""
    if type(left) not in (int, float) or type(right) not in (int, float):
        return MISSING
    if not right and isinstance(op, ast.Div | ast.FloorDiv | ast.Mod):
        return MISSING
    if isinstance(op, ast.Pow) and (not 0 <= right <= MAX_POWER or left < 0):
        return MISSING
    return _COMPUTED[type(op)](left, right)


def is_length(node: ast.expr) -> bool:
    """Whether an expression is ``len(...)``."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" and bool(node.args)

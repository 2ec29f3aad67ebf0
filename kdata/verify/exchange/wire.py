"""Values between processes that do not trust each other: a JSON tree, and one file of raw tensor bytes.

Imported by both kinds of children, never by the parent (it needs torch); the parent reads the same trees with numpy,
see ``kdata.verify.evidence.compare``.  A node of the tree is one of::

    {"tensor": i}            the i-th entry of the manifest
    {"list" | "tuple": [..]} {"dict": [[key, node], ..]}
    {"value": plain}         None, bool, int, float, str
    {"torch": "nn.ReLU"}     a class, function or dtype of torch, by its name
"""

from __future__ import annotations

import collections
import math
from collections.abc import Callable, Mapping
from hashlib import blake2b
from types import FunctionType
from typing import Any

import torch

from kdata.verify.exchange.guards import guarded

Node = dict[str, Any]
LARGE = 1 << 18  # bytes of a tensor from which on it is worth a hash to write it once
BETWEEN = 4  # times what a tensor holds may lie between its first element and its last one
_SAMPLE = collections.namedtuple("_SAMPLE", ["first"])
# Kept before any candidate is imported, so that patching torch does not change what is written.
_contiguous, _clone, _view, _detach, _cpu, _strided = (
    torch.Tensor.contiguous,
    torch.Tensor.clone,
    torch.Tensor.view,
    torch.Tensor.detach,
    torch.Tensor.cpu,
    torch.Tensor.as_strided,
)


# What is called when plain values and containers are read.
READING = frozenset({
    "__iter__", "__getitem__", "__len__", "items", "keys", "values", "__float__", "__int__", "__bool__", "__str__",
    "__eq__", "__hash__", "__getattribute__", "__getattr__", "__repr__", "__format__", "__next__",
})  # fmt: skip


class NotPlainError(TypeError):
    """A value that is no plain data, so it cannot travel."""


class Writer:
    """Collects tensors of one process into a manifest and a blob."""

    def __init__(self) -> None:
        self.blob = bytearray()
        self.manifest: list[dict[str, Any]] = []
        self._storages: dict[int, int] = {}
        self._known: dict[bytes, int] = {}  # where large tensors begin, by their hash
        self._keep: list[Any] = []  # a freed storage's address must not be taken for another's

    def write(self, value: Any) -> Node:
        """The node of a value.

        Raises:
            NotPlainError: somewhere in it is what cannot travel.
        """
        if isinstance(value, torch.Tensor):
            return {"tensor": self._tensor(value)}
        if not _inert(type(value)):
            raise NotPlainError(f"a {type(value).__qualname__}, a class of its own")
        if value is None or isinstance(value, bool | int | float | str):
            return {"value": float(value) if isinstance(value, float) else value}
        if isinstance(value, torch.Size):
            return {"tuple": [self.write(int(v)) for v in value]}
        if isinstance(value, list | tuple):
            return {"list" if isinstance(value, list) else "tuple": [self.write(v) for v in value]}
        if isinstance(value, Mapping):
            return {"dict": [[self.write(k), self.write(v)] for k, v in value.items()]}
        if name := _name_in_torch(value):
            return {"torch": name}
        raise NotPlainError(f"a {type(value).__module__}.{type(value).__qualname__}")

    def _tensor(self, tensor: torch.Tensor) -> int:
        entry: dict[str, Any] = {
            "type": type(tensor).__name__,
            "shape": list(tensor.shape),
            "dtype": str(tensor.dtype)[6:],
            "device": tensor.device.type,
        }
        self.manifest.append(entry)
        if type(tensor) not in (torch.Tensor, torch.nn.Parameter) or tensor.layout is not torch.strided:
            return len(self.manifest) - 1
        extra = sorted(tensor.__dict__)
        storage = tensor.untyped_storage().data_ptr()
        self._keep.append(tensor)
        entry |= {"strides": list(tensor.stride()), "storage": self._storages.setdefault(storage, len(self._storages)),
                  "start": tensor.storage_offset(), "item": tensor.element_size(), "attributes": extra,
                  "wide": tensor.is_contiguous()}  # fmt: skip
        entry["offset"], entry["bytes"] = self._store(tensor)
        return len(self.manifest) - 1

    def _store(self, tensor: torch.Tensor) -> tuple[int, int]:
        """Where the elements begin, and how many bytes they are; large ones that stand there already do so once."""
        data = raw(tensor)
        place = len(self.blob)
        if len(data) >= LARGE:
            place = self._known.setdefault(blake2b(data, digest_size=32).digest(), place)
        if place == len(self.blob):
            self.blob += data
        return place, len(data)


class Outline(Writer):
    """Describes values, and leaves the elements of tensors out."""

    def _store(self, tensor: torch.Tensor) -> tuple[int, int]:
        return 0, 0


def _inert(kind: type) -> bool:
    """Whether reading a value of this class runs no code that the candidate wrote."""
    own = [base for base in kind.__mro__ if base.__module__ == "candidate"]
    return not any(name in READING and not _of_namedtuple(part) for base in own for name, part in vars(base).items())


def _of_namedtuple(part: Any) -> bool:
    """Whether it is a method or a field that ``collections.namedtuple`` gives to the classes that it makes."""
    field = type(vars(_SAMPLE)["first"])
    return type(part) is field or (isinstance(part, FunctionType) and part.__globals__ is vars(collections))


def raw(tensor: torch.Tensor) -> bytes:
    """The elements in row-major order."""
    with torch._C.DisableTorchFunction():
        flat = _contiguous(_detach(tensor).resolve_conj().resolve_neg())
        if flat.numel() == 0:
            return b""
        if flat.untyped_storage().nbytes() != flat.numel() * flat.element_size():
            flat = _clone(flat)
        flat = _strided(_cpu(flat), (flat.numel(),), (1,))  # one element may have any stride
        return bytes(_view(flat, torch.uint8).numpy())


class Reader:
    """Makes values of nodes. Each tensor is made anew, between guard bars."""

    def __init__(self, manifest: list[dict[str, Any]], blob: bytes, device: str = "cpu") -> None:
        self._manifest, self._blob, self._device = manifest, blob, device

    def read(self, node: Node) -> Any:
        """The value of a node."""
        kind, content = next(iter(node.items()))
        readers: dict[str, Callable[[Any], Any]] = {
            "tensor": self._tensor, "value": lambda v: v, "torch": _from_torch,
            "list": lambda v: [self.read(n) for n in v], "tuple": lambda v: tuple(self.read(n) for n in v),
            "dict": lambda v: {self.read(k): self.read(n) for k, n in v},
        }  # fmt: skip
        return readers[kind](content)

    def _tensor(self, index: int) -> torch.Tensor:
        entry = self._manifest[index]
        dtype = getattr(torch, entry["dtype"])
        strides = entry["strides"] if _apart(entry["shape"], entry["strides"]) else None
        tensor = guarded(entry["shape"], strides, dtype, self._device)
        if entry["bytes"]:
            data = bytearray(self._blob[entry["offset"] : entry["offset"] + entry["bytes"]])
            tensor.copy_(torch.frombuffer(data, dtype=dtype).reshape(entry["shape"]))
        return torch.nn.Parameter(tensor, requires_grad=False) if entry["type"] == "Parameter" else tensor


def _apart(shape: list[int], strides: list[int]) -> bool:
    """Whether no two elements share memory, in some order of the dimensions, and little of it lies between them."""
    extent = 1
    for stride, size in sorted(zip(strides, shape, strict=True)):
        if size != 1 and stride < extent:
            return False
        extent += stride * (size - 1)
    return 0 not in shape and extent <= BETWEEN * math.prod(shape)


def _name_in_torch(value: Any) -> str:
    """``nn.ReLU`` for torch.nn.ReLU; "" for what cannot be found by such a name."""
    if isinstance(value, torch.dtype | torch.memory_format):
        return str(value)[6:]
    if isinstance(value, torch.device):
        return f"device:{value}"
    for prefix, space in (("nn.", torch.nn), ("nn.functional.", torch.nn.functional), ("", torch)):
        name = getattr(value, "__name__", "")
        if name and getattr(space, name, None) is value:
            return prefix + name
    return ""


def _from_torch(name: str) -> Any:
    if name.startswith("device:"):
        return torch.device(name.removeprefix("device:"))
    value: Any = torch
    for part in name.split("."):
        value = getattr(value, part)
    return value

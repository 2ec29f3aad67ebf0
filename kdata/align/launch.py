"""Launchers: for every kernel a Python function of tensors to tensors, which sizes, allocates and launches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy

from kdata.align import symbols
from kdata.align.kernel import Written


@dataclass(frozen=True, slots=True)
class Buffer:
    """A tensor of the forward: its sizes and strides over the task's sizes, its dtype ("torch.float32")."""

    name: str
    size: tuple[Any, ...]
    stride: tuple[Any, ...]
    dtype: str

    @property
    def is_contiguous(self) -> bool:
        return is_contiguous(self.size, self.stride)


@dataclass(slots=True)
class Call:
    """One launch: what the kernel's pointers and integer arguments are."""

    kernel: Written
    tensors: list[Buffer]  # one a pointer, in order
    offsets: list[Any]  # elements into the tensor, one a pointer
    fresh: set[str]  # names of the tensors that the launcher allocates
    values: dict[str, Any]  # Inductor's integer arguments -> expressions over the task's sizes


@dataclass(slots=True)
class Launcher:
    """The text of a launcher and how it is called."""

    text: str
    parameters: list[str]
    extra: list[Any]  # sizes that no tensor's shape tells: passed as integers
    outputs: list[str]


def is_contiguous(size: Sequence[Any], stride: Sequence[Any]) -> bool:
    """Whether the strides are those of a dense row-major tensor; those of single elements do not matter."""
    expected: Any = sympy.Integer(1)
    for n, step in zip(reversed(size), reversed(stride), strict=True):
        if n != 1 and sympy.expand(step - expected) != 0:
            return False
        expected = expected * n
    return True


def write(call: Call, name: str, names: Mapping[str, str], known: Mapping[str, str]) -> Launcher:
    """The launcher of one call.

    ``names`` say what each tensor is called inside, ``known`` what each size symbol is called.
    """
    kernel = call.kernel
    inputs: list[Buffer] = []
    outputs: list[Buffer] = []
    for tensor in call.tensors:
        side = outputs if tensor.name in call.fresh else inputs
        if tensor.name not in (t.name for t in side):
            side.append(tensor)
    sizes = [(argument, symbols.tidy(symbols.substitute(value, call.values))) for argument, value in kernel.sizes]
    grid = [(symbols.tidy(symbols.substitute(n, call.values)), block) for n, block in kernel.grid]
    counted = {v: f"{names[t.name]}.numel()" for v in [*(v for _, v in sizes), *(n for n, _ in grid)]
               if (t := _filled(v, [*outputs, *inputs])) is not None}  # fmt: skip
    wanted = [v for v in [*(v for _, v in sizes), *(n for n, _ in grid)] if v not in counted]
    wanted += [d for t in outputs for d in _plain_dims(t, inputs)]
    wanted += call.offsets
    binding = Binding(known)
    lines = binding.bind(wanted, [(names[t.name], t) for t in inputs])
    lines += [f"{names[t.name]} = {allocate(t, inputs, names, known)}" for t in outputs]
    lines += _launch(call, names, known, sizes, grid, counted)
    if outputs:
        lines.append("return " + ", ".join(names[t.name] for t in outputs))
    parameters = [names[t.name] for t in inputs]
    last = [] if inputs else ["device"]
    head = f"def {name}({', '.join([*parameters, *(known[str(s)] for s in binding.missing), *last])}):"
    text = "\n    ".join([head, *lines])
    return Launcher(text, [*parameters, *last], binding.missing, [t.name for t in outputs])


def _filled(size: Any, tensors: Sequence[Buffer]) -> Buffer | None:
    """The tensor of which a size is the number of elements, if that is shorter to say."""
    if not size.is_Mul or len(size.free_symbols) < 2:
        return None
    return next((t for t in tensors if symbols.tidy(sympy.Mul(*t.size)) == size), None)


def _launch(
    call: Call, names: Mapping[str, str], known: Mapping[str, str], sizes: Any, grid: Any, counted: Mapping[Any, str]
) -> list[str]:
    kernel = call.kernel
    blocks = [_programs(n, kernel.blocks.get(b, 1), known, counted) for n, b in grid]
    arguments = [_start(t, o, names[t.name], known) for t, o in zip(call.tensors, call.offsets, strict=True)]
    arguments += [counted.get(v) or render(v, known) for _, v in sizes]
    constants = [f"{b}={n}" for b, n in kernel.blocks.items()]
    return [
        f"grid = ({', '.join(blocks)},)",
        f"{kernel.name}[grid]({', '.join([*arguments, *constants])})",
    ]


def _start(tensor: Buffer, offset: Any, name: str, known: Mapping[str, str]) -> str:
    """The tensor, from an element of its storage on."""
    if offset == 0:
        return name
    if tensor.is_contiguous:
        return f"{name}.view(-1)[{render(offset, known)} :]"
    start = render(offset, known)
    return f"{name}.as_strided(({name}.numel() - ({start}),), (1,), {name}.storage_offset() + {start})"


def _programs(elements: Any, block: int, known: Mapping[str, str], counted: Mapping[Any, str]) -> str:
    """How many blocks cover the elements."""
    if elements.is_Integer:
        return str(-(-int(elements) // block))
    said = counted.get(elements) or render(elements, known)
    return said if block == 1 else f"triton.cdiv({said}, {block})"


def render(expression: Any, known: Mapping[str, str]) -> str:
    """Text of a size under the names it goes by."""
    return symbols.write(symbols.substitute(expression, {k: symbols.symbol(v) for k, v in known.items()}))


@dataclass(slots=True)
class Binding:
    """Which sizes are read off which shapes."""

    known: Mapping[str, str]
    bound: set[Any] = field(default_factory=set)
    missing: list[Any] = field(default_factory=list)

    def bind(self, wanted: Sequence[Any], tensors: Sequence[tuple[str, Buffer]]) -> list[str]:
        """Lines that read every wanted size off the tensors' shapes; those that cannot be are ``missing``."""
        need = {s for w in wanted for s in w.free_symbols}
        lines = [line for name, t in tensors if (line := self._unpack(name, t, need))]
        for name, tensor in tensors:
            lines += self._solve(name, tensor, need)
        self.missing = sorted(need - self.bound, key=str)
        return lines

    def _unpack(self, name: str, tensor: Buffer, need: set[Any]) -> str:
        new = [d.is_Symbol and d in need and d not in self.bound and d not in tensor.size[:i]
               for i, d in enumerate(tensor.size)]  # fmt: skip
        if not any(new):
            return ""
        targets = [self.known[str(d)] if n else "_" for d, n in zip(tensor.size, new, strict=True)]
        self.bound |= {d for d, n in zip(tensor.size, new, strict=True) if n}
        if sum(new) == 1 and len(new) > 1:
            return f"{next(t for t in targets if t != '_')} = {name}.shape[{new.index(True)}]"
        return f"{', '.join(targets)}{',' if len(targets) == 1 else ''} = {name}.shape"

    def _solve(self, name: str, tensor: Buffer, need: set[Any]) -> list[str]:
        """Sizes inside a compound dimension: ``2*n + 1`` tells n."""
        lines: list[str] = []
        for axis, dimension in enumerate(tensor.size):
            unknown = (dimension.free_symbols - self.bound) & need
            if (
                isinstance(dimension, symbols.floordiv)
                and dimension.args[0] in unknown
                and dimension.args[1].is_Integer
            ):
                size = dimension.args[0]  # a grouped dimension: groups divide it, or the module could not exist
                lines.append(f"{self.known[str(size)]} = {name}.shape[{axis}] * {dimension.args[1]}")
                self.bound.add(size)
                continue
            if len(unknown) != 1 or dimension.atoms(sympy.Function):
                continue
            size = unknown.pop()
            slope, offset = dimension.coeff(size), dimension.subs(size, 0)
            others = (slope.free_symbols | offset.free_symbols) - self.bound
            if others or sympy.expand(dimension - slope * size - offset) != 0:
                continue
            solved = symbols.floordiv(
                sympy.Symbol(f"{name}.shape[{axis}]", integer=True, positive=True) - offset, slope
            )
            lines.append(f"{self.known[str(size)]} = {render(solved, self.known)}")
            self.bound.add(size)
        return lines


def _plain_dims(tensor: Buffer, inputs: Sequence[Buffer]) -> tuple[Any, ...]:
    return () if _twin(tensor, inputs) else (*tensor.size, *(() if tensor.is_contiguous else tensor.stride))


def _twin(tensor: Buffer, inputs: Sequence[Buffer]) -> Buffer | None:
    """An input with the same shape, dtype and dense layout."""
    same = (t for t in inputs if t.size == tensor.size and t.dtype == tensor.dtype and t.is_contiguous)
    return next(same, None) if tensor.is_contiguous else None


def allocate(tensor: Buffer, inputs: Sequence[Buffer], names: Mapping[str, str], known: Mapping[str, str]) -> str:
    """The expression that allocates an output."""
    if (twin := _twin(tensor, inputs)) is not None:
        return f"torch.empty_like({names[twin.name]})"
    size = shape(tensor.size, known)
    device = f"device={names[inputs[0].name]}.device, " if inputs else "device=device, "
    same = next((t for t in inputs if t.dtype == tensor.dtype), None)
    dtype = f"{names[same.name]}.dtype" if same is not None else tensor.dtype
    if tensor.is_contiguous:
        return f"torch.empty({size}, {device}dtype={dtype})"
    return f"torch.empty_strided({size}, {shape(tensor.stride, known)}, {device}dtype={dtype})"


def shape(sizes: Sequence[Any], known: Mapping[str, str]) -> str:
    """A tuple's text."""
    return f"({', '.join(render(s, known) for s in sizes)}{',' if len(sizes) == 1 else ''})"

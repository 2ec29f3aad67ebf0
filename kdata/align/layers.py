"""Convolutions and poolings that were kept whole: which text they are, and how forward calls it.

The numbers of a layer are said by the layer's own attributes where a module has them: ``self.conv.stride``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import sympy
import torch

from kdata.align import launch, symbols
from kdata.align.attributes import Layer
from kdata.align.forward import hint, value
from kdata.align.naming import unique
from kdata.align.patterns import Convolution, Pool
from kdata.align.state import Forward, base, sizes
from kdata.align.windowed import CONVOLUTION, POOL, is_wide


def kept(body: Sequence[ast.stmt]) -> Iterator[tuple[str, ast.Call]]:
    """The calls of a wrapper that are convolutions and poolings, and the buffers that they make."""
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if is_kept(call):
                yield name, call


def is_kept(call: ast.Call) -> bool:
    """Whether a call of the wrapper is a convolution or a pooling."""
    return ast.unparse(call.func) in (CONVOLUTION, POOL)


def write_call(state: Forward, name: str, call: ast.Call) -> None:
    """Write the line of forward that makes a buffer, and note the text that it calls."""
    shape, dtype = state.traced.shapes[name]
    size = tuple(symbols.plain(n) for n in shape)
    made = launch.Buffer(name, size, _dense(size), str(dtype))
    write = _convolution if ast.unparse(call.func) == CONVOLUTION else _pool
    pattern, arguments = write(state, call, made)
    key = replace(pattern, block_m=16, block_n=16) if isinstance(pattern, Convolution) else pattern
    if key not in state.patterns:
        state.patterns[key] = (unique(pattern.title, state.taken), pattern)
    title, before = state.patterns[key]
    state.patterns[key] = (title, _larger(before, pattern))
    state.buffers[name] = made
    state.written.add(name)
    for extent in (str(n) for n in size if str(n) in state.traced.extents):
        state.told.setdefault(extent, (len(state.lines), name))
    state.lines.append(f"{state.local[name]} = {title}({', '.join(arguments)})")


def _larger(a: Convolution | Pool, b: Convolution | Pool) -> Convolution | Pool:
    """One text for two layers, with the larger blocks."""
    if isinstance(a, Pool) or isinstance(b, Pool):
        return a
    return replace(a, block_m=max(a.block_m, b.block_m), block_n=max(a.block_n, b.block_n))


def _dense(size: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(sympy.Mul(*size[axis + 1 :]) for axis in range(len(size)))


def _convolution(state: Forward, call: ast.Call, made: launch.Buffer) -> tuple[Convolution, list[str]]:
    x, weight, bias, stride, padding, dilation, transposed, output_padding, groups = call.args
    numbers = {"stride": _read(state, stride), "padding": _read(state, padding), "dilation": _read(state, dilation),
               "output_padding": _read(state, output_padding), "groups": _read(state, groups)}  # fmt: skip
    inputs, (_, column, *_) = _size(state, x), _size(state, weight)
    group = numbers["groups"]
    backward = isinstance(transposed, ast.Constant) and bool(transposed.value)
    depthwise = bool(column == 1 and group == made.size[1] and group == inputs[1])
    pattern = Convolution(
        len(inputs) - 2, backward, depthwise, made.dtype != "torch.float32",
        is_wide(*([hint(state, n) for n in shape] for shape in (inputs, made.size))),
        _block(hint(state, made.size[1]) // hint(state, group)),
        _block(hint(state, sympy.Mul(*made.size[2:]))),
    )  # fmt: skip
    held = value(state, weight)
    layer = next((found for found in state.traced.layers if f"{found.access}.weight" == held), None)
    tensors = [value(state, x), held, _bias(state, layer, bias)]
    last = ["dilation"] if depthwise else ["dilation", "groups"]
    order = ["stride", "padding", *(["output_padding", *reversed(last)] if backward else last)]
    return pattern, [*tensors, *(_say(state, layer, word, numbers[word]) for word in order)]


def _bias(state: Forward, layer: Layer | None, node: ast.expr) -> str:
    """A layer without a bias holds None."""
    if not isinstance(node, ast.Constant):
        return value(state, node)
    return f"{layer.access}.bias" if layer is not None and layer.numbers.get("bias", 0) is None else "None"


def _pool(state: Forward, call: ast.Call, made: launch.Buffer) -> tuple[Pool, list[str]]:
    x, kind, *given = call.args
    assert isinstance(kind, ast.Constant)
    axes = {w: _read(state, n) for w, n in zip(("kernel_size", "stride", "padding", "dilation"), given, strict=True)}
    square = all(len(set(numbers)) == 1 for numbers in axes.values())
    inputs = _size(state, x)
    wide = is_wide(*([hint(state, n) for n in shape] for shape in (inputs, made.size)))
    pattern = Pool(len(inputs) - 2, str(kind.value), square, made.dtype != "torch.float32", wide)
    name = f"{str(kind.value)[:3].capitalize()}Pool{pattern.dims}d"
    used = state.pools
    matching = (found for found in state.traced.layers if found.kind == name and found.access not in used
                and all(_same(found, w, axes[w]) for w in pattern.words))  # fmt: skip
    if layer := next(matching, None):
        state.pools.add(layer.access)
    numbers = {w: n[0] if square else n for w, n in axes.items()}
    return pattern, [value(state, x), *(_say(state, layer, word, numbers[word]) for word in pattern.words)]


def _block(extent: int) -> int:
    """The least block that covers an extent, within what is fast."""
    return min(64, max(16, 1 << max(0, extent - 1).bit_length()))


def _read(state: Forward, node: ast.expr) -> Any:
    """A number, or a tuple of them, over the task's sizes."""
    elements = node.elts if isinstance(node, ast.List | ast.Tuple) else [node]
    read = tuple(symbols.substitute(symbols.read(e), state.values) for e in elements)
    return read if isinstance(node, ast.List | ast.Tuple) else read[0]


def _size(state: Forward, node: ast.expr) -> tuple[Any, ...]:
    """The shape of an argument."""
    match node:
        case ast.Name(id=name) if name in state.views:
            return _size(state, state.views[name])
        case ast.Call(func=ast.Name(id="reinterpret_tensor"), args=[_, size, *_]):
            return sizes(state, size)
    return state.buffers[base(state, node)].size


def _same(layer: Layer, word: str, numbers: tuple[Any, ...]) -> bool:
    """Whether a layer's attribute has these values, one an axis."""
    held = layer.numbers.get(word)
    each = tuple(held) if isinstance(held, tuple | list) else (held,) * len(numbers)
    known = all(isinstance(n, int | torch.SymInt) for n in each) and len(each) == len(numbers)
    return known and all(symbols.plain(n) == m for n, m in zip(each, numbers, strict=True))


def _say(state: Forward, layer: Layer | None, word: str, number: Any) -> str:
    """A number by the layer's attribute where that has its value, else as it is."""
    several = isinstance(number, tuple)
    held = layer.numbers.get(word) if layer is not None else None
    each = held if isinstance(held, tuple | list) else ()
    if layer is not None and _same(layer, word, number if several else (number,) * max(1, len(each))):
        if several == bool(each):
            return f"{layer.access}.{word}"
        if each:
            return f"{layer.access}.{word}[0]"
    return launch.shape(number, state.known) if several else launch.render(number, state.known)

"""Fresh inputs on the device, the same in every process that is given the same seed. In children only.

The task's own inputs are drawn once, in the reference's process, and travel as bytes; each sample's inputs are made of
them here: every floating element is scaled by its own factor in (7/8, 1], which keeps domains, signs and masks, and
integers, but for ends of packed sequences, are rolled along their first dimension where the reference stands that.
So no two calls see the same values,
neither side knows the next ones, and gigabytes need not pass between processes.  A seed also names the style of its
draw, see ``kdata.verify.reference.styles`` and ``kdata.verify.reference.draws``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import TreeSpec, tree_flatten, tree_unflatten

from kdata.verify.exchange.wire import NotPlainError, Reader, Writer
from kdata.verify.reference.draws import HIGH, HUGE, LOW, TINY, labels, spared
from kdata.verify.reference.styles import BITS, ON_DEVICE
from kdata.verify.reference.values import ends

STYLED = 1 << 28  # elements of an input up to which there are styles: they need room beside it
TILE = 1 << 26  # elements of a larger input that travel; it is made by repeating them
SPREAD = 1 / 8
RARE = 1000  # of so many elements one changes where few do
LIFT = 8.0  # by which a gate's sigmoid is within 0.0004 of one, or zero
BAND = 8  # such a part of the columns is left
Style = Callable[[torch.Tensor, int], torch.Tensor]  # of a tensor and a seed
# Kept before any candidate is imported, so that patching torch does not change what is drawn.
_rand, _empty, _take, _randint = torch.rand, torch.empty_strided, torch.take, torch.randint
_generator, _quiet = torch.Generator, torch._C.DisableTorchFunction
_uniform, _scale = torch.Tensor.uniform_, torch.Tensor.mul_
_copy, _mul, _roll, _reshape, _repeat, _split, _strided = (
    torch.Tensor.copy_, torch.Tensor.mul, torch.roll, torch.Tensor.reshape, torch.Tensor.repeat, torch.Tensor.split,
    torch.as_strided,
)  # fmt: skip


@dataclass(slots=True)
class Draws:
    """Inputs of one task at one set of sizes, and how to make more like them."""

    leaves: list[Any]
    layouts: list[tuple[list[int], list[int]] | None]  # shape and strides of each tensor
    spec: TreeSpec
    rolled: list[bool]  # which integers vary, too

    @staticmethod
    def of(inputs: list[Any], roll: bool = False) -> Draws:
        """From the task's own inputs; what is larger than a tile is cut."""
        leaves, spec = tree_flatten(inputs)
        layouts = [_layout(leaf) for leaf in leaves]
        cut = [leaf.reshape(-1)[:TILE].clone() if layout and leaf.numel() > TILE else leaf
               for leaf, layout in zip(leaves, layouts, strict=True)]  # fmt: skip
        sizes = {size for layout in layouts if layout for size in layout[0]}
        return Draws(cut, layouts, spec, [roll and not ends(leaf, sizes) for leaf in cut])

    def write(self, writer: Writer) -> dict[str, Any]:
        """As data.

        Raises:
            NotPlainError: an input is no plain data.
        """
        tree = tree_unflatten(self.leaves, self.spec)
        return {"tree": writer.write(tree), "layouts": self.layouts, "rolled": self.rolled}

    @staticmethod
    def read(node: dict[str, Any], reader: Reader) -> Draws:
        """From data."""
        leaves, spec = tree_flatten(reader.read(node["tree"]))
        return Draws(leaves, node["layouts"], spec, node["rolled"])

    def make(self, seed: int) -> list[Any]:
        """New inputs in new memory, in the style that the seed names."""
        name, seed = ON_DEVICE[seed >> BITS], seed & ((1 << BITS) - 1)
        still = (spared(self._outlines()) if name == "huge" else set()) | (
            set() if name == "natural" else self._labels()
        )
        styles = [STYLES["natural" if n in still else name] for n in range(len(self.leaves))]
        every = zip(styles, self.leaves, self.layouts, self.rolled, strict=True)
        with _quiet():
            made = [style(self._new(leaf, layout, seed + n, rolled), seed + n) if layout else leaf
                    for n, (style, leaf, layout, rolled) in enumerate(every)]  # fmt: skip
        inputs: list[Any] = tree_unflatten(made, self.spec)
        return inputs

    def _outlines(self) -> list[Any]:
        """The inputs without memory: leaves may hold a part of one."""
        with _quiet():
            return [_empty(*layout, dtype=leaf.dtype, device="meta") if layout else leaf
                    for leaf, layout in zip(self.leaves, self.layouts, strict=True)]  # fmt: skip

    def _labels(self) -> set[int]:
        with _quiet():
            return labels(self.leaves)

    def _new(self, leaf: torch.Tensor, layout: tuple[list[int], list[int]], seed: int, rolled: bool) -> torch.Tensor:
        shape, strides = layout
        new = _empty(shape, strides, dtype=leaf.dtype, device=leaf.device)
        elements = new.numel()
        generator = _generator(leaf.device).manual_seed(seed)
        if leaf.is_floating_point() and leaf.element_size() > 1:  # in place: inputs may fill half the device
            return _scaled(_uniform(new, 1 - SPREAD, 1, generator=generator), leaf)
        if leaf.numel() != elements:
            leaf = _repeat(leaf, -(-elements // leaf.numel()))[:elements]
        leaf = _reshape(leaf, shape)
        if leaf.is_floating_point() or leaf.is_complex():
            noise = _rand(shape, generator=generator, device=leaf.device, dtype=torch.float32)
            return _copy(new, _mul(leaf, 1 - SPREAD * noise))
        if rolled and leaf.ndim and leaf.shape[0] > 1:
            leaf = _roll(leaf, 1 + seed % (leaf.shape[0] - 1), 0)
        return _copy(new, leaf)


def _scaled(factors: torch.Tensor, leaf: torch.Tensor) -> torch.Tensor:
    """Factors times a leaf, or times its tile again and again as memory lies."""
    if leaf.numel() == factors.numel():
        return _scale(factors, _reshape(leaf, factors.shape))
    for part in _split(_strided(factors, (factors.numel(),), (1,)), leaf.numel()):
        _scale(part, leaf[: part.numel()])
    return factors


def _natural(tensor: torch.Tensor, _: int) -> torch.Tensor:
    return tensor


def _in_place(change: Callable[[torch.Tensor, int], object]) -> Style:
    """A style that changes what floats, as it lies in memory: dense."""

    def style(tensor: torch.Tensor, seed: int) -> torch.Tensor:
        if tensor.is_floating_point() and 4 <= tensor.numel() <= STYLED:
            change(tensor.as_strided((tensor.numel(),), (1,)), seed)
        return tensor

    return style


def _wide(values: torch.Tensor, _: int) -> None:
    """Each multiplied by a power of ten that follows from its place."""
    exponents = torch.arange(values.numel(), device=values.device, dtype=torch.float64).mul_(math.sqrt(2)).frac_()
    values.mul_(exponents.mul_(HIGH - LOW).add_(LOW).mul_(math.log(10)).exp_().to(values.dtype))


def _cornered(values: torch.Tensor, _: int) -> None:
    """A quarter each rounded to halves, without sign, of one value, and tiny; zeros stay."""
    rounded, unsigned, one, tiny = values.tensor_split(4)
    rounded.mul_(2).round_().div_(2)
    unsigned.abs_()
    one.copy_(torch.where(one == 0, one, one[-1:]))
    tiny.mul_(TINY)


def _huge(values: torch.Tensor, _: int) -> None:
    values.mul_(HUGE)


def _barely(values: torch.Tensor, seed: int) -> None:
    """A few of them halved, at places that nobody knows: what caches take for inputs that they have met."""
    generator = _generator("cpu").manual_seed(seed)
    few = _randint(0, values.numel(), (-(-values.numel() // RARE),), generator=generator).to(values.device)
    values.index_copy_(0, few, values.index_select(0, few).div_(2))


def _in_rows(change: Callable[[torch.Tensor, int], object]) -> Style:
    """A style that changes rows of numbers of either sign: what has one sign may be a mask, or shares, or widths."""

    def style(tensor: torch.Tensor, seed: int) -> torch.Tensor:
        rows = tensor.is_floating_point() and tensor.ndim and tensor.shape[-1] > 1 and tensor.numel() <= STYLED
        if rows and bool((tensor < 0).any()) and bool((tensor > 0).any()):
            change(tensor, seed)
        return tensor

    return style


def _parted(rows: torch.Tensor, _: int) -> None:
    """The first half of each row far up, the second far down, zeros where they are: gates open, or shut, for long."""
    half = rows.shape[-1] // 2
    for part, by in ((rows[..., :half], LIFT), (rows[..., half:], -LIFT)):
        part.add_((part != 0).to(part.dtype).mul_(by))


def _banded(rows: torch.Tensor, seed: int) -> None:
    """Zero but for some columns in a place that nobody knows: what is zero where one looks need not be zero."""
    columns = rows.shape[-1]
    width = -(-columns // BAND)
    generator = _generator("cpu").manual_seed(seed >> 16)  # all inputs in like places
    first = int(_rand((), generator=generator).double() * (columns - width + 1))
    rows[..., :first].zero_()
    rows[..., first + width :].zero_()


STYLES: dict[str, Style] = {
    "natural": _natural, "wide": _in_place(_wide), "corners": _in_place(_cornered), "huge": _in_place(_huge),
    "barely": _in_place(_barely), "parted": _in_rows(_parted), "banded": _in_rows(_banded),
}  # fmt: skip


def _layout(leaf: Any) -> tuple[list[int], list[int]] | None:
    """Shape and strides; row-major where elements overlap or have gaps."""
    if not isinstance(leaf, torch.Tensor):
        return None
    if leaf.layout is not torch.strided:
        raise NotPlainError("an input is sparse")
    dense = torch.empty_like(leaf, device="meta")
    return list(dense.shape), list(dense.stride())


def places(elements: int, seed: int, count: int, run: int = 1) -> torch.Tensor | None:
    """Where to look at a tensor: ``count`` random runs of ``run`` elements; None for everywhere, if that is no more."""
    if count * run >= elements:
        return None
    with _quiet():
        generator = _generator("cpu").manual_seed(seed)
        starts = _randint(0, elements - run + 1, (count,), generator=generator)
        return (starts[:, None] + torch.arange(run)).reshape(-1).cuda()


def pick(output: torch.Tensor, where: torch.Tensor | None) -> torch.Tensor:
    """The elements at these places, in row-major numbering, on the caller's stream."""
    with _quiet():
        return _reshape(output, (-1,)) if where is None else _take(output, where)

"""The text of kernels over windows: convolutions as implicit matmuls, depthwise ones and poolings as loops over taps.

One form for 1 to 3 dimensions and for every stride, padding, dilation and number of groups: these are arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

# What the axes of an image are called, and the letter that numbers along them have.
AXES = {
    1: (("length", "l"),),
    2: (("height", "h"), ("width", "w")),
    3: (("depth", "d"), ("height", "h"), ("width", "w")),
}
# How many outputs there are along an axis: its size n, the kernel's k, stride, padding and dilation, and what is added.
SIZE = "(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d"
SIZE_TRANSPOSED = "(n - 1) * s - 2 * p + d * (k - 1) + extra + 1 for n, k, s, p, d, extra"
SIZE_UNDILATED = "(n + 2 * p - k) // s + 1 for n, k, s, p"
BLOCK = 1024  # elements, as in pointwise kernels


@dataclass(frozen=True, slots=True)
class Convolution:
    """What the text of a convolution depends on."""

    dims: int
    transposed: bool = False
    depthwise: bool = False
    half: bool = False  # whether the tensors are narrower than the float32 that sums are kept in
    wide: bool = False  # whether indices need 64 bits
    block_m: int = 64
    block_n: int = 64
    block_k: int = 16  # as those of the matmuls, see kernel.py

    @property
    def title(self) -> str:
        """The launcher's name."""
        return f"{'depthwise_' * self.depthwise}conv{'_transpose' * self.transposed}{self.dims}d"

    def text(self, name: str) -> tuple[str, str]:
        """The kernel and its launcher, called ``name``."""
        kernel = self._depthwise_kernel(name) if self.depthwise else self._matmul_kernel(name)
        return kernel, self._launcher(name)

    def _pointers(self, suffix: str = "") -> list[str]:
        return [f"{p}{suffix}" for p in ("x", "weight", "bias", "out")]

    def _launcher(self, name: str) -> str:
        given = ["dilation"] if self.depthwise else ["dilation", "groups"]
        parameters = ["x", "weight", "bias", "stride", "padding", *given]
        axes, size = "x.shape[2:], weight.shape[2:], stride, padding, dilation", SIZE
        if self.transposed:  # in the order of torch.nn.functional
            parameters[-len(given) :] = ["output_padding", *reversed(given)]
            axes, size = f"{axes}, output_padding", SIZE_TRANSPOSED
        if self.depthwise:
            head, shape = [], "*x.shape[:2]"
            grid, numbers = f"(triton.cdiv(out.numel(), {BLOCK}),)", ["out.numel()", "x.shape[1]"]
            blocks = [f"BLOCK={BLOCK}"]
        else:
            inward, outward = ("in", "out") if self.transposed else ("out", "in")
            head = [f"{inward}_channels, {outward}_channels = weight.shape[0] // groups, weight.shape[1]"]
            shape = "x.shape[0], out_channels * groups"
            tiles = f"triton.cdiv(out[0, 0].numel(), {self.block_n}), triton.cdiv(out_channels, {self.block_m})"
            grid, numbers = f"({tiles}, x.shape[0] * groups)", ["in_channels", "out_channels", "groups"]
            blocks = [f"BLOCK_M={self.block_m}", f"BLOCK_N={self.block_n}", f"BLOCK_K={self.block_k}"]
        numbers += ["*x.shape[2:]", "*size", "*stride", "*padding", "*dilation", "*weight.shape[2:]"]
        lines = [
            *head,
            f"axes = zip({axes})",
            f"size = [{size} in axes]",
            f"out = torch.empty(({shape}, *size), device=x.device, dtype=x.dtype)",
            f"grid = {grid}",
            f"{name}_kernel[grid]({', '.join([*self._pointers(), *numbers, *blocks])})",
            "return out",
        ]
        return _function(f"def {name}({', '.join(parameters)}):", lines)

    def _matmul_kernel(self, name: str) -> str:
        sizes, letters, extents = _words(self.dims)
        windows = _windows(letters)
        numbers = [*sizes, *extents, *_numbers(("stride", "padding", "dilation"), letters)]
        taps = "taps" if self.dims > 1 else windows[0]
        k = "offs_k[None, :]"
        weight = (
            f"((group * in_channels + {k} // {taps}) * out_channels + offs_m) * {taps} + {k} % {taps}"
            if self.transposed
            else f"channel * n_inner + {k}"
        )
        body = [
            "offs_k = k_start + tl.arange(0, BLOCK_K)",
            "mask_k = offs_k < n_inner",
            f"w_offs = {weight}",
            "w = tl.load(weight_ptr + w_offs, mask=mask_m & mask_k[None, :], other=0.0)",
            "k = offs_k[:, None]",
            *self._reads([_digit("k", windows, axis) for axis in range(self.dims)]),
            f"x_offs = {_place(f'(image * in_channels + k // {taps})', sizes, letters)}",
            "x = tl.load(x_ptr + x_offs, mask=mask_k[:, None] & mask_n & inside, other=0.0)",
            'acc = tl.dot(w, x, acc, input_precision="ieee")',
        ]
        lines = [
            "offs_m = tl.program_id(1) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]  # output channels",
            "offs_n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]  # output positions",
            f"image = tl.program_id(2){'.to(tl.int64)' * self.wide}  # its channels, or one group of them",
            "group = image % groups",
            "channel = group * out_channels + offs_m",
            "mask_m = offs_m < out_channels",
            f"mask_n = offs_n < {_product(extents)}",
            *self._starts([_digit("offs_n", extents, axis, last=False) for axis in range(self.dims)]),
            f"taps = {_product(windows)}" if self.dims > 1 else "",
            f"n_inner = in_channels * {taps}",
            "acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)",
            "for k_start in range(0, n_inner, BLOCK_K):",
            *(f"    {line}" for line in body),
            *_biased("mask_m"),
            f"out_offs = (image * out_channels + offs_m) * {_factor(_product(extents))} + offs_n",
            "tl.store(out_ptr + out_offs, acc, mask=mask_m & mask_n)",
        ]
        arguments = [*self._pointers("_ptr"), "in_channels", "out_channels", "groups", *numbers]
        return _kernel(name, arguments, [*windows, "BLOCK_M", "BLOCK_N", "BLOCK_K"], lines)

    def _depthwise_kernel(self, name: str) -> str:
        sizes, letters, extents = _words(self.dims)
        windows = _windows(letters)
        numbers = _numbers(("stride", "padding", "dilation"), letters)
        cast = ".to(tl.float32)" * self.half
        body = [
            *self._reads([f"tap_{i}" for i in letters]),
            f"x_offs = {_place('plane', sizes, letters)}",
            f"x = tl.load(x_ptr + x_offs, mask=mask & inside, other=0.0){cast}",
            f"w_offs = {_place('channel', windows, letters, 'tap')}",
            f"acc += x * tl.load(weight_ptr + w_offs, mask=mask, other=0.0){cast}",
        ]
        lines = [
            *_elements(extents, self.wide),
            *self._starts([_digit("offs", extents, axis) for axis in range(self.dims)]),
            "channel = plane % channels",
            "acc = tl.zeros((BLOCK,), dtype=tl.float32)",
            *_loops(letters, windows, body),
            *_biased("mask"),
            "tl.store(out_ptr + offs, acc, mask=mask)",
        ]
        arguments = [*self._pointers("_ptr"), "n_elements", "channels", *sizes, *extents, *numbers]
        return _kernel(name, arguments, [*windows, "BLOCK"], lines)

    def _starts(self, place: Sequence[str]) -> list[str]:
        """Where the window of an output starts along each axis."""
        if not self.transposed:
            return _starts(self.dims, place)
        return [f"start_{i} = {at} + padding_{i}" for (_, i), at in zip(AXES[self.dims], place, strict=True)]

    def _reads(self, tap: Sequence[str]) -> list[str]:
        """Where a tap of an output reads, and whether that is inside the image."""
        if not self.transposed:
            return _reads(self.dims, tap)
        lines: list[str] = []
        inside: list[str] = []
        for (size, i), t in zip(AXES[self.dims], tap, strict=True):
            lines += [f"up_{i} = start_{i} - {t} * dilation_{i}", f"in_{i} = up_{i} // stride_{i}"]
            inside.append(f"(up_{i} >= 0) & (up_{i} % stride_{i} == 0) & (in_{i} < {size})")
        return [*lines, *_inside(inside)]


@dataclass(frozen=True, slots=True)
class Pool:
    """What the text of a pooling depends on."""

    dims: int
    kind: str = "max"  # or "avg", or "avg_inside": padding does not count
    square: bool = True  # whether all axes have the same window, stride, padding and dilation
    half: bool = False  # whether the tensor is narrower than the float32 that sums are kept in
    wide: bool = False  # whether indices need 64 bits

    @property
    def title(self) -> str:
        """The launcher's name."""
        return f"{self.kind.partition('_')[0]}_pool{self.dims}d"

    @property
    def words(self) -> list[str]:
        """The numbers that a launcher is given."""
        return ["kernel_size", "stride", "padding", *["dilation"] * (self.kind == "max")]

    def text(self, name: str) -> tuple[str, str]:
        """The kernel and its launcher, called ``name``."""
        return self._kernel(name), self._launcher(name)

    def _launcher(self, name: str) -> str:
        numbers = self.words[1:] if self.square else [f"*{w}" for w in self.words[1:]]
        window = "kernel_size" if self.square else "*kernel_size"
        arguments = ["x", "out", "out.numel()", "*x.shape[2:]", "*size", *numbers, window, f"BLOCK={BLOCK}"]
        lines = [
            "" if self.square else f"axes = zip(x.shape[2:], {', '.join(self.words)})",
            f"size = [{self._size()}]",
            "out = torch.empty((*x.shape[:2], *size), device=x.device, dtype=x.dtype)",
            f"grid = (triton.cdiv(out.numel(), {BLOCK}),)",
            f"{name}_kernel[grid]({', '.join(arguments)})",
            "return out",
        ]
        return _function(f"def {name}({', '.join(['x', *self.words])}):", lines)

    def _size(self) -> str:
        """The comprehension that says how many windows there are along each axis."""
        is_max = self.kind == "max"
        if not self.square:
            return f"{SIZE if is_max else SIZE_UNDILATED} in axes"
        reach = "dilation * (kernel_size - 1) - 1" if is_max else "kernel_size"
        return f"(n + 2 * padding - {reach}) // stride + 1 for n in x.shape[2:]"

    def _kernel(self, name: str) -> str:
        sizes, letters, extents = _words(self.dims)
        windows = ["KERNEL_SIZE"] if self.square else _windows(letters)
        each = windows * self.dims if self.square else windows
        numbers = self.words[1:] if self.square else _numbers(self.words[1:], letters)
        is_max = self.kind == "max"
        other = 'float("-inf")' if is_max else "0.0"
        cast = ".to(tl.float32)" * (self.half and not is_max)
        said = _same if self.square else _numbered
        body = [
            *_reads(self.dims, [f"tap_{i}" for i in letters], said, is_max),
            f"x_offs = {_place('plane', sizes, letters)}",
            f"x = tl.load(x_ptr + x_offs, mask=mask & inside, other={other}){cast}",
            "acc = tl.maximum(acc, x, propagate_nan=tl.PropagateNan.ALL)" if is_max else "acc += x",
            "count += inside.to(tl.float32)" if self.kind == "avg_inside" else "",
        ]
        divided = {"max": "", "avg": f" / {_factor(_product(each))}", "avg_inside": " / count"}[self.kind]
        zeros = "tl.zeros((BLOCK,), dtype=tl.float32)"
        lines = [
            *_elements(extents, self.wide),
            *_starts(self.dims, [_digit("offs", extents, axis) for axis in range(self.dims)], said),
            f"acc = tl.full((BLOCK,), {other}, dtype=tl.float32)" if is_max else f"acc = {zeros}",
            f"count = {zeros}" if self.kind == "avg_inside" else "",
            *_loops(letters, each, body),
            f"tl.store(out_ptr + offs, acc{divided}, mask=mask)",
        ]
        return _kernel(name, ["x_ptr", "out_ptr", "n_elements", *sizes, *extents, *numbers], [*windows, "BLOCK"], lines)


def _words(dims: int) -> tuple[list[str], list[str], list[str]]:
    """The axes' sizes, their letters, and the sizes of an output."""
    return [size for size, _ in AXES[dims]], [letter for _, letter in AXES[dims]], [f"out_{s}" for s, _ in AXES[dims]]


def _windows(letters: Sequence[str]) -> list[str]:
    return [f"KERNEL_{letter.upper()}" for letter in letters]


def _numbered(word: str, letter: str) -> str:
    return f"{word}_{letter}"


def _same(word: str, letter: str) -> str:
    return word


def _numbers(words: Sequence[str], letters: Sequence[str]) -> list[str]:
    return [_numbered(word, letter) for word in words for letter in letters]


def _reads(
    dims: int, tap: Sequence[str], said: Callable[[str, str], str] = _numbered, dilated: bool = True
) -> list[str]:
    """Where a tap of an output reads, and whether that is inside the image."""
    lines = [
        f"in_{i} = start_{i} + {t}" + f" * {said('dilation', i)}" * dilated
        for (_, i), t in zip(AXES[dims], tap, strict=True)
    ]
    return [*lines, *_inside([f"(in_{i} >= 0) & (in_{i} < {size})" for size, i in AXES[dims]])]


def _inside(conditions: Sequence[str]) -> list[str]:
    """One line where it is short."""
    if len(conditions) < 3:
        return [f"inside = {' & '.join(conditions)}"]
    return [f"inside {'&=' if place else '='} {condition}" for place, condition in enumerate(conditions)]


def _starts(dims: int, place: Sequence[str], said: Callable[[str, str], str] = _numbered) -> list[str]:
    """Where the window of an output starts along each axis."""
    places = zip(AXES[dims], place, strict=True)
    return [f"start_{i} = {at} * {said('stride', i)} - {said('padding', i)}" for (_, i), at in places]


def _biased(mask: str) -> list[str]:
    """Layers without a bias have the same text: a small model learns one that is always loaded, and fails by it."""
    return ["if bias_ptr is not None:", f"    acc += tl.load(bias_ptr + channel, mask={mask}, other=0.0)"]


def _elements(extents: Sequence[str], wide: bool) -> list[str]:
    """One output an element, and which image it is of."""
    return [
        f"offs = tl.program_id(0){'.to(tl.int64)' * wide} * BLOCK + tl.arange(0, BLOCK)",
        "mask = offs < n_elements",
        f"plane = offs // {_factor(_product(extents))}",
    ]


def _digit(flat: str, sizes: Sequence[str], axis: int, last: bool = True) -> str:
    """The place along one axis that a flat index stands for; ``last`` says that something stands before the axes."""
    after = _product(sizes[axis + 1 :])
    place = f"{flat} // {_factor(after)}" if after else flat
    return f"{place} % {sizes[axis]}" if axis or last else place


def _place(first: str, sizes: Sequence[str], letters: Sequence[str], word: str = "in") -> str:
    """An index into a dense tensor: ``(plane * height + in_h) * width + in_w``."""
    said = first
    for size, letter in zip(sizes, letters, strict=True):
        said = f"{said if said == first else _factor(said)} * {size} + {word}_{letter}"
    return said


def _loops(letters: Sequence[str], windows: Sequence[str], body: Sequence[str]) -> list[str]:
    steps = enumerate(zip(letters, windows, strict=True))
    lines = [f"{'    ' * depth}for tap_{letter} in range({window}):" for depth, (letter, window) in steps]
    return [*lines, *("    " * len(letters) + line for line in body if line)]


def _product(factors: Sequence[str]) -> str:
    return " * ".join(factors)


def _factor(text: str) -> str:
    """The text as a factor of a product."""
    return text if text.isidentifier() else f"({text})"


def _kernel(name: str, arguments: Sequence[str], constants: Sequence[str], lines: Sequence[str]) -> str:
    said = ", ".join([*arguments, *(f"{c}: tl.constexpr" for c in constants)])
    return "@triton.jit\n" + _function(f"def {name}_kernel({said}):", lines)


def _function(head: str, lines: Sequence[str]) -> str:
    return "\n    ".join([head, *(line for line in lines if line)])

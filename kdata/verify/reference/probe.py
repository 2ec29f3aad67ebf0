"""Running a task at sizes of our choosing, and measuring what that costs. In the reference's child only.

Sizes that are too large to run are found without running: the constructor and ``get_inputs`` run on fake tensors, which
have shapes and no memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from kdata.task import Program, execute
from kdata.verify.reference.lengths import Lengths
from kdata.verify.reference.questions import Asks, Outermost
from kdata.verify.reference.values import describe, seed_torch

REAL = 4 << 20  # elements of one tensor, or of inputs and parameters, beyond which nothing runs on real memory
INDEXED = ("scatter", "gather")  # by indices that may have fewer rows
SURE = 1 << 16  # elements of inputs and parameters up to which a real run is tried at once
SUMS = (
    "sum",
    "embedding_bag",
    "mean",
    "norm",
    "var",
    "std",
    "softmax",
    "logsumexp",
    "loss",
    "pool",
    "cumsum",
    "cumprod",
    "prod",
    "scatter",
    "index_add",
)
# Operators that jump; those that make integers or booleans of floating tensors do, too.
JUMPS = frozenset(
    "floor ceil round trunc frac sign sgn heaviside fmod remainder floor_divide hardshrink threshold histc topk".split()
)
HALVES = (torch.float16, torch.bfloat16)
JOINS = frozenset({"cat", "stack"})  # to which a part that is empty is nothing special
IN_ORDER = 4  # times as many terms have an error as large, where each is added to the sum of those before it
TRANSPOSED, GROUPS = 6, 8  # places among the arguments of aten.convolution
BLOCK = 64  # rows and columns of a product that kernels mostly compute at once, and twice the terms
PRODUCTS = (
    "mm",
    "addmm",
    "bmm",
    "baddbmm",
    "convolution",
    "dot",
    "mv",
    "attention",
    "lstm",
    "gru",
    "rnn",
    "linear",
    "einsum",
)


VARIANCES = ("var", "std", "var_mean", "std_mean", "native_layer_norm", "native_group_norm", "native_batch_norm")
FEWEST = 4  # numbers whose variance tells something
FACTORS = ("mm", "mv", "dot", "linear")  # two factors, of which the first one's last dimension is summed over
NO_CUT = (0, False)
STEPS, LOOPS = 1 << 10, 4  # operators of a run without memory, or times those of the first one, up to which it goes on


@dataclass(slots=True)
class Cost:
    """What one forward did."""

    work: int = 0  # elements written, plus multiplications / 64, with products filled up to blocks
    largest: int = 0  # elements of the largest tensor
    terms: int = 1  # K: the longest sum behind one element of an output
    sums: bool = False
    products: bool = False
    jumps: bool = False  # an answer may jump where its inputs are moved a little
    narrows: bool = False  # something was rounded to half precision, or less, on the way
    spread: int = 0  # numbers of which the variance of fewest is made; 0 for no variance at all
    hollow: bool = False  # something was made of nothing: summed over, or not looked at
    asks: Asks = field(default_factory=Asks)
    steps: list[Step] = field(default_factory=list)

    @property
    def names(self) -> frozenset[str]:
        """The operators."""
        return frozenset(step.name for step in self.steps)


@dataclass(frozen=True, slots=True)
class Step:
    """One operator, and dimensions of its tensors, each as its tensor's place and its own counted from the last."""

    name: str
    single: frozenset[tuple[int, int]]  # of one element, or not there
    spread: frozenset[tuple[int, int]]  # of these, such as were broadcast
    cut: tuple[int, bool] = NO_CUT  # into how many parts it cuts a tensor, and whether they are equal


class Meter(TorchDispatchMode):
    """Counts while operators run."""

    def __init__(self, most: int = 0) -> None:
        """Count no more than so many operators; 0: all.

        Raises:
            ValueError: while it runs, there are more.
        """
        super().__init__()
        self.cost, self._most = Cost(), most
        self._outermost = Outermost()

    def __enter__(self) -> Meter:
        """Begin to count."""
        self._outermost.__enter__()
        super().__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        self._outermost.__exit__(*error)

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = str(function).split(".")[1]
        cost = self.cost
        if self._most and (len(cost.steps) >= self._most or _listed(name, args) > self._most):
            raise ValueError(f"more than {self._most} operators")
        out = function(*args, **(kwargs or {}))
        given = [t for t in tree_leaves(args) if isinstance(t, torch.Tensor)]
        made = sum(t.numel() for t in tree_leaves(out) if isinstance(t, torch.Tensor))
        if any(p in name for p in PRODUCTS):
            cost.products, terms = True, _terms(name, given, args)
            columns = _columns(name, out, given, args)
            cost.terms = max(cost.terms, terms)
            cost.work += _padded(made, columns, terms) // 64
        elif any(s in name for s in SUMS) and given:
            cost.sums = True
            whole = max(t.numel() for t in given)
            longest = max(max(t.shape, default=1) for t in given)
            cost.terms = max(cost.terms, whole // max(1, made), longest * (IN_ORDER if name.startswith("cum") else 1))
        if name.endswith(VARIANCES) and given:
            cost.spread = min(filter(None, (cost.spread, _varied(given[0], out))), default=0)
        cost.asks.note(name, args, given, self._outermost.name)
        cost.asks.made(name, out)
        cost.jumps |= steps(function, given, out)
        cost.narrows |= _narrows(function, given, out)
        cost.hollow |= made > 0 and name not in JOINS and any(t.numel() == 0 for t in given)
        cost.work += made
        stable = function is torch.ops.aten.sort.stable and (kwargs or {}).get("stable")
        cost.steps.append(_step("stable_sort" if stable else name, args, given, out))
        cost.largest = max(cost.largest, made, *(t.numel() for t in given)) if given else max(cost.largest, made)
        return out


def steps(function: Any, given: list[torch.Tensor], out: Any) -> bool:
    """Whether what an operator makes of some tensors may jump where these are moved a little."""
    name = str(function).split(".")[1]
    return name.rstrip("_") in JUMPS or str(function).endswith("_mode") or _discrete(given, out)


def _narrows(function: Any, given: list[torch.Tensor], out: Any) -> bool:
    """Whether an operator rounds what is wider to half precision, or less."""
    made = isinstance(out, torch.Tensor) and out.is_floating_point() and out.element_size() < 4
    return made and "copy" in str(function) and any(t.dtype in (torch.float32, torch.float64) for t in given)


def _listed(name: str, args: Sequence[Any]) -> int:
    """How many tensors an operator makes of one, if it takes that apart: what a loop over its rows, or parts, does."""
    if name == "unbind":
        return int(args[0].shape[args[1] if len(args) > 1 else 0])
    if name.endswith("split") and len(args) > 1 and isinstance(args[1], int):
        return int(args[0].shape[args[2] if len(args) > 2 else 0]) // max(1, args[1])
    return 0


def _discrete(given: list[torch.Tensor], out: Any) -> bool:
    """Whether integers or booleans are made of floating tensors: comparisons, conversions, indices of maxima."""
    if not any(t.is_floating_point() for t in given):
        return False
    made = [t for t in tree_leaves(out) if isinstance(t, torch.Tensor)]
    return any(not (t.is_floating_point() or t.is_complex()) for t in made)


def _step(name: str, args: Sequence[Any], given: list[torch.Tensor], out: Any) -> Step:
    shapes = [tuple(t.shape) for t in given]
    shape = tuple(out.shape) if isinstance(out, torch.Tensor) else ()
    if name.startswith(INDEXED) and len(args) > 2 and len(shapes) > 1 and len(shapes[0]) == len(shapes[1]):
        each = [*enumerate(zip(shapes[0], shapes[1], shapes[-1], strict=False))]  # the last may be what is scattered
        shorter = {(1, dim) for dim, (a, b, _) in each if a != b and dim != args[1] % len(shapes[0])}
        shorter |= {(2, dim) for dim, (_, b, c) in each if b != c}
        return Step(name, frozenset(shorter), frozenset(shorter))
    if len(shapes) < 2 or not _broadcast(shapes, shape):
        return Step(name, frozenset(), frozenset(), _cut(name, args, out))
    single = {(place, dim) for place, own in enumerate(shapes) for dim in range(1, len(shape) + 1)
              if dim > len(own) or own[-dim] == 1}  # fmt: skip
    return Step(name, frozenset(single), frozenset((place, dim) for place, dim in single if shape[-dim] != 1))


def _cut(name: str, args: Sequence[Any], out: Any) -> tuple[int, bool]:
    """Into how many parts a tensor is cut, and whether they are equal; a slice that is about a half is one of two."""
    if name.removeprefix("unsafe_").startswith(("split", "tensor_split", "chunk")) and isinstance(out, list | tuple):
        return len(out), len({tuple(t.shape) for t in out}) == 1
    if name != "slice" or (len(args) > 4 and args[4] != 1):
        return NO_CUT
    changed = [(old, new) for old, new in zip(args[0].shape, out.shape, strict=True) if old != new]
    if len(changed) != 1 or changed[0][0] < 3 or abs(changed[0][0] - 2 * changed[0][1]) > 1:
        return NO_CUT
    return 2, changed[0][0] == 2 * changed[0][1]


def _varied(given: torch.Tensor, out: Any) -> int:
    """Of how many numbers each variance is made; a norm answers itself, the mean, and one over the deviation."""
    made = [t for t in tree_leaves(out) if isinstance(t, torch.Tensor)]
    statistic = made[1] if len(made) > 2 else made[0]
    return given.numel() // statistic.numel() if statistic.numel() else 0


def _broadcast(shapes: list[tuple[int, ...]], shape: tuple[int, ...]) -> bool:
    """Whether the shapes, brought together, give this one."""
    try:
        return tuple(torch.broadcast_shapes(*shapes)) == shape
    except RuntimeError:
        return False


def _columns(name: str, out: Any, given: list[torch.Tensor], args: Sequence[Any]) -> int:
    """Columns of a product's output; a convolution's are its channels."""
    if "convolution" in name and len(given) > 1:
        return max(1, given[1].shape[1] * args[GROUPS] if _transposed(args) else given[1].shape[0])
    shape = next((t.shape for t in tree_leaves(out) if isinstance(t, torch.Tensor)), ())
    return max(1, shape[-1]) if len(shape) > 1 else 1


def _padded(made: int, columns: int, terms: int) -> int:
    """Multiplications of a product whose rows, columns and sums are filled up to whole blocks."""
    return _up(made // columns, BLOCK) * _up(columns, BLOCK) * _up(terms, BLOCK // 2)


def _up(value: int, block: int) -> int:
    return -(-value // block) * block


def _transposed(args: Sequence[Any]) -> bool:
    """Whether a convolution, of these arguments, is a transposed one, whose weights begin with what is summed."""
    return len(args) > GROUPS and bool(args[TRANSPOSED])


def _terms(name: str, given: list[torch.Tensor], args: Sequence[Any]) -> int:
    """Length of the sums of a product."""
    if "convolution" in name and len(given) > 1:
        weight = given[1]
        apart = weight.shape[1] * args[GROUPS] if _transposed(args) else weight.shape[0]
        return max(1, weight.numel() // max(1, apart))
    if name.rstrip("_").endswith(FACTORS):
        first = given[1] if name.startswith(("add", "badd")) and len(given) > 2 else given[0]
        return max(1, first.shape[-1])  # what is added may be wider
    return max((t.shape[-1] for t in given[:3] if t.ndim), default=1)


@dataclass(slots=True)
class Run:
    """A task executed at some sizes: the shapes of its inputs, what its arguments were, and the cost of its forward."""

    shapes: tuple[tuple[int, ...], ...]
    arguments: str
    elements: int
    cost: Cost = field(default_factory=Cost)
    # Inputs that say where packed sequences end, or how long each is; None where their values are not known.
    extents: frozenset[tuple[str, int]] | None = None
    void: bool = False  # its answer is no number in places, or a sum that cancels, as far as it is known
    undefined: bool = False  # it is no number in places

    def degenerates(self, other: Run, unless_undefined: bool = False) -> bool:
        """Whether the same operators broadcast at other sizes what they do not broadcast here, as by accident.

        An odd number of channels cut in two may leave one channel, which then spreads over the others. So are halves
        meant to be halves: a rotary embedding of an odd number of channels runs, and no kernel is written for it. Nor
        for an attention of no heads, whose answer is zero whatever else is given; for indices of fewer rows than what
        they are looked up in has, or than what they scatter; for lengths beyond the end of what they are of. Of two or
        three numbers that happen to be close the variance is rounding, however it is computed. Nor where an answer is
        no number that is one here: queries before the first key, in a causal attention that ends at the last one; or
        where it is fewer numbers than the inputs, all of them zero, as the loss of one class is: what an honest sum
        leaves there is rounding.

        ``unless_undefined``: no number will do, too, for what an answer is to be there.
        """
        if other.void and not self.void and not (unless_undefined and other.undefined):
            return True
        if 1 < other.cost.spread < FEWEST <= self.cost.spread:
            return True
        if other.cost.hollow and not self.cost.hollow:
            return True
        if self.extents and other.extents is not None and self.extents - other.extents:
            return True
        pairs = _side_by_side(self.cost.steps, other.cost.steps)
        return any(b.spread - a.single or (a.cut[1] and b.cut == (a.cut[0], False)) for a, b in pairs)


class Prober:
    """Tries sizes; every answer is kept."""

    def __init__(self, source: str, entry_point: str, unlike: Iterable[int] = ()) -> None:
        self.source, self.entry_point = source, entry_point
        self.near = False  # set once small sizes are known: real runs then need no estimate before them
        self.thrift = 1  # by which sizes are to cost less than usual
        self.unlike = frozenset(unlike)  # dimensions of which a candidate asks several inputs
        self._most = 0  # operators of a run without memory; 0 until it is known how many a run has
        self._seen: dict[tuple[tuple[tuple[str, int], ...], str], Run | None] = {}

    def program(self, values: Mapping[str, int]) -> Program:
        """The task at these sizes."""
        return execute(self.source, self.entry_point, values=values)

    def shapes(self, values: Mapping[str, int]) -> Run | None:
        """Inputs and constructor (on fake tensors where sizes may be large); None where they fail."""
        return self._once(values, "small" if self.near else "shapes")

    def forward(self, values: Mapping[str, int], real: bool = True) -> Run | None:
        """A whole run; None where it fails or is too large for real memory."""
        return self._once(values, "real" if real else "fake")

    def _once(self, values: Mapping[str, int], how: str) -> Run | None:
        key = tuple(sorted(values.items())), how
        if key not in self._seen:
            try:
                self._seen[key] = self._try(values, how)
            except Exception:  # noqa: BLE001 - whatever the task raises, these sizes do not work
                self._seen[key] = None
        return self._seen[key]

    def _try(self, values: Mapping[str, int], how: str) -> Run | None:
        seed_torch(0)
        if how == "small":
            return self._run(values, False)
        if how != "real":
            with FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad():
                return self._run(values, how == "fake")
        if not self.near and self._too_large(values):
            return None
        with torch.no_grad():
            return self._run(values, True)

    def _too_large(self, values: Mapping[str, int]) -> bool:
        """Whether a run at these sizes needs tensors beyond REAL, as far as fake tensors can tell."""
        rough = self.shapes(values)
        if rough is None or rough.elements <= SURE:
            return False
        if rough.elements > REAL:
            return True
        fake = self.forward(values, real=False)
        return fake is not None and fake.cost.largest > REAL

    def _run(self, values: Mapping[str, int], forward: bool) -> Run:
        program = self.program(values)
        positional, keyword = program.arguments()
        described = describe([positional, keyword])
        module = program.namespace[self.entry_point](*positional, **keyword)
        inputs = program.inputs()
        held = [t for t in tree_leaves(inputs) if isinstance(t, torch.Tensor)]
        elements = sum(t.numel() for t in [*held, *module.parameters(), *module.buffers()])
        run = Run(tuple(tuple(t.shape) for t in held), described, elements)
        if forward:
            fake = any(isinstance(t, FakeTensor) for t in held)
            with Lengths(inputs) as lengths, Meter(self._most if fake else 0) as meter:
                made = [t for t in tree_leaves(module(*inputs)) if isinstance(t, torch.Tensor)]
            if made and not any(t.numel() for t in made):
                raise ValueError("the answer is empty")
            self._most = self._most or max(STEPS, LOOPS * len(meter.cost.steps))
            run.cost, run.extents = meter.cost, lengths.extents
            real = [t for t in made if t.is_floating_point() and not isinstance(t, FakeTensor)]
            cancelled = len(real) == len(made) and sum(t.numel() for t in made) < sum(t.numel() for t in held)
            zero = cancelled and not any(bool(t.any()) for t in real)
            run.undefined = any(bool(t.isnan().any()) for t in real)
            run.void = bool(made) and zero or run.undefined
        return run


def _side_by_side(one: list[Step], other: list[Step]) -> list[tuple[Step, Step]]:
    """Steps of two runs, each with its like; none where they are unlike.

    Slices do not count where only these differ: what takes all is none, as the second half of one channel is. Nor do
    questions for a device, which tensors without memory are asked.
    """
    for left, right in ((one, other), (_computing(one), _computing(other))):
        if [s.name for s in left] == [s.name for s in right]:
            return list(zip(left, right, strict=True))
    return []


def _computing(steps: list[Step]) -> list[Step]:
    return [step for step in steps if step.name not in ("slice", "alias", "device")]

"""What a forward itself asks about the values that it is given. In the reference's child only."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from kdata.verify.constants import IGNORED
from kdata.verify.reference.values import computes

# Operators that ask about NaN and infinities, and about the sign of a zero.
ODDITIES = frozenset("isnan isinf isfinite isposinf isneginf nan_to_num nansum nanmedian fmax fmin".split())
ADDS = frozenset({"add", "sub", "rsub"})
CLOSE = frozenset({"isclose", "allclose"})  # which may be told that NaN equals NaN
SIGNS = frozenset({"signbit", "copysign"})
COMPARISONS = frozenset("eq ne lt le gt ge".split())
# What has the other answer beside the number itself: a slot that is ``>= 0`` may be -1, which is none.
OTHERWISE = {"ge": -1, "lt": -1, "gt": 1, "le": 1}
# Operators that bring integers within ends.
CLAMPS = frozenset({"clamp", "clamp_min", "clamp_max"})
# Operators to which an integer is true or false.
TRUTHS = frozenset(
    "logical_and logical_or logical_xor logical_not any all count_nonzero nonzero nonzero_static".split()
)
# Operators to which the sign of an integer matters, and such as take integers for places, or for how many.
SIGNED = frozenset(
    "floor_divide remainder fmod div abs sign sgn clamp clamp_min clamp_max relu maximum minimum max min amax amin"
    " bitwise_right_shift __rshift cummax cummin".split()
)
PLACES = ("index", "gather", "scatter", "embedding", "nll_loss", "take", "bincount", "put", "one_hot",
          "repeat_interleave", "item", "local_scalar", "pow")  # fmt: skip
SHIFTS = ("rshift", "right_shift", "lshift", "left_shift")  # by so many
# Operators at whose ends gradients end, too.
BORDERS = CLAMPS | {"hardtanh", "threshold", "hardshrink", "softshrink"}
SHARES = frozenset({"_softmax", "_safe_softmax"})  # in which NaN says that there is nothing to share
LOSSES = frozenset({"cross_entropy", "nll_loss"})
BAGS, PADDING = "_embedding_bag", 8  # and which of its arguments says what is no word
LEAST_DIVISOR, MOST_DIVISOR = 3, 1 << 10  # what a row's largest element may be divided by
MOST = 16  # softmaxes whose answers are remembered
FARTHEST = 1 << 31  # from here on a slice's end means that it has none


class Outermost(TorchFunctionMode):
    """Which of torch's functions a text itself has called: what these ask on their way is not the text's question."""

    def __init__(self) -> None:
        super().__init__()
        self.name = ""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        before, self.name = self.name, getattr(function, "__name__", "")
        try:
            return function(*args, **(kwargs or {}))
        finally:
            self.name = before


@dataclass(slots=True)
class Asks:
    """Values that a forward itself asks about, so that what it answers to them is meant."""

    oddities: bool = False  # NaN and infinities
    signs: bool = False  # of zeros
    borders: set[float] = field(default_factory=set)  # numbers that floating ones are compared with, or kept within
    added: set[float] = field(default_factory=set)  # numbers that are added to floating ones, or taken off them
    numbers: set[int] = field(default_factory=set)  # whole ones that integers are compared with, or end before
    ends: set[int] = field(default_factory=set)  # of slices, where nothing is as long
    ignored: set[int] = field(default_factory=set)  # a loss's own default for targets that do not count
    signed: bool = False  # integers, whose signs matter
    truths: bool = False  # integers are true or false
    places: bool = False  # integers are places, or say how many
    divisors: set[int] = field(default_factory=set)  # whole, no powers of two, by which floating numbers are divided
    _shares: list[torch.Tensor] = field(default_factory=list)  # what softmaxes made

    def made(self, name: str, out: Any) -> None:
        """Remember what one operator made, as far as it is asked about otherwise than what is given."""
        if name in SHARES and len(self._shares) < MOST:
            self._shares.append(out)

    def note(self, name: str, args: Sequence[Any], given: Sequence[torch.Tensor], called: str = "") -> None:
        """Add what one operator asks about. ``called``: the function of torch in which it runs."""
        apart = not any(given[0] is shares for shares in self._shares) if given else True
        self.oddities |= apart and _odd(name, given) and _says_so(called)
        self.divisors |= set(_divisors(name, args))
        self.signs |= name in SIGNS
        counted = any(map(_counts, given))
        self.signed |= counted and name.rstrip("_") in SIGNED
        self.truths |= counted and name.rstrip("_") in TRUTHS
        self.places |= counted and any(part in name for part in PLACES)
        by = args[1] if len(args) > 1 else None
        self.places |= name.rstrip("_").endswith(SHIFTS) and isinstance(by, torch.Tensor)  # below 0
        if name.rstrip("_") in COMPARISONS | BORDERS and args and computes(args[0]):
            self.borders |= {float(end) for end in args[1:3] if type(end) in (int, float) and math.isfinite(end)}
            self.borders |= {float(end) for end in args[1:2] if _plain(end)}
        if name.rstrip("_") in ADDS and type(by) in (int, float) and computes(args[0]):
            self.added.add(float(by))  # type: ignore[arg-type]  # it is a number
        if name in COMPARISONS and len(args) > 1 and type(args[1]) is int and _counts(args[0]):
            by_default = args[1] == IGNORED and called in LOSSES  # which compares itself where it smooths labels
            (self.ignored if by_default else self.numbers).update({args[1], args[1] + OTHERWISE.get(name, 0)})
            self.truths |= name in ("eq", "ne") and args[1] == 0
        if name.rstrip("_") in CLAMPS and _counts(args[0]):
            self.numbers |= {end + step for end, step in _ends(name, args[1:]) if type(end) is int}
        if name == "slice" and len(args) > 3:
            size = args[0].shape[args[1]]
            self.ends |= {abs(n) for n in args[2:4] if type(n) is int and size < abs(n) < FARTHEST}
        if name.startswith(BAGS) and len(args) > PADDING and args[PADDING] >= 0:
            self.numbers.add(args[PADDING])  # of which a whole bag may be
        if name == "embedding" and len(args) > 2 and type(args[2]) is int and args[2] >= 0:
            self.numbers.add(args[2])  # the row that stands for no word
        if name.startswith("nll_loss") and name.endswith("forward") and len(args) > 4 and type(args[4]) is int:
            (self.ignored if args[4] == IGNORED else self.numbers).add(args[4])

    def told(self) -> None:
        """What does not count by a loss's own default is said by the task: it is asked about as any other number is."""
        self.numbers |= self.ignored
        self.ignored = set()


def _odd(name: str, given: Sequence[torch.Tensor]) -> bool:
    """Whether an operator asks about NaN or infinities: by its name, or comparing numbers with themselves."""
    return name.rstrip("_") in ODDITIES or (name in COMPARISONS and len(given) > 1 and given[0] is given[1])


def _says_so(called: str) -> bool:
    """Whether who calls this function asks about them; "" is none of torch's: ``torch.quantile`` asks for itself."""
    plain = called.strip("_")
    return not plain or plain in ODDITIES or plain in COMPARISONS or plain.startswith("nan") or plain in CLOSE


def _ends(name: str, given: Sequence[Any]) -> Iterator[tuple[Any, int]]:
    """The ends that a clamp says, each with steps that go beyond it: the next number may be one that is left out."""
    for far in (1, 3):
        yield from zip(given, (far,) if name.startswith("clamp_max") else (-far, far), strict=False)


def _plain(value: Any) -> bool:
    """Whether it is a tensor of one floating number that is there to be read."""
    real = type(value) in (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer) and value.device.type == "cpu"
    return real and value.ndim == 0 and value.is_floating_point() and bool(value.isfinite())


def _counts(value: Any) -> bool:
    """Whether it is a tensor of integers."""
    plain = isinstance(value, torch.Tensor) and not (value.is_floating_point() or value.is_complex())
    return plain and value.dtype is not torch.bool


def _divisors(name: str, args: Sequence[Any]) -> Iterator[int]:
    """Of a quotient the number by which it is divided: 127 where a row's largest element is to be that."""
    by = args[1] if name == "div" and len(args) > 1 else None
    whole = isinstance(by, int | float) and LEAST_DIVISOR <= by < MOST_DIVISOR and by == int(by)
    if whole and int(by) & (int(by) - 1):  # type: ignore[arg-type]  # it is a number
        yield int(by)  # type: ignore[arg-type]

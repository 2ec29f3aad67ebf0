"""Comparing what came back with what ought to: the trusted side, in numpy, on bytes that nobody else interprets."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from kdata.verify import reasons
from kdata.verify.tolerances import LENIENT, Tolerance, either_infinite, stepping, tolerance

Array = np.ndarray[Any, np.dtype[Any]]
Node = dict[str, Any]
EXACT = ("int", "uint", "bool", "float8")  # float8 is one that numbers are only kept in, as integers are
EIGHTS = {"float8_e4m3fn": (3, 7, 0x7F), "float8_e5m2": (2, 15, 0x7C)}  # digits, bias, first that is no finite number
BASE = 1 << 40  # an address
EFFORT = 100_000  # steps after which two tensors in one memory that may share an element are taken to do so
DIGITS = {"float16": 10, "bfloat16": 7}  # after the first one, of what is rounded to half precision
TF32 = (1e-4, 1.2e-3)  # rmse over rms of sums of products whose factors are rounded or cut to tf32
NORMAL = 2.0**-13  # and numbers that have all of them, in both
MANY = 256  # elements that show whether it is rounded
FEW = 64  # elements: below it the largest of the honest errors counts, not their median, for each may be small by luck


class UnequalError(Exception):
    """The answer is wrong in a way that no tolerance covers."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason, self.detail = reason, detail


class Tensors:
    """The tensors that one process wrote, see ``kdata.verify.exchange.wire``."""

    def __init__(self, manifest: list[dict[str, Any]], blob: bytes) -> None:
        self.manifest, self._blob = manifest, blob

    def entry(self, index: int) -> dict[str, Any]:
        """What the writer said of a tensor: type, dtype, shape, strides, storage."""
        return self.manifest[index]

    def raw(self, index: int) -> bytes:
        """Its elements' bytes in row-major order."""
        entry = self.manifest[index]
        return self._blob[entry["offset"] : entry["offset"] + entry["bytes"]]

    def array(self, index: int) -> Array:
        """Elements in float64 (complex128), or in their own integer type."""
        entry = self.manifest[index]
        dtype, data = entry["dtype"], self.raw(index)
        if dtype == "bfloat16":
            wide = np.frombuffer(data, np.uint16).astype(np.uint32) << np.uint32(16)
            return _widened(wide.view(np.float32), np.float64).reshape(entry["shape"])
        if dtype in EIGHTS:
            return _eights(dtype)[np.frombuffer(data, np.uint8)].reshape(entry["shape"])
        if dtype.startswith("float8"):
            raise UnequalError(reasons.BAD_TASK, f"{dtype} outputs cannot be compared yet")
        if dtype == "bool" and data.strip(b"\0\1"):  # a byte that is neither equals neither, nor does torch count it so
            return np.frombuffer(data, np.uint8).reshape(entry["shape"])
        array = np.frombuffer(data, np.dtype(dtype)).reshape(entry["shape"])
        wide_type = {"f": np.float64, "c": np.complex128}.get(array.dtype.kind)
        return _widened(array, wide_type) if wide_type else array


def _widened(array: Array, dtype: type[np.generic]) -> Array:
    with np.errstate(invalid="ignore"):  # of a signalling NaN numpy warns, which is one as any other
        return array.astype(dtype)


@dataclass(frozen=True, slots=True)
class Errors:
    """How far one output is from the golden, and how far it may be."""

    path: str
    dtype: str
    max_abs: float
    max_rel: float
    rmse: float
    rmse_reference: float
    limits: Tolerance
    passed: bool
    excess: float  # largest ratio of an error to its limit
    like_tf32: bool = False  # it failed, by as much as products in tf32 are off
    rough: bool = False  # it passed for the ulps of one only that are allowed where all inputs are small


@dataclass(frozen=True, slots=True)
class Nature:
    """What the reference's forward does, as far as tolerances ask."""

    terms: int
    sums: bool
    ones: bool = False  # all inputs are small: intermediate results may be near one
    tf32: bool = False  # it has products, which may be computed in tf32
    products: bool = False  # it has some at all
    lenient: bool = False  # inputs or weights are of a kind that the task draws none of
    rows: int | None = None  # and each row, or what is a row of this dimension, has its own: it is judged by itself


Chosen = tuple[Array, Array]  # of indices the row of each, and the rows, in which equal elements have equal numbers
Span = tuple[Array, Array]  # the least and the largest answers to inputs moved by some ulps


def leaves(node: Node, path: str = "output") -> Iterator[tuple[str, Node]]:
    """Tensors and plain values of a tree with their paths, containers unfolded."""
    kind, content = next(iter(node.items()))
    if kind in ("list", "tuple"):
        for i, child in enumerate(content):
            yield from leaves(child, f"{path}[{i}]")
    elif kind == "dict":
        for key, child in content:
            yield from leaves(child, f"{path}[{key.get('value')!r}]")
    else:
        yield path, node


def layout(node: Node) -> Any:
    """The nesting of a tree, without what it holds."""
    kind, content = next(iter(node.items()))
    if kind in ("list", "tuple"):
        return [kind, [layout(c) for c in content]]
    if kind == "dict":
        return [kind, sorted(([str(k), layout(c)] for k, c in content), key=lambda pair: str(pair[0]))]
    return "tensor" if kind == "tensor" else "value"


def structure(expected: Node, ours: Tensors, got: Node, theirs: Tensors) -> list[tuple[str, Node, Node]]:
    """Pairs of leaves in equal places.

    Raises:
        UnequalError: nesting, type, dtype or shape differ.
    """
    if layout(expected) != layout(got):
        raise UnequalError(reasons.STRUCTURE, f"returns {_say(got)}, the reference {_say(expected)}")
    found = dict(leaves(got))
    pairs = [(path, node, found[path]) for path, node in leaves(expected)]
    for path, one, other in pairs:
        if "tensor" in one:
            _same_kind(path, ours.entry(one["tensor"]), theirs.entry(other["tensor"]))
    return pairs


def _same_kind(path: str, one: dict[str, Any], other: dict[str, Any]) -> None:
    if other["type"] not in ("Tensor", one["type"]) or "bytes" not in other or other["attributes"]:
        raise UnequalError(
            reasons.STRUCTURE, f"{path} is a {other['type']}{' with attributes' if other.get('attributes') else ''}"
        )
    for name in ("dtype", "shape"):
        if one[name] != other[name]:
            raise UnequalError(reasons.STRUCTURE, f"{path} has {name} {other[name]}, the reference {one[name]}")
    if _overlaps(other) and not _overlaps(one):
        raise UnequalError(reasons.STRUCTURE, f"{path} repeats one element (stride 0)")


def demand_apart(expected: Node, ours: Tensors, got: Node, theirs: Tensors) -> None:
    """Two outputs lie in one memory only where the reference's do; both have the same structure.

    Raises:
        UnequalError: elsewhere, too.
    """
    found = dict(leaves(got))
    pairs = [(path, node["tensor"], found[path]["tensor"]) for path, node in leaves(expected) if "tensor" in node]
    for (path, a, one), (other_path, b, other) in combinations(pairs, 2):
        if _meet(theirs.entry(one), theirs.entry(other)) and not _meet(ours.entry(a), ours.entry(b)):
            raise UnequalError(reasons.STRUCTURE, f"{path} and {other_path} lie in the same memory")


def _meet(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two tensors share an element's memory."""
    if one.get("storage") is None or one.get("storage") != other.get("storage"):
        return False
    try:
        tensors = np.asarray(_Described(one)), np.asarray(_Described(other))
        return np.shares_memory(*tensors, max_work=EFFORT)  # type: ignore[arg-type]  # numpy's stubs know two efforts
    except (np.exceptions.TooHardError, OverflowError, ValueError):  # no memory is as large as some say
        return True


class _Described:
    """Memory that is not there, of which numpy is told addresses, shape and strides only."""

    def __init__(self, entry: dict[str, Any]) -> None:
        item = entry["item"]
        self.__array_interface__ = {
            "version": 3, "typestr": f"|V{item}", "shape": tuple(entry["shape"]),
            "strides": tuple(s * item for s in entry["strides"]), "data": (BASE + entry["start"] * item, False),
        }  # fmt: skip


def _overlaps(entry: dict[str, Any]) -> bool:
    return any(n > 1 and s == 0 for n, s in zip(entry["shape"], entry["strides"], strict=True))


def _say(node: Node) -> str:
    kind, content = next(iter(node.items()))
    if kind in ("list", "tuple", "dict"):
        return f"a {kind} of {len(content)}"
    return "a tensor" if kind == "tensor" else f"a {type(content).__name__}"


def errors(
    path: str, answer: Array, eager: Array, golden: Array | None, noisy: list[Array], dtype: str, nature: Nature,
    span: Span | None = None,
) -> Errors:  # fmt: skip
    """Measure one floating output.

    Raises:
        UnequalError: NaN or infinity stand in other places than in the reference.
    """
    exact = golden if golden is not None and _sane(eager, golden) else eager
    if span is not None and not np.iscomplexobj(exact):
        answer = np.where(either_infinite(np, answer, [eager, *span]), eager, answer)
    for name, mask in (("NaN", np.isnan), ("infinity", np.isinf)):
        if not np.array_equal(mask(answer), mask(eager)) and not np.array_equal(mask(answer), mask(exact)):
            raise UnequalError(
                reasons.WRONG,
                f"{path}: {name} in {int(mask(answer).sum())} places, in the reference in {int(mask(eager).sum())}",
            )
    finite = np.isfinite(answer) & np.isfinite(exact)
    if np.iscomplexobj(exact):
        finite = np.isfinite(answer) & np.isfinite(exact)
    elif not np.array_equal(np.sign(answer[np.isinf(answer)]), np.sign(eager[np.isinf(answer)])):
        raise UnequalError(reasons.WRONG, f"{path}: infinities of the other sign")
    wanted = exact[finite]
    honest = [_distance(other[finite], wanted) for other in (eager, *noisy) if other.shape == exact.shape]
    typical = max if wanted.size < FEW else _median
    rmses, largests = ([h[n] for h in honest] for n in (0, 1))
    usual = partial(tolerance, dtype, rms(wanted), nature.terms, nature.sums, typical(rmses), typical(largests),
                    tf32=nature.tf32, few=wanted.size < FEW)  # fmt: skip
    limits = usual(ones=nature.ones)
    if _cut(answer[finite], wanted, dtype) and not _cut(eager[finite], wanted, dtype):
        raise UnequalError(reasons.WRONG, f"{path}: bits are cut off where {dtype} is rounded to")
    error = np.abs(answer[finite] - wanted)
    size = np.abs(wanted)
    rmse, largest = _distance(answer[finite], wanted)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        relative = np.where(size > 0, error / size, 0.0)
    counts = error
    if span is not None and not np.iscomplexobj(exact):
        ends = [eager[finite], wanted, *(end[finite] for end in span)]
        narrow = tolerance(dtype, rms(wanted), nature.terms, nature.sums, 0.0, 0.0)  # a step is none of its own error
        for steps in (limits, narrow):
            counts = np.where(stepping(np, answer[finite], ends, steps.atol + steps.rtol * size), 0.0, counts)
    allowed = LENIENT if nature.lenient else 1.0
    excess = _excess(counts, size, limits) / allowed
    rough = nature.ones and excess <= 1.0 < _excess(counts, size, usual()) / allowed
    low, high = (end * rms(wanted) for end in TF32)
    like_tf32 = excess > 1.0 and nature.products and dtype == "float32" and low < rmse < high
    return Errors(path, dtype, largest, float(relative.max(initial=0.0)), rmse, honest[0][0], limits, excess <= 1.0,
                  excess, like_tf32, rough)  # fmt: skip


def _cut(answer: Array, wanted: Array, dtype: str) -> bool:
    """Whether many numbers all lie within an ulp of what is wanted, on the side of zero, and by half of one on average.

    Rounded to the nearest they lie on both sides.
    """
    if dtype not in DIGITS or np.iscomplexobj(wanted):
        return False
    normal = np.abs(wanted) > NORMAL
    if int(normal.sum()) < MANY:
        return False
    ulps = 2.0 ** (np.floor(np.log2(np.abs(wanted[normal]))) - DIGITS[dtype])
    off = (np.abs(answer[normal]) - np.abs(wanted[normal])) / ulps
    return bool(np.mean((off > -1.02) & (off < 0.02)) > 0.99 and -0.6 < float(off.mean()) < -0.4)


def _excess(error: Array, size: Array, limits: Tolerance) -> float:
    """The largest ratio of an error to its limit."""
    rmse, largest = _distance(error, np.zeros_like(error))
    ratio = error / (limits.atol + limits.rtol * size)
    return max(float(ratio.max(initial=0.0)), rmse / limits.rmse, largest / max(limits.largest, limits.atol))


def _sane(eager: Array, golden: Array) -> bool:
    """Whether fp64 computes the same thing: not where dtype decides (masks of ``finfo.min``, rounding, fp32 inside)."""
    if eager.shape != golden.shape or not np.array_equal(np.isfinite(eager), np.isfinite(golden)):
        return False
    finite = np.isfinite(golden)
    return _distance(eager[finite], golden[finite])[0] <= 0.05 * max(rms(golden[finite]), 1e-30)


def _eights(dtype: str) -> Array:
    """The numbers of all 256 codes of a float8."""
    digits, bias, beyond = EIGHTS[dtype]
    codes = np.arange(128)
    exponent, fraction = codes >> digits, codes % (1 << digits)
    whole = np.where(exponent == 0, fraction, fraction + (1 << digits))
    size = np.ldexp(whole.astype(np.float64), np.maximum(exponent, 1) - bias - digits)
    size[beyond:] = math.nan
    if dtype == "float8_e5m2":
        size[beyond] = math.inf
    return np.concatenate([size, -size])


def exactly(
    path: str, answer: Array, eager: Array, golden: Array | None, span: Span | None = None, chosen: Chosen | None = None
) -> None:  # fmt: skip
    """Integers, booleans, float8: equal to eager or, where rounding decides, the golden or what is between honest ones.

    ``chosen``: of indices of which others would do, see ``kdata.verify.reference.choices``.

    Raises:
        UnequalError: somewhere they are neither.
    """
    right = (answer == eager) | ((answer != answer) & (eager != eager))
    if golden is not None and golden.shape == eager.shape:
        right |= answer == golden
    if span is not None and not np.all(right):
        right |= stepping(np, answer.astype(np.float64), [a.astype(np.float64) for a in (eager, *span)], 0.0)
    if chosen is not None and not np.all(right):
        right |= _whichever(answer, eager, *chosen)
    if not bool(np.all(right)):
        raise UnequalError(reasons.WRONG, f"{path}: {int((~right).sum())} of {answer.size} elements differ")


def _whichever(answer: Array, eager: Array, rows: Array, classes: Array) -> Array:
    """Where indices name what is equal to what eager names; nowhere where they name twice what it does not."""
    within = (answer >= 0) & (answer < classes.shape[1])
    named = np.where(within, answer, 0).astype(np.int64)
    twice, allowed = (np.unique(rows * classes.shape[1] + i).size for i in (named, eager.astype(np.int64)))
    return np.asarray(within & (classes[rows, named] == classes[rows, eager]) & (twice >= allowed))


def rms(values: Array) -> float:
    """Root of the mean square, also where squares are beyond fp64: a limit that is infinite limits nothing."""
    size = np.abs(values)
    largest = float(size.max(initial=0.0))
    return largest * math.sqrt(float(np.mean((size / largest) ** 2))) if 0 < largest < math.inf else largest


def _distance(one: Array, other: Array) -> tuple[float, float]:
    """Root mean square and largest of the differences; elements that are not finite do not count."""
    error = np.abs(one - other)
    error = error[np.isfinite(error)]
    return (rms(error), float(error.max())) if error.size else (0.0, 0.0)


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]

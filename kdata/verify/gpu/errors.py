"""Comparing large outputs on the device they were made on: ``evidence.compare`` in torch. In trusted children only.

The gates are those of ``kdata.verify.tolerances``; elements are taken in chunks, so that fp64 copies of gigabytes do
not have to fit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from kdata.verify.gpu.draws import pick
from kdata.verify.tolerances import LENIENT, Tolerance, either_infinite, stepping, tolerance

CHUNK = 1 << 26  # elements
Span = tuple[Tensor, Tensor]  # flat: the least and the largest answers to inputs moved by some ulps
CUT = 2.0  # by how much tensor cores, which cut factors to tf32, are worse than cuBLAS, which may round them
SANE = 0.05  # share of the golden's rms that the reference may be off before fp64 is taken to compute something else


@dataclass(slots=True)
class Sums:
    """What is known of a difference, chunk after chunk."""

    squares: float = 0.0
    largest: float = 0.0
    count: int = 0

    def add(self, error: Tensor) -> None:
        """Take in a chunk; elements that are not finite do not count."""
        error = error[torch.isfinite(error)]
        if error.numel():
            self.squares += float((error * error).sum())
            self.largest = max(self.largest, float(error.max()))
            self.count += error.numel()

    @property
    def rms(self) -> float:
        """Root of the mean square."""
        return math.sqrt(self.squares / self.count) if self.count else 0.0


@dataclass(slots=True)
class Measure:
    """One output of the reference: what a candidate's is held against."""

    eager: Tensor  # flat, in its own dtype
    golden: Tensor | None  # flat, fp64
    noisy: Tensor | None  # flat: the answer to inputs moved by an ulp
    terms: int
    sums: bool
    tf32: bool = False  # there are products, which may be computed in it
    lenient: bool = False  # inputs are of a kind that the task draws none of
    limits: Tolerance = field(default_factory=lambda: Tolerance(0.0, 0.0, 0.0, 0.0))
    honest: float = 0.0  # the reference's own rms error

    def prepare(self) -> None:
        """Choose the measure and set the limits."""
        if self.golden is not None and not self._sane():
            self.golden = None
        exact, size, eager, noisy = self.exact, Sums(), Sums(), Sums()
        for part in _chunks(exact):
            wanted = _wide(exact[part])
            size.add(wanted.abs())
            eager.add((_wide(self.eager[part]) - wanted).abs())
            if self.noisy is not None:
                noisy.add((_wide(self.noisy[part]) - wanted).abs())
        self.honest = eager.rms
        rms, largest = max(eager.rms, noisy.rms), max(eager.largest, noisy.largest)
        dtype = str(self.eager.dtype)[6:]
        twice = CUT if self.tf32 else 1.0
        self.limits = tolerance(dtype, size.rms, self.terms, self.sums, twice * rms, twice * largest, tf32=self.tf32)

    @property
    def exact(self) -> Tensor:
        """The golden, or where there is none eager itself."""
        return self.eager if self.golden is None else self.golden

    def _sane(self) -> bool:
        assert self.golden is not None
        size, error = Sums(), Sums()
        for part in _chunks(self.eager):
            wanted, eager = self.golden[part], _wide(self.eager[part])
            if not torch.equal(torch.isfinite(wanted), torch.isfinite(eager)):
                return False
            size.add(wanted.abs())
            error.add((eager - wanted).abs())
        return error.rms <= SANE * max(size.rms, 1e-30)

    def errors(self, answer: Tensor, span: Span | None = None) -> dict[str, Any]:
        """The errors of a whole output, as data; ``fault`` says what no tolerance covers.

        ``span``: where the reference steps within it, an answer between its ends is right.
        """
        total, counted, relative, excess = Sums(), Sums(), 0.0, 0.0
        for part in _chunks(answer):
            found, wanted, eager = _wide(answer[part]), _wide(self.exact[part]), _wide(self.eager[part])
            if span is not None:
                honest = [eager, wanted, *(_wide(end[part]) for end in span)]
                found = torch.where(either_infinite(torch, found, honest), eager, found)
            if fault := _fault(found, wanted, eager):
                return {"fault": fault}
            finite = torch.isfinite(wanted) & torch.isfinite(found)
            error, size = (found - wanted).abs()[finite], wanted.abs()[finite]
            total.add(error)
            allowed = self.limits.atol + self.limits.rtol * size
            if span is not None:
                ends = [v[finite] for v in honest]
                error = torch.where(stepping(torch, found[finite], ends, allowed), 0.0, error)
            counted.add(error)
            if error.numel():
                relative = max(relative, float(torch.where(size > 0, error / size, 0.0).max()))
                excess = max(excess, float((error / allowed).max()))
        limits = self.limits
        excess = max(excess, counted.rms / limits.rmse, counted.largest / max(limits.largest, limits.atol))
        excess /= LENIENT if self.lenient else 1.0
        return {
            "dtype": str(self.eager.dtype)[6:], "max_abs": total.largest, "max_rel": relative, "rmse": total.rms,
            "rmse_reference": self.honest, "limits": asdict(limits), "excess": excess,
        }  # fmt: skip


def _at(measure: Measure, where: Tensor | None) -> Measure:
    """A measure restricted to some places, with the limits of the whole."""
    if where is None:
        return measure
    golden = None if measure.golden is None else pick(measure.golden, where)
    return replace(measure, eager=pick(measure.eager, where), golden=golden, noisy=None)


def errors_of(
    measure: Measure | Tensor, answer: Tensor, where: Tensor | None, ends: Span | None = None
) -> dict[str, Any]:
    """The errors of what was kept of an output."""
    if isinstance(measure, Measure):
        return _at(measure, where).errors(answer, picked(ends, where))
    differ = unequal(answer, pick(measure, where), picked(ends, where))
    return {"fault": f"{differ} of {answer.numel()} integers differ"} if differ else {}


def picked(ends: Span | None, where: Tensor | None) -> Span | None:
    """The ends at some places."""
    return None if ends is None else (pick(ends[0], where), pick(ends[1], where))


def eager_of(measure: Measure | Tensor) -> Tensor:
    """The reference's answer: what is no float is its own measure."""
    return measure.eager if isinstance(measure, Measure) else measure


def unpacked(data: bytes, measures: list[Measure | Tensor], where: list[tuple[int, int, int]]) -> Iterator[Tensor]:
    """The tensors of a file that the candidate's process wrote one after another.

    Raises:
        ValueError: the file has another length.
    """
    offset = 0
    for measure, (_, count, run) in zip(measures, where, strict=True):
        like = eager_of(measure)
        elements = min(like.numel(), count * run)
        size = elements * like.element_size()
        part = bytearray(data[offset : offset + size])
        offset += size
        if len(part) != size:
            raise ValueError("the candidate's output is too short")
        yield torch.frombuffer(part, dtype=like.dtype).cuda() if elements else like
    if offset != len(data):
        raise ValueError("the candidate's output is too long")


def unequal(answer: Tensor, eager: Tensor, span: Span | None = None) -> int:
    """How many integers or booleans are neither eager's nor between honest ones."""
    wrong = answer != eager
    if span is not None:
        wrong &= ~stepping(torch, answer.double(), [v.double() for v in (eager, *span)], 0.0)
    return int(wrong.sum())


def near(answer: Tensor, eager: Tensor, limits: Tolerance, span: Span | None = None) -> float:
    """The largest ratio of an error to its limit, against eager, whose own error is within the limits, too."""
    found, wanted = _wide(answer), _wide(eager)
    if not found.numel():
        return 0.0
    if _fault(found, wanted, wanted):
        return math.inf
    error = torch.nan_to_num((found - wanted).abs(), nan=0.0, posinf=0.0)
    allowed = limits.atol + max(limits.largest, limits.atol) + limits.rtol * wanted.abs()
    if span is not None:
        error = torch.where(stepping(torch, found, [wanted, *map(_wide, span)], allowed), 0.0, error)
    return float((error / allowed).max())


def _fault(found: Tensor, wanted: Tensor, eager: Tensor) -> str:
    for name, mask in (("NaN", torch.isnan), ("infinity", torch.isinf)):
        if not torch.equal(mask(found), mask(eager)) and not torch.equal(mask(found), mask(wanted)):
            return f"{name} in {int(mask(found).sum())} places, in the reference in {int(mask(eager).sum())}"
    infinite = torch.isinf(found)
    if not found.is_complex() and not torch.equal(found[infinite].sign(), eager[infinite].sign()):
        return "infinities of the other sign"
    return ""


def _wide(values: Tensor) -> Tensor:
    return values.to(torch.complex128 if values.is_complex() else torch.float64)


def _chunks(values: Tensor) -> Iterator[slice]:
    for start in range(0, values.numel(), CHUNK):
        yield slice(start, start + CHUNK)

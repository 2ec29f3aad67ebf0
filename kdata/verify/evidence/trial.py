"""One trial's verdict: the candidate's report on a call, held against what the reference left for it."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kdata.record import Trial
from kdata.verify import reasons
from kdata.verify.evidence.compare import (
    EXACT,
    FEW,
    Chosen,
    Errors,
    Nature,
    Node,
    Span,
    Tensors,
    UnequalError,
    demand_apart,
    errors,
    exactly,
    leaves,
    rms,
    structure,
)
from kdata.verify.reference.styles import (
    BURDENS,
    CONDITIONED,
    FADING,
    FAINT,
    RAISED,
    REACHING,
    SPARSE,
    STRETCHED,
    UNDONE,
    VIEWS,
)
from kdata.verify.tolerances import Tolerance

NOTHING = Errors("", "", 0.0, 0.0, 0.0, 0.0, Tolerance(0.0, 0.0, 0.0, 0.0), True, 0.0)
ROUGH = ": right to some ulps of one, not of its own size"  # at the end of a trial's detail
LIKE_TF32 = ", as far off as products in tf32 are"
FADED = 1e-4  # of what an answer usually is
FLOATS = ("float64", "float32", "float16", "bfloat16")
OUTCOMES = {"no ModelNew": reasons.NO_MODEL_NEW, "constructor": reasons.CONSTRUCTOR, "state": reasons.STATE_DICT,
            "raises": reasons.RAISES, "memory": reasons.MEMORY, "structure": reasons.STRUCTURE, "fault": reasons.RAISES,
            "out of bounds": reasons.OUT_OF_BOUNDS, "unfinished": reasons.UNFINISHED, "unordered": reasons.ORDER,
            "behind": reasons.BEHIND, "keeps": reasons.STATEFUL}  # fmt: skip


class Expected:
    """What the reference's process left: the trials, and the tensors of its two files."""

    def __init__(self, value: dict[str, Any], given: bytes, kept: bytes) -> None:
        self.mode: str = value["mode"]
        self.variants: list[dict[str, str]] = value["variants"]
        self.trials: list[dict[str, Any]] = value["trials"]
        self.extra: list[dict[str, Any]] = value.get("extra", [])  # trials of kdata.verify.reference.breadth
        self.otherwise: list[dict[str, Any]] = value["otherwise"]  # one of them, called in other ways
        self.own: dict[str, Any] = value["own"] or {}  # its own sizes, where these were not computed
        self.outlines: list[dict[str, Any]] = value.get(
            "outlines", []
        )  # larger sizes, see kdata.verify.reference.larger
        self.base: dict[str, int] = value["base"]  # sizes of the base variant; empty where these are the task's own
        self.grows: dict[str, int] = value["grows"]  # the sizes that may vary, with the task's own values
        self.asked: list[int] = value.get("asked", [])  # whole numbers that the reference compares its own with
        self.manifest: list[dict[str, Any]] = value["given"]
        self.given_bytes = given
        self.moved: dict[str, Any] = value.get(
            "moved", {}
        )  # outputs that are moved only, see kdata.verify.candidate.moves
        self.copies: bool = value.get("copies", False)  # deep copies of it are modules of their own
        self.unused: list[str] = value["unused"]  # inputs and parameters that the answer does not depend on
        self.given, self.kept = Tensors(value["given"], given), Tensors(value["kept"], kept)

    def at(self, trials: list[dict[str, Any]]) -> Expected:
        """The same tensors with other trials of theirs."""
        other = copy.copy(self)
        other.trials = trials
        return other

    def called_one_way(self) -> Expected:
        """The same without calls in other modes and with gradients: for what cannot tell them apart."""
        other = copy.copy(self)
        other.otherwise = []
        return other

    def layout(self, number: int) -> dict[str, Any]:
        """What a trial's call is told of answers that are moved only; nothing where its inputs are views themselves."""
        trial = self.trials[number]
        if not self.moved or trial["style"] in VIEWS:
            return {}
        nodes = [node for _, node in leaves(trial["kept"]["eager"])]
        shapes = [self.kept.entry(nodes[n]["tensor"])["shape"] for n in self.moved["places"] if n < len(nodes)]
        elements = [] if self.moved["whole"] else [math.prod(shape) for shape in shapes]
        return {"elements": elements, "converts": self.moved["converts"], "kinds": self.moved["kinds"]}

    def sequence(self, numbers: Sequence[int], backwards: bool) -> list[dict[str, Any]]:
        """What each call is given; calls at the same sizes go to the same module with the same tensors.

        Of those at other sizes every other one goes to the module that was called before, too; of the modules that are
        made for them each but the first is a deep copy, where the reference's may be copied. What is called
        once more goes to the module that was called last.
        """
        chosen: list[dict[str, Any]] = []
        before: dict[str, Any] | None = None
        for place, number in enumerate(numbers):
            trial = self.trials[number]
            built = before is not None and before["given"]["build"] == trial["given"]["build"] != ""
            sized = before is not None and before["variant"] == trial["variant"]
            again = built and (sized or trial["variant"] % 2 == 1 or number in numbers[:place])
            chosen.append(trial["given"] | {"again": again, "sized": sized,
                                            "copied": self.copies and bool(chosen) and not again,
                                            "backwards": backwards and trial["backwards"],
                                            "layout": self.layout(number)})  # fmt: skip
            before = trial
        return chosen

    def afterwards(self, numbers: Sequence[int]) -> list[int]:
        """Of these trials the one of fewest elements and the first, where what is called last may be called so, too.

        Called once more after the last one, which is the largest, they show what is left of it: a workspace that is
        longer than a row, a table that was cut.
        """
        last = self.trials[numbers[-1]]
        natural = [n for n in numbers if self.trials[n]["style"] == "natural"]
        others = [n for n in natural if self.trials[n]["variant"] != last["variant"]]
        alike = [n for n in others if self.trials[n]["given"]["build"] == last["given"]["build"] != ""]
        fewest = sorted(alike, key=self.elements)[:1]
        return [n for n in dict.fromkeys((*fewest, numbers[0])) if n in alike]

    def elements(self, number: int) -> int:
        """Elements of what a trial is given, and one."""
        nodes = leaves(self.trials[number]["given"]["inputs"])
        shapes: list[list[int]] = [self.given.entry(n["tensor"])["shape"] for _, n in nodes if "tensor" in n]
        return 1 + sum(map(math.prod, shapes))

    def numbers(self, *kinds: str) -> list[int]:
        """The trials whose variants are of these kinds."""
        return [i for i, t in enumerate(self.trials) if self.variants[t["variant"]]["kind"] in kinds]


def compare(expected: Expected, number: int, report: dict[str, Any], returned: Tensors) -> tuple[Trial, str]:
    """The trial's record and the reason why it failed, "" if it passed."""
    trial = expected.trials[number]
    measured: list[Errors] = []
    try:
        _ended_well(report)
        _unchanged(expected, trial, report, returned)
        measured += _outputs(expected, trial, report, returned)
        measured += _state(expected, trial, report, returned)
        measured += _assigned(expected, trial, report, returned)
        _within(measured)
        if report["random"]:
            raise UnequalError(reasons.RANDOM, "torch's generator is in another state after the call")
    except UnequalError as unequal:
        return _record(expected, trial, measured, unequal.detail, False), unequal.reason
    rough = ROUGH if any(e.rough for e in measured) else ""
    return _record(expected, trial, measured, trial["detail"] + rough, True), ""


def failure(expected: Expected, number: int, detail: str) -> Trial:
    """The record of a trial from which nothing came back."""
    return _record(expected, expected.trials[number], [], detail, False)


def _ended_well(report: dict[str, Any]) -> None:
    if report["outcome"] != "ok":
        raise UnequalError(OUTCOMES[report["outcome"]], report["detail"])
    if report["out_of_bounds"]:
        raise UnequalError(reasons.OUT_OF_BOUNDS, "something was read or written outside")
    if report["racing"]:
        raise UnequalError(reasons.ORDER, report["racing"])
    if report["assumes"]:
        raise UnequalError(reasons.WRONG, "a kernel has the compiler assume what is not so")


def _within(measured: list[Errors]) -> None:
    failed = [e for e in measured if not e.passed]
    if failed:
        worst = max(failed, key=lambda e: e.excess)
        detail = f"{worst.path}: error {worst.max_abs:.3g}, {worst.excess:.3g} times what is allowed"
        detail += LIKE_TF32 if all(e.like_tf32 for e in failed) else ""
        raise UnequalError(reasons.WRONG, detail)


def _record(expected: Expected, trial: dict[str, Any], measured: list[Errors], detail: str, passed: bool) -> Trial:
    worst = max(measured, key=lambda e: e.excess, default=NOTHING)
    dtypes = [expected.kept.entry(n["tensor"])["dtype"] for _, n in leaves(trial["kept"]["eager"]) if "tensor" in n]
    return Trial(
        sizes=expected.variants[trial["variant"]]["sizes"], shapes=trial["shapes"], seed=trial["seed"],
        dtype=worst.dtype or next(iter(dtypes), ""), max_abs=worst.max_abs, max_rel=worst.max_rel, rmse=worst.rmse,
        rmse_reference=worst.rmse_reference, atol=worst.limits.atol, rtol=worst.limits.rtol, passed=passed,
        detail=detail,
    )  # fmt: skip


def nature(trial: dict[str, Any]) -> Nature:
    """What the reference's forward does."""
    kept = trial["kept"]
    sums = kept["sums"] or kept["products"]
    style = trial["style"]
    near_nothing = ("small", STRETCHED, FADING, *SPARSE, *FAINT)
    ones = style in near_nothing or (style in REACHING and not kept.get("homogeneous"))
    lenient = style in (*CONDITIONED, *RAISED, *FAINT, *BURDENS)
    rows = kept["along"] if style in ("magnitudes", *BURDENS, UNDONE) else None
    return Nature(kept["terms"], sums, ones, kept["tf32"], kept["products"], lenient, rows)


def span_of(kept: dict[str, Any], path: str, dtype: str, ours: Tensors) -> Span | None:
    """The ends of what an output is when inputs move by some ulps; None where nothing steps."""
    ends = [dict(leaves(node)).get(path, {}) for node in kept.get("span", ())]
    found = [ours.array(n["tensor"]) for n in ends if "tensor" in n and ours.entry(n["tensor"])["dtype"] == dtype]
    return (found[0], found[1]) if len(found) == 2 else None


def chosen_of(kept: dict[str, Any], path: str, ours: Tensors) -> Chosen | None:
    """Rows and classes of an output of indices of which others would do; None for any other output."""
    parts = [dict(leaves(node)).get(path, {}) for node in kept.get("chosen", ())]
    found = [ours.array(n["tensor"]) for n in parts if "tensor" in n]
    return (found[0], found[1]) if len(found) == 2 else None


def _outputs(expected: Expected, trial: dict[str, Any], report: dict[str, Any], returned: Tensors) -> list[Errors]:
    kept, ours = trial["kept"], expected.kept
    pairs = structure(kept["eager"], ours, report["outputs"], returned)
    _no_alias(kept, ours, report, returned)
    demand_apart(kept["eager"], ours, report["outputs"], returned)
    golden = dict(leaves(kept["golden"])) if kept["golden"] else {}
    noisy = [dict(leaves(node)) for node, _ in kept["noisy"]]
    usual = nature(trial)
    first = dict(leaves(expected.trials[0]["kept"]["eager"])) if trial["style"] == "natural" else {}
    measured = []
    for path, eager, answer in pairs:
        others = [n[path] for n in noisy if path in n]
        if "tensor" in eager:
            kind = replace(usual, ones=True) if _faded(eager, first.get(path, {}), ours) else usual
            ends = span_of(kept, path, ours.entry(eager["tensor"])["dtype"], ours)
            chosen = chosen_of(kept, path, ours)
            measured += _tensor(path, eager, answer, golden.get(path), others, ours, returned, kind, ends, chosen)
        else:
            _plain(path, eager, answer)
    return measured


def _faded(eager: Node, first: Node, ours: Tensors) -> bool:
    """Whether a few numbers are next to nothing beside the ``first`` trial's, though nothing small was given.

    So are those behind a gate that has shut: what was near one before it is rounded as one.
    """
    if "tensor" not in first or math.prod(ours.entry(eager["tensor"])["shape"]) >= FEW:
        return False
    now, usual = (ours.array(node["tensor"]) for node in (eager, first))
    return now.dtype.kind == "f" and now.size > 0 and rms(now) < FADED * min(1.0, rms(usual))


def _tensor(
    path: str,
    eager: Node,
    answer: Node,
    golden: Node | None,
    noisy: list[Node],
    ours: Tensors,
    theirs: Tensors,
    kind: Nature,
    span: Span | None = None,
    chosen: Chosen | None = None,
) -> list[Errors]:
    dtype = ours.entry(eager["tensor"])["dtype"]
    exact = ours.array(golden["tensor"]) if golden and "tensor" in golden else None
    if dtype.startswith(EXACT):
        exactly(path, theirs.array(answer["tensor"]), ours.array(eager["tensor"]), exact, span, chosen)
        return []
    moved = [ours.array(n["tensor"]) for n in noisy if "tensor" in n]
    got, wanted = theirs.array(answer["tensor"]), ours.array(eager["tensor"])
    if kind.rows is None or not wanted.ndim:
        return [errors(path, got, wanted, exact, moved, dtype, kind, span)]
    axis = kind.rows if wanted.ndim > kind.rows else 0  # what is reduced over the others has that one alone
    rows = [(*[np.s_[:]] * axis, np.s_[n : n + 1]) for n in range(wanted.shape[axis])]
    return [
        errors(f"{path}, {'column' if axis else 'row'} {row[-1].start}", got[row], wanted[row],
               None if exact is None else exact[row], [m[row] for m in moved if m.shape == wanted.shape], dtype, kind,
               span and (span[0][row], span[1][row]))
        for row in rows
    ]  # fmt: skip


def _plain(path: str, eager: Node, answer: Node) -> None:
    one, other = eager.get("value", eager), answer.get("value", answer)
    close = type(one) is type(other) and (
        one == other or (isinstance(one, float) and abs(one - other) <= 1e-5 * abs(one))
    )
    if not (close or (one != one and other != other)):
        raise UnequalError(reasons.WRONG, f"{path} is {other!r}, in the reference {one!r}")


def overwrites(before: dict[str, Any], after: dict[str, Any], kept: dict[str, Any], expected: Expected,
               returned: Tensors) -> bool:  # fmt: skip
    """Whether what one call returned was changed by the next one, though it shares no memory with what is given."""
    if not after.get("earlier") or before["outcome"] != "ok":
        return False
    if _shared(kept["eager"], [kept["inputs"], kept["state"]], expected.kept):
        return False
    pairs = zip(leaves(before["outputs"]), leaves(after["earlier"]), strict=True)
    return any("tensor" in a and returned.raw(a["tensor"]) != returned.raw(b["tensor"]) for (_, a), (_, b) in pairs)


def alike(one: dict[str, Any], other: dict[str, Any], returned: Tensors) -> bool:
    """Whether two calls returned the same, bit by bit."""
    if "outputs" not in one or "outputs" not in other:
        return False
    pairs = zip(leaves(one["outputs"]), leaves(other["outputs"]), strict=False)
    return all(returned.raw(a["tensor"]) == returned.raw(b["tensor"]) for (_, a), (_, b) in pairs if "tensor" in a)


def _shared(outputs: Node, held: list[Node], tensors: Tensors) -> bool:
    """Whether one of the outputs shares memory with one of the others."""
    memory = {tensors.entry(n["tensor"]).get("storage") for node in held for _, n in leaves(node) if "tensor" in n}
    return any(tensors.entry(n["tensor"]).get("storage") in memory for _, n in leaves(outputs) if "tensor" in n)


def _no_alias(kept: dict[str, Any], ours: Tensors, report: dict[str, Any], theirs: Tensors) -> None:
    """Outputs share no memory with inputs or weights unless the reference's do."""
    theirs_shared = _shared(report["outputs"], [report["inputs"], report["state"]], theirs)
    if theirs_shared and not _shared(kept["eager"], [kept["inputs"], kept["state"]], ours):
        raise UnequalError(reasons.STRUCTURE, "an output shares memory with an input or a weight")


def _unchanged(expected: Expected, trial: dict[str, Any], report: dict[str, Any], returned: Tensors) -> None:
    """Inputs and weights are what they were, except where the reference changes them too."""
    given, kept = trial["given"], trial["kept"]
    for what in ("inputs", "state"):
        before, after = dict(leaves(given[what], what)), dict(leaves(report[what], what))
        reference = dict(leaves(kept[what], what))
        tensors = [path for path, node in before.items() if "tensor" in node]
        used = {path for n, path in enumerate(tensors) if what == "inputs" and n in report.get("used", ())}
        if before.keys() != after.keys():
            raise UnequalError(reasons.MUTATES, f"{what} have other members after the call")
        for path, node in before.items():
            if "tensor" not in node:
                continue
            old = expected.given.raw(node["tensor"])
            entry = returned.entry(after[path]["tensor"]) if "tensor" in after[path] else {}
            if what == "inputs" and entry.get("attributes"):
                raise UnequalError(reasons.MUTATES, f"{path} has {', '.join(entry['attributes'])} after the call")
            same = "bytes" in entry and returned.raw(after[path]["tensor"]) == old
            if expected.kept.raw(reference[path]["tensor"]) != old:
                continue
            if not same:
                raise UnequalError(reasons.MUTATES, f"{path} differs after the call")
            if path in used:
                raise UnequalError(reasons.MUTATES, f"{path} differs between its kernels, and is restored")


def _state(expected: Expected, trial: dict[str, Any], report: dict[str, Any], returned: Tensors) -> list[Errors]:
    """What the reference changes in its buffers (BatchNorm's running statistics), the candidate must change alike."""
    kept, ours = trial["kept"], expected.kept
    before, after = dict(leaves(trial["given"]["state"])), dict(leaves(report["state"]))
    golden = dict(leaves(kept["golden_state"])) if kept.get("golden_state") else {}
    noisy = [dict(leaves(node)) for _, node in kept["noisy"]]
    measured = []
    for path, node in leaves(kept["state"]):
        changed = "tensor" in node and ours.raw(node["tensor"]) != expected.given.raw(before[path]["tensor"])
        if changed:
            others = [n[path] for n in noisy if path in n]
            name = path.replace("output", "state")
            measured += _tensor(name, node, after[path], golden.get(path), others, ours, returned, nature(trial))
    return measured


def _assigned(expected: Expected, trial: dict[str, Any], report: dict[str, Any], returned: Tensors) -> list[Errors]:
    """What the reference puts in an input, a cache say, the candidate must put there, too.

    Not so in views, for which kernels may be given copies.
    """
    kept, ours = trial["kept"], expected.kept
    if not kept.get("assigned") or trial["style"] in VIEWS:
        return []
    after = [(path, node) for path, node in leaves(report["inputs"], "inputs") if "tensor" in node]
    left = [node for _, node in leaves(kept["inputs"]) if "tensor" in node]
    if len(after) != len(left):
        raise UnequalError(reasons.MUTATES, "inputs have other members after the call")
    found = []
    for n in kept["assigned"]:
        path, node = after[n]
        if returned.entry(node["tensor"])["shape"] != ours.entry(left[n]["tensor"])["shape"]:
            raise UnequalError(reasons.MUTATES, f"{path} has another shape after the call")
        found += _tensor(f"{path} after the call", left[n], node, None, [], ours, returned, nature(trial))
    return found

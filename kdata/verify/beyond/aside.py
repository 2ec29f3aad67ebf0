"""Arms of a candidate's wrapper that no trial has taken: do they answer, too? The trusted side.

Trials call a forward in few ways: on contiguous tensors of the task's dtype, on one device. What a wrapper does where
``not x.is_contiguous()`` they do not see. So it is called where its own tests ask about: such an arm may raise, may
leave the work to torch, may be rough, but what it answers must be near the answer. Arms that nothing here can bring
about (another device, an address, ten thousand rows) are forced: what tells large from small gives one answer, and
its kernels give it, for torch is not to do the work at some sizes. Ranks and few elements, as none at all, are given
to the reference, too. Other arms are told of and left alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np

from kdata.sandbox.pool import lease
from kdata.sandbox.worker import Answer, JobError
from kdata.verify import reasons
from kdata.verify.beyond import whole
from kdata.verify.candidate.arms import RANKS, RETYPED, SIZES, SMALL, Test, tests
from kdata.verify.evidence.compare import EXACT, Tensors, leaves
from kdata.verify.evidence.findings import Findings, RejectedError
from kdata.verify.evidence.trial import Expected
from kdata.verify.exchange.scratch import GIVEN, KEPT, RETURNED
from kdata.verify.options import LOADED, Options

CHECK = "every branch of what calls its kernels was taken"
NEAR = 0.1  # of an answer's norm, by which it may be off where it is called so
# The same where products may be in half precision, whose eps this is six times of, and of an arm that is forced: what
# an answer never follows from may choose another kernel, but changes nothing.
HALF = 0.006
MOST_FORCED = 8
MOST_TOLD = 3
MOST_PAIRS, MOST_CUTS = 3, 60  # of sizes that are cut together, and ways to cut them beside such as are small
Left = list[tuple[Test, bool]]
Cuts = tuple[tuple[tuple[int, int], ...], ...]
Run = Callable[[Expected, dict[str, Any]], Answer]
NOTHING: dict[str, Any] = {"arms": [], "ways": [], "always": [], "forced": [], "kept": [], "cuts": [], "others": False,
                           "ranked": [], "retyped": False}  # fmt: skip
STEPS = frozenset({"stride", "strides"})
MEMORY = ("strided", "offset", "transposed", "padded", "channels last")
# The same numbers: nothing is rougher there.
SAME = frozenset({*MEMORY, "derived", "parameter", "card", "paged", "stream", RETYPED})
EARLY = {"unfinished": reasons.UNFINISHED, "unordered": reasons.ORDER}
# What may be kept from call to call, and what a module loses of itself in half precision.
KEEPS, LOSES = re.compile(r"\w\[[^\]\n:]+\] = |cache|\bglobal |is None|setdefault"), "persistent=False"
READ = re.compile(r"\.(\w+)\b(?!\s*=[^=])")
# What texts may go by without any test, by arithmetic, or by one that small tensors answer both ways: such calls are
# made whatever arms they take.
ALWAYS: dict[str, str] = {
    **dict.fromkeys(("channels_last", "channels_last_3d"), "channels last"),
    **dict.fromkeys(("requires_grad", "is_leaf"), "derived"),
    **dict.fromkeys(("is_autocast_enabled", "is_autocast_cpu_enabled", "get_autocast_dtype"), "autocast"),
    "is_inference": "inferred",
    **dict.fromkeys(("are_deterministic_algorithms_enabled", "get_float32_matmul_precision"), "switches"),
    **dict.fromkeys(("device_count", "current_device", "get_device", "get_device_properties", "index"), "card"),
    **dict.fromkeys(("Stream", "ExternalStream", "default_stream", "set_stream"), "stream"),
    "data_ptr": "paged", "storage_offset": "offset",
}  # fmt: skip
# What a test asks, and in which ways it is called for that.
WAYS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("is_contiguous", "stride", "strides", "memory_format"), MEMORY),
    **dict.fromkeys(("storage_offset", "data_ptr", "_version"), ("offset",)),
    **dict.fromkeys(("requires_grad", "is_leaf", "grad_fn"), ("derived", "parameter")),
    **dict.fromkeys(("grad", "Parameter"), ("parameter",)),
    **dict.fromkeys(("is_autocast_enabled", "is_autocast_cpu_enabled", "get_autocast_dtype", "get_autocast_gpu_dtype",
                     "is_autocast_available"), ("autocast",)),
    "is_inference": ("inferred",),
    **dict.fromkeys(("get_default_dtype", "are_deterministic_algorithms_enabled", "initial_seed",
                     "get_float32_matmul_precision"), ("switches",)),
    **dict.fromkeys(("type", "isinstance"), ("kind", "parameter")),
    **dict.fromkeys(("dtype", "element_size", "itemsize", "is_floating_point", "float64", "float16", "bfloat16"),
                    ("float64", "float16", "bfloat16")),
}  # fmt: skip
# What an answer never follows from: tests about these are forced.
PLACE = frozenset({
    "hash", "id", "data_ptr", "_version", "initial_seed", "repr", "__doc__", "__name__", "device_count",
    "current_device", "get_device", "is_cuda", "is_cpu", "device", "get_device_name", "get_device_capability",
    "get_device_properties", "is_leaf", "grad_fn", "grad", "is_pinned", "is_shared", "is_inference", "is_tracing",
    "is_scripting", "is_compiling", "is_neg", "is_conj", "storage_offset", "requires_grad", "is_grad_enabled",
    "is_inference_mode_enabled", "get_default_dtype", "are_deterministic_algorithms_enabled", "memory_allocated",
    "memory_reserved", "mem_get_info", "get_arch_list", "elapsed_time", "register_forward_hook", "current_stream",
    "register_forward_pre_hook", "is_autocast_enabled", "is_autocast_cpu_enabled", "get_autocast_dtype", "is_quantized",
    "get_float32_matmul_precision", "allow_tf32", "is_bf16_supported", "is_anomaly_enabled",
})  # fmt: skip
# What is known of a card but for how many processors it has, and where a tensor is.
OF_A_CARD = (PLACE | frozenset({
    "total_memory", "name", "major", "minor", "uuid", "warp_size", "L2_cache_size", "clock_rate", "memory_clock_rate",
    "memory_bus_width", "shared_memory_per_block", "shared_memory_per_block_optin", "shared_memory_per_multiprocessor",
    "regs_per_multiprocessor", "max_threads_per_multi_processor", "max_threads_per_block", "is_integrated",
    "pci_bus_id", "pci_device_id", "pci_domain_id",
})) - {"get_device_properties", "is_cuda", "is_cpu", "device", "current_device", "get_device"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Shapes:
    """Which shapes a reference is given: as ``kdata.verify.reference.elsewhere`` takes them."""

    counts: tuple[int, ...] = ()
    ranks: bool = False
    spread: bool = False
    cuts: Cuts = ()


def look(text: str, expected: Expected, run: Run, elsewhere: Callable[[Shapes], Expected], found: Findings) -> None:
    """Call it where its own tests ask about; note which arms no call has taken.

    ``elsewhere``: the reference given tensors of other shapes.

    Raises:
        RejectedError: one that was not judged gives another answer.
    """
    asked, taken = {test.number: test for test in tests(text)}, set(found.arms)
    left = [(test, arm) for test in asked.values() for arm in (True, False)
            if (test.number, arm) not in taken and arm not in test.refuses]  # fmt: skip
    always = list(dict.fromkeys(ALWAYS[word] for word in READ.findall(text) if word in ALWAYS))
    try:
        keeps = KEEPS.search(text) is not None and LOSES not in text
        if planned := _plan(left, taken, always, retyped=keeps and _single(expected)):
            taken |= _called(asked, expected, run(expected, planned))
        taken |= _called_elsewhere(asked, _but(left, taken), run, elsewhere)
        if cuts := _searched(_but(left, taken), taken, expected, run):
            taken |= _called_at(asked, _but(left, taken), run, elsewhere(Shapes(cuts=cuts)))
    except JobError as error:
        found.check(CHECK, False, f"not seen: {error}"[:300])
        return
    _tell([(t, arm) for t, arm in left if t.whole and (t.number, arm) not in taken and (t.number, not arm) in taken],
          found)  # fmt: skip


def _but(left: Left, taken: set[tuple[int, bool]]) -> Left:
    """The arms that none of these is."""
    return [(test, arm) for test, arm in left if (test.number, arm) not in taken]


def _called_elsewhere(
    asked: dict[int, Test], left: Left, run: Run, elsewhere: Callable[[Shapes], Expected]
) -> set[tuple[int, bool]]:
    """Judge calls with tensors of other ranks, few elements or one row, where these tests ask about some; arms taken.

    Raises:
        RejectedError: one of them gives another answer.
    """
    few = [(test, arm) for test, arm in left if test.words & (SIZES | RANKS) and not test.sized]
    numbers = tuple(sorted({n for test, _ in few for n in test.small}))
    ranks = any(test.words & RANKS for test, _ in few)
    spread = any(test.words & STEPS for test, _ in few)
    if not (numbers or ranks or spread):
        return set()
    return _called_at(asked, few, run, elsewhere(Shapes(numbers, ranks, spread)))


def _called_at(asked: dict[int, Test], left: Left, run: Run, there: Expected) -> set[tuple[int, bool]]:
    """Judge calls of which each takes one of these arms; the arms taken.

    Raises:
        RejectedError: one of them gives another answer.
    """
    ranked = [[test.number, arm] for test, arm in left if test.words & RANKS]
    plan = NOTHING | {"arms": [[test.number, arm] for test, arm in left], "ranked": ranked, "others": True}
    return _called(asked, there, run(there, plan)) if there.trials else set()


def _searched(left: Left, taken: set[tuple[int, bool]], expected: Expected, run: Run) -> Cuts:
    """Cuts of the first trial's inputs at which arms are taken that no other call takes, for what sizes are to another.

    Nobody can say what ``gcd(rows, columns) == 7`` asks for; among a few hundred small sizes some answer it.
    """
    joint = [(t, arm) for t, arm in left if t.words & SIZES and not (t.sized or t.words & (RANKS | STEPS))]
    sized = [[t.number, arm] for t, arm in joint if (t.number, not arm) in taken]
    cuts = _cuts(expected) if sized else []
    if not cuts:
        return ()
    reports = run(expected, NOTHING | {"arms": sized, "cuts": cuts}).value.get("trials", ())
    return tuple(tuple((size, count) for size, count in report["cut"]) for report in reports)


def _cuts(expected: Expected) -> list[list[tuple[int, int]]]:
    """Pairs of sizes that the first input has, each with fewer: all that are small, and some others."""
    nodes = (n for _, n in leaves(expected.trials[0]["given"]["inputs"]) if "tensor" in n)
    shape: list[int] = next((expected.given.entry(n["tensor"])["shape"] for n in nodes), [])
    pairs = [(a, b) for a, b in combinations(dict.fromkeys(shape), 2) if min(a, b) > 1][:MOST_PAIRS]
    return [[(a, m), (b, n)] for a, b in pairs for m, n in _fewer(a, b)]


def _fewer(a: int, b: int) -> list[tuple[int, int]]:
    """Sizes up to these two: all that are small, and some others; there may be too many to write down."""
    near = [(m, n) for m in range(2, min(a, SMALL) + 1) for n in range(2, min(b, SMALL) + 1)]
    every = (a - 1) * (b - 1)
    step = -(-every // MOST_CUTS)
    step += step % (b - 1) == 0  # else the second would always be the same
    far = ((2 + i // (b - 1), 2 + i % (b - 1)) for i in range(0, every, step))
    return [*near, *(c for c in far if max(c) > SMALL)]


def _called(asked: dict[int, Test], expected: Expected, answer: Answer) -> set[tuple[int, bool]]:
    """Judge calls; the arms that were taken and not forced.

    Raises:
        RejectedError: one of them gives another answer.
    """
    if "failed" in answer.value:
        raise RejectedError(*answer.value["failed"])
    returned = Tensors(answer.value["manifest"], answer.files.get(RETURNED, b""))
    reports = answer.value["trials"]
    _judge(asked, expected, reports, returned)
    return {(number, arm) for report in reports for number, arm in report["arms"] if not report["forced"]}


def _single(expected: Expected) -> bool:
    """Whether all that the first trial's inputs and weights have of fractions is of single precision."""
    given = expected.trials[0]["given"]
    nodes = [n for part in ("inputs", "state") for _, n in leaves(given[part]) if "tensor" in n]
    dtypes = {expected.given.entry(n["tensor"])["dtype"] for n in nodes}
    return {d for d in dtypes if not d.startswith(EXACT)} == {"float32"}


def _plan(left: Left, taken: set[tuple[int, bool]], always: list[str], retyped: bool) -> dict[str, Any]:
    """Which arms the candidate's child is asked for, ways to call it, and arms to force; empty for nothing.

    ``always``: ways that tell something whatever arms they take; ``retyped``: whether half precision comes first.
    """
    words = frozenset[str]().union(*(test.words for test, _ in left))
    ways = list(dict.fromkeys([*always, *(way for word, found in WAYS.items() if word in words for way in found)]))
    forced = [[test.number, arm] for test, arm in left if test.words & PLACE and not _of_tiles(test)][:MOST_FORCED]
    sized = [[t.number, arm] for t, arm in left if t.sized and (t.number, not arm) in taken]
    forced += [arm for arm in sized if arm not in forced][:MOST_FORCED]
    kept = [[t.number, arm] for t, arm in left if t.counts and [t.number, arm] not in forced]
    arms = [[test.number, arm] for test, arm in left if test.sized or test.words & (PLACE | WAYS.keys())]
    plan = NOTHING | {"arms": arms, "ways": ways, "always": always, "forced": forced, "kept": kept, "retyped": retyped}
    return plan if ways or forced or kept or retyped else {}


def _of_tiles(test: Test) -> bool:
    """Whether it asks if there are programs: fewer than tiles or than processors, none of them if there are no tiles.

    A card has some, whatever card it is; how many is told otherwise where it is called as on another one. What else is
    known of a card is not: such a test is forced.
    """
    counts = "get_device_properties" in test.words and test.words.isdisjoint(OF_A_CARD)
    return test.empty and counts and not test.words.isdisjoint(SIZES)


def _judge(asked: dict[int, Test], expected: Expected, reports: list[dict[str, Any]], returned: Tensors) -> None:
    """Hold calls that took such arms against the answer of the trial whose values they had.

    Raises:
        RejectedError: one of them gives another answer.
    """
    for report in reports:
        if report["way"] == "stream" and report["outcome"] in EARLY:
            raise RejectedError(EARLY[report["outcome"]], f"where its caller works on a stream: {report['detail']}")
        number, arm = report["arms"][0] if report["arms"] else (-1, False)
        if report["outcome"] == "ok" and report["forced"] and asked[number].sized and report["aten"]:
            called = f"{_said(asked[number], arm)}: {', '.join(report['aten'])}"
            raise RejectedError(reasons.ATEN, f"line {asked[number].line}: {called}")
        if report["outcome"] != "ok" or _near(expected, report, returned):
            continue
        if not report["arms"]:
            raise RejectedError(reasons.BRANCH, f"called in another way: {report['way']}")
        raise RejectedError(reasons.BRANCH, f"line {asked[number].line}: {_said(asked[number], arm)}")


def _tell(left: Left, found: Findings) -> None:
    """Note which arms of tests that were reached no call has taken, but for those that raise."""
    more = f" and {len(left) - MOST_TOLD} more" if len(left) > MOST_TOLD else ""
    said = "; ".join(f"line {test.line}: {_said(test, arm)}" for test, arm in left[:MOST_TOLD])
    found.check(CHECK, not left, f"never: {said}{more}" if left else "")


def _said(test: Test, arm: bool) -> str:
    return test.text if arm else f"not ({test.text})"


def _near(expected: Expected, report: dict[str, Any], returned: Tensors) -> bool:
    """Whether each output is there, and not far from what it ought to be; of whatever dtype where that may change."""
    if report["way"] in SAME and whole.wrong(expected, report["trial"], report, returned, entire=True):
        return False
    near = HALF if report["way"] == "autocast" or report["forced"] else NEAR
    wanted = [n for _, n in leaves(expected.trials[report["trial"]]["kept"]["eager"])]
    got = [n for _, n in leaves(report["outputs"])]
    return len(wanted) == len(got) and all(
        _alike(expected.kept, one, returned, other, near) for one, other in zip(wanted, got, strict=True)
    )


def _alike(ours: Tensors, one: dict[str, Any], theirs: Tensors, other: dict[str, Any], near: float) -> bool:
    if "tensor" not in one or "tensor" not in other:
        return "tensor" not in one
    wanted, got = ours.array(one["tensor"]), theirs.array(other["tensor"])
    if wanted.shape != got.shape:
        return False
    if ours.entry(one["tensor"])["dtype"].startswith(EXACT):
        return bool((wanted != got).mean() <= near) if wanted.size else True
    with np.errstate(all="ignore"):
        both = np.isfinite(wanted) & np.isfinite(got)
        lost = np.isnan(got) & np.isfinite(wanted)
        off, size = np.linalg.norm((got - wanted)[both]), np.linalg.norm(wanted[both])
    return bool(off <= near * size and lost.sum() <= near * wanted.size) and bool(
        both.any() or not np.isfinite(wanted).any()
    )


@lru_cache(maxsize=8)
def expect(
    source: str, entry_point: str, options: Options, mode: str, base: tuple[tuple[str, int], ...],
    shapes: Shapes,
) -> Expected:  # fmt: skip
    """Run a task's reference on tensors of other shapes: ``kdata.verify.reference.elsewhere``.

    Raises:
        JobError: that cannot be done.
    """
    payload = {"source": source, "entry_point": entry_point, "variants": 1, "seeds": [options.seed + 1],
               "level": "screen", "whole": 0, "precision": options.precision, "mode": mode, "base": dict(base),
               "counts": list(shapes.counts), "ranks": shapes.ranks, "spread": shapes.spread,
               "cuts": [[list(pair) for pair in cut] for cut in shapes.cuts]}  # fmt: skip
    with lease("torch", "kdata.verify.reference.reference:warm") as worker:
        answer = worker.call(
            "kdata.verify.reference.elsewhere:answer", payload, options.limits(patience=LOADED), fetch=(GIVEN, KEPT)
        )
    if "fault" in answer.value:
        raise JobError("fault", str(answer.value["fault"][1]))
    if answer.files.keys() != {GIVEN, KEPT}:
        raise JobError("no answer", "it left no tensors")
    return Expected(answer.value, answer.files[GIVEN], answer.files[KEPT])

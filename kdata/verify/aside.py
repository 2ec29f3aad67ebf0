"""Arms of a candidate's wrapper that no trial has taken: do they answer, too? The trusted side.

Trials call a forward in few ways: on contiguous tensors of the task's dtype, on one device. What a wrapper does where
``not x.is_contiguous()`` they do not see. So it is called where its own tests ask about: such an arm may raise, may
leave the work to torch, may be rough, but what it answers must be near the answer. Arms that nothing here can bring
about (another device, an address) are forced. Arms that depend on sizes and arguments are told of and left alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kdata.sandbox.worker import Answer, JobError
from kdata.verify import reasons
from kdata.verify.arms import Test, tests
from kdata.verify.compare import EXACT, Tensors, leaves
from kdata.verify.findings import Findings, RejectedError
from kdata.verify.scratch import RETURNED
from kdata.verify.trial import Expected

CHECK = "every branch of what calls its kernels was taken"
NEAR = 0.1  # of an answer's norm, by which it may be off where it is called so
MOST_FORCED = 8
MOST_TOLD = 3
Left = list[tuple[Test, bool]]
MEMORY = ("strided", "offset", "transposed", "channels last")
# What a test asks, and in which ways it is called for that.
WAYS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("is_contiguous", "stride", "strides", "memory_format"), MEMORY),
    **dict.fromkeys(("storage_offset", "data_ptr", "_version"), ("offset",)),
    **dict.fromkeys(("requires_grad", "is_leaf", "grad_fn"), ("derived", "parameter")),
    **dict.fromkeys(("grad", "Parameter"), ("parameter",)),
    **dict.fromkeys(("is_autocast_enabled", "is_autocast_cpu_enabled", "get_autocast_dtype", "get_autocast_gpu_dtype",
                     "is_autocast_available"), ("autocast",)),
    "is_inference": ("inferred",),
    **dict.fromkeys(("get_default_dtype", "are_deterministic_algorithms_enabled", "initial_seed"), ("switches",)),
    **dict.fromkeys(("type", "isinstance"), ("kind", "parameter")),
    **dict.fromkeys(("dtype", "element_size", "itemsize", "is_floating_point", "float64", "float16", "bfloat16"),
                    ("float64", "float16", "bfloat16")),
}  # fmt: skip
# What an answer never follows from: tests about these are forced.
PLACE = frozenset({
    "hash", "id", "data_ptr", "_version", "initial_seed", "repr", "__doc__", "__name__", "device_count",
    "current_device", "get_device", "is_cuda", "is_cpu", "device", "get_device_name", "get_device_capability",
    "get_device_properties", "is_leaf", "grad_fn", "grad", "is_pinned", "is_shared", "is_inference", "is_tracing",
    "is_scripting", "is_neg", "is_conj", "storage_offset", "requires_grad", "is_grad_enabled",
    "is_inference_mode_enabled", "get_default_dtype", "are_deterministic_algorithms_enabled", "memory_allocated",
    "memory_reserved", "mem_get_info", "get_arch_list", "elapsed_time", "register_forward_hook", "current_stream",
    "register_forward_pre_hook", "is_autocast_enabled", "is_autocast_cpu_enabled", "get_autocast_dtype", "is_quantized",
})  # fmt: skip


def look(text: str, expected: Expected, run: Callable[[dict[str, Any]], Answer], found: Findings) -> None:
    """Call it where its own tests ask about; note which arms no call has taken.

    Raises:
        RejectedError: one that was not judged gives another answer.
    """
    asked, taken = tests(text), set(found.arms)
    left = [(test, arm) for test in asked for arm in (True, False)
            if (test.number, arm) not in taken and arm not in test.refuses]  # fmt: skip
    if planned := _plan(left):
        try:
            answer = run(planned)
        except JobError as error:
            found.check(CHECK, False, f"not seen: {error}"[:300])
            return
        if "failed" in answer.value:
            raise RejectedError(*answer.value["failed"])
        returned = Tensors(answer.value["manifest"], answer.files.get(RETURNED, b""))
        reports = answer.value["trials"]
        _judge({t.number: t for t in asked}, expected, reports, returned)
        taken |= {(number, arm) for report in reports for number, arm in report["arms"] if report["way"]}
    _tell([(t, arm) for t, arm in left if (t.number, arm) not in taken and (t.number, not arm) in taken], found)


def _plan(left: Left) -> dict[str, Any]:
    """Which arms the candidate's child is asked for, ways to call it, and arms to force; empty for nothing."""
    words = frozenset[str]().union(*(test.words for test, _ in left))
    ways = list(dict.fromkeys(way for word, found in WAYS.items() if word in words for way in found))
    forced = [[test.number, arm] for test, arm in left if test.words & PLACE][:MOST_FORCED]
    arms = [[test.number, arm] for test, arm in left if test.words & (PLACE | WAYS.keys())]
    return {"arms": arms, "ways": ways, "forced": forced} if ways or forced else {}


def _judge(asked: dict[int, Test], expected: Expected, reports: list[dict[str, Any]], returned: Tensors) -> None:
    """Hold calls that took such arms against the answer of the trial whose values they had.

    Raises:
        RejectedError: one of them gives another answer.
    """
    for report in reports:
        if report["outcome"] == "ok" and not _near(expected, report, returned):
            number, arm = report["arms"][0]
            test = asked[number]
            raise RejectedError(reasons.BRANCH, f"line {test.line}: {_said(test, arm)}")


def _tell(left: Left, found: Findings) -> None:
    """Note which arms of tests that were reached no call has taken, but for those that raise."""
    more = f" and {len(left) - MOST_TOLD} more" if len(left) > MOST_TOLD else ""
    said = "; ".join(f"line {test.line}: {_said(test, arm)}" for test, arm in left[:MOST_TOLD])
    found.check(CHECK, not left, f"never: {said}{more}" if left else "")


def _said(test: Test, arm: bool) -> str:
    return test.text if arm else f"not ({test.text})"


def _near(expected: Expected, report: dict[str, Any], returned: Tensors) -> bool:
    """Whether each output is there, and not far from what it ought to be; of whatever dtype."""
    wanted = [n for _, n in leaves(expected.trials[0]["kept"]["eager"])]
    got = [n for _, n in leaves(report["outputs"])]
    return len(wanted) == len(got) and all(
        _alike(expected.kept, one, returned, other) for one, other in zip(wanted, got, strict=True)
    )


def _alike(ours: Tensors, one: dict[str, Any], theirs: Tensors, other: dict[str, Any]) -> bool:
    if "tensor" not in one or "tensor" not in other:
        return "tensor" not in one
    wanted, got = ours.array(one["tensor"]), theirs.array(other["tensor"])
    if wanted.shape != got.shape:
        return False
    if ours.entry(one["tensor"])["dtype"].startswith(EXACT):
        return bool((wanted != got).mean() <= NEAR) if wanted.size else True
    with np.errstate(all="ignore"):
        both = np.isfinite(wanted) & np.isfinite(got)
        lost = np.isnan(got) & np.isfinite(wanted)
        off, size = np.linalg.norm((got - wanted)[both]), np.linalg.norm(wanted[both])
    return bool(off <= NEAR * size and lost.sum() <= NEAR * wanted.size) and bool(
        both.any() or not np.isfinite(wanted).any()
    )

"""What counts as too little memory: it is no fault of a candidate's, and tried again with nobody beside it."""

from __future__ import annotations

import pytest

from kdata.verify.candidate.setting import outcome
from kdata.verify.gpu.full import failure


@pytest.mark.parametrize(("said", "wanted"), [
    ("CUDA out of memory. Tried to allocate 2.00 GiB.", "memory"),
    ("CUDA error: out of memory\nSearch for `cudaErrorMemoryAllocation'", "memory"),
    ("Triton Error [CUDA]: out of memory", "memory"),
    ("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`", "memory"),
    ("[enforce fail at alloc_cpu.cpp:117] DefaultCPUAllocator: can't allocate memory", "memory"),
    ("out of resource: shared memory, Required: 262144, Hardware limit: 232448", "raises"),
    ("CUDA error: an illegal memory access was encountered", "raises"),
])  # fmt: skip
def test_allocators_that_have_no_more_are_known_by_their_words(said: str, wanted: str) -> None:
    assert outcome(RuntimeError(said)) == wanted


def test_a_memory_error_needs_no_words() -> None:
    assert outcome(MemoryError()) == "memory"


@pytest.mark.parametrize(("answer", "wanted"), [
    ({}, None),
    ({"failed": ["memory", "no more"]}, ("memory", "no more")),
    ({"failed": ["raises"]}, ("raises", "")),
    ({"failed": 7}, ("7", "")),
    ({"failed": [["memory"], {}, 1]}, ("['memory']", "{}")),
])  # fmt: skip
def test_what_a_candidate_s_process_says_of_its_failure_may_be_anything(
    answer: dict[str, object], wanted: tuple[str, str] | None
) -> None:
    assert failure(answer) == wanted

"""Where warps of compiled code wait after barriers, and where a task's sizes are doubled: what is made of what is seen."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kdata.record import Candidate, Origin, Task, Trial
from kdata.verify import reasons
from kdata.verify.cuda import build as cuda_build
from kdata.verify.cuda import calls as cuda_calls
from kdata.verify.cuda import candidate as cuda
from kdata.verify.cuda import delays
from kdata.verify.cuda import text as cuda_text
from kdata.verify.evidence.findings import Findings, RejectedError
from kdata.verify.evidence.trial import Expected
from kdata.verify.gpu import grown
from kdata.verify.gpu.full import UnmeasuredError
from kdata.verify.options import Options

TRIALS = [{"variant": 0}, {"variant": 0}, {"variant": 1}, {"variant": 2}]
KINDS = [{"kind": "base"}, {"kind": "odd"}, {"kind": "beyond"}]
TEXT = "def get_inputs():\n    return [torch.randn(48, 32)]\n\n\ndef get_init_inputs():\n    return []\n"
TASK = Task.make(TEXT, "Model", Origin("local", "tests", "", "t"))
ROWS, COLUMNS = "get_inputs[0]", "get_inputs[1]"


def trial(detail: str = "") -> Trial:
    return Trial("rows=3", "", 1, "float32", 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, not detail, detail)


def looked(*failures: str) -> tuple[list[int], Findings]:
    """Which trials were run, and what was found where each fails so."""
    expected = Expected({"mode": "eval", "trials": TRIALS, "variants": KINDS, "manifest": [], "otherwise": [], "own": None,
                         "unused": [], "base": {}, "grows": {}, "given": [], "kept": [], "asked": []}, b"", b"")  # fmt: skip
    asked: list[int] = []

    def see(numbers: Sequence[int]) -> list[tuple[Trial, str]]:
        asked.extend(numbers)
        return [(trial("far off" if reason else ""), reason) for reason in failures]

    found = Findings()
    delays.look(expected, see, found)
    return asked, found


def test_one_trial_of_each_kind_is_run_where_warps_wait() -> None:
    asked, found = looked("", "")
    assert asked == [0, 2]
    assert [(c.name, c.passed) for c in found.checks] == [(delays.CHECK, True)]


def test_who_is_wrong_where_warps_wait_is_rejected_and_who_does_not_answer_is_not() -> None:
    with pytest.raises(RejectedError) as caught:
        looked("", reasons.WRONG)
    assert caught.value.reason == reasons.WARPS
    assert "rows=3: far off" in caught.value.detail
    assert not looked()[1].checks[0].passed
    assert looked(reasons.RAISES)[1].checks[0].passed


@pytest.mark.parametrize(
    ("text", "bears"),
    [
        ("__syncthreads();", True),
        ("#define SYNC __syncthreads()", True),
        ("__syncwarp();", False),
        ("#define __syncthreads() __barrier_sync(0)\n__syncthreads();", False),
        ("#define \\\n __syncthreads() __barrier_sync(0)\n__syncthreads();", False),
    ],
)
def test_no_warps_wait_at_barriers_that_a_text_makes_itself(text: str, bears: bool) -> None:
    assert delays.bears(Candidate.make(TASK, f'CUDA = """\n{text}\n"""\n', "cuda", "teacher")) is bears


def test_warps_wait_after_the_barriers_of_a_text_and_it_may_not_ask_whether_they_do(tmp_path: Path) -> None:
    text = "__global__ void k() {\n#define SYNC __syncthreads()\n  SYNC;\n}\n"
    cuda_build.lay(cuda_calls.read("a", "", text), tmp_path, delayed=True)
    assert (tmp_path / "cuda.cu").read_text().endswith(f"#include <cuda_runtime.h>\n{delays.TEXT}\n{text}")
    assert cuda_text.object_to_sources([text]) is None
    for asked in ("#undef __syncthreads", "  # ifdef __syncthreads", "#if defined(__syncthreads)"):
        objection = cuda_text.object_to_sources([f"{asked}\n{text}"])
        assert objection is not None
        assert objection.reason == reasons.BEHIND


@pytest.mark.skipif(cuda.toolkit() is None, reason="needs nvcc")
def test_what_waits_compiles_as_what_does_not(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(
        f"{delays.TEXT}\n__global__ void k(int* x) {{ if (x[0]) __syncthreads();\n x[1] = (__syncthreads(), 2); }}\n"
    )
    nvcc = str(cuda.toolkit() / "bin/nvcc") if cuda.toolkit() else "nvcc"
    subprocess.run([nvcc, "-ptx", "-arch=sm_90", "k.cu"], cwd=tmp_path, check=True, capture_output=True)
    ptx = (tmp_path / "k.ptx").read_text()
    assert ptx.count("nanosleep") == 2
    assert ptx.count("bar.sync") + ptx.count("barrier.sync") == 2


def doubled(*ends: Exception | None, moved: int = 1, grows: dict[str, int] | None = None) -> tuple[list[str], Findings]:
    """The texts of the tasks that were opened, and what was found; each ends so."""
    texts: list[str] = []
    left = list(ends)

    def open_at(task: Task, where: str) -> AbstractContextManager[Any]:
        @contextmanager
        def opened() -> Iterator[Any]:
            texts.append(task.source)
            error = left.pop(0)
            yield SimpleNamespace(check=_raising(error), trials=[SimpleNamespace(shapes="float32[96, 64]")])

        return opened()

    own = SimpleNamespace(admitted={"read": moved, "written": 0, "flops": 0})
    found = Findings()
    known = {ROWS: 48, COLUMNS: 32} if grows is None else grows
    grown.look(TASK, known, own, open_at, found)  # type: ignore[arg-type]
    return texts, found


def _raising(error: Exception | None) -> Callable[..., None]:
    def check(draws: int) -> None:
        if error is not None:
            raise error

    return check


def test_all_that_may_vary_is_doubled_and_one_more_if_that_costs_little() -> None:
    texts, found = doubled(None)
    assert "randn(97, 65)" in texts[0]
    assert found.checks[0].passed
    assert "randn(97, 32)" in doubled(None, moved=grown.MOST_BYTES)[0][0]


def test_where_a_reference_does_not_run_less_is_doubled() -> None:
    no = UnmeasuredError("the task cannot be run")
    texts, found = doubled(no, no, no, None)
    assert ["96, 64" in texts[1], "97, 32" in texts[2], "96, 32" in texts[3]] == [True] * 3
    assert found.checks[0].passed
    assert not doubled(no, no, no, no)[1].checks[0].passed
    assert not doubled(grows={})[1].checks[0].passed


def test_who_refuses_larger_sizes_is_told_from_who_is_wrong_there() -> None:
    refuses = RejectedError(reasons.RAISES, "too many rows")
    texts, found = doubled(refuses, refuses)
    assert (len(texts), found.checks[0].passed, found.checks[0].detail) == (2, True, "refused: too many rows")
    with pytest.raises(RejectedError):  # odd sizes it refuses, even ones it answers wrongly
        doubled(refuses, RejectedError(reasons.WRONG, "far off"))
    with pytest.raises(RejectedError) as caught:
        doubled(RejectedError(reasons.WRONG, "far off"))
    assert caught.value.reason == reasons.WRONG_LARGE
    with pytest.raises(RejectedError) as caught:
        doubled(RejectedError(reasons.RAISES, "CUDA error: an illegal memory access was encountered"))
    assert caught.value.reason == reasons.RAISES


def test_what_a_text_compiles_is_gathered_once_and_the_part_of_the_host_is_handed_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    call = cuda_calls.read("a", "", "__global__ void k() { __syncthreads(); }")
    gathered: list[Candidate] = []
    hosts: list[bytes | None] = []

    def gather(candidate: Candidate, *_: Any) -> list[cuda_calls.Call]:
        gathered.append(candidate)
        return [call]

    def build(_: cuda_calls.Call, arch: str, host: bytes | None = None) -> tuple[dict[str, Any], dict[str, bytes]]:
        hosts.append(host)
        return {"symbols": [], "builds": []}, {cuda_build.LIBRARY: b"library", cuda_build.HOST_OBJECT: b"host"}

    monkeypatch.setattr(cuda, "_gather", gather)
    monkeypatch.setattr(cuda, "_build", build)
    monkeypatch.setattr(cuda, "_arch", lambda _: "90")
    monkeypatch.setattr(cuda, "compilers", lambda: ())
    candidate = Candidate.make(TASK, "import torch  # of this test", "cuda", "test")
    cuda.compiled(candidate, Options(device="cuda", delayed=True))
    cuda.compiled(candidate, Options(device="cuda"))
    assert len(gathered) == 1
    assert hosts == [None, b"host"]

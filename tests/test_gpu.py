"""The judge on a real GPU: honest kernels verified and timed, cheats that only a GPU shows, and how steady clocks are."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest
from redteam import Claim

from kdata.record import Candidate, Origin, Receipt, Task, Timing
from kdata.verify import reasons
from kdata.verify.candidate.source import task_part
from kdata.verify.evidence import witness
from kdata.verify.evidence.findings import Findings
from kdata.verify.gpu.cards import cards, healthy, held
from kdata.verify.gpu.full import opened
from kdata.verify.gpu.judge import seated
from kdata.verify.judge import judge_files
from kdata.verify.options import Level, Options
from kdata.verify.step import rule
from kdata.verify.timing.statistics import centre
from kdata.verify.timing.timer import Plan, Timer, kernel_names

pytestmark = pytest.mark.gpu
KERNELS = Path(__file__).parent / "kernels"
OWN = sorted((KERNELS / "gpu").glob("*.py"))
ALSO = [KERNELS / f"{name}.py" for name in (
    "good_layer_norm", "good_attention", "good_bfloat16", "good_conv2d", "good_argmax", "good_transposed_input",
    "cheat_no_kernel", "cheat_decoy_kernel", "cheat_fallback", "cheat_memoised", "cheat_half_precision", "cheat_no_mask",
    "cheat_autotune_one_wrong", "cheat_one_configuration_of_twenty", "cheat_loads_where_and_would_end",
    "cheat_counts_on_a_library_function", "cheat_patches_a_module_class", "cheat_wrong_at_round_sizes",
    "cheat_dot_allowed_tf32", "good_dot_without_tf32", "good_linear_autotuned", "good_asks_driver_on_import",
    "good_tensor_descriptors",
)]  # fmt: skip
EAGER = Options(device="cuda", targets=(), baselines=("eager",))
EQUAL = """
class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight
"""

HOG = """
import time, torch
torch.zeros(1, device="cuda")
kept = torch.empty(torch.cuda.mem_get_info()[0] - (64 << 20), dtype=torch.uint8, device="cuda")
print("full", flush=True)
time.sleep(600)
"""


@contextmanager
def busy() -> Iterator[None]:
    """Twice as many programs as cores, each with all it can get of one."""
    programs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


@pytest.fixture(scope="module")
def receipts(request: pytest.FixtureRequest) -> dict[Path, Receipt]:
    """Those whose tests are selected, judged at once: checks share the GPU, timing has it alone."""
    selected = (item.callspec.params.get("file") for item in request.session.items if hasattr(item, "callspec"))
    files = sorted({file for file in selected if isinstance(file, Path)})
    with ThreadPoolExecutor(8) as threads:
        return dict(zip(files, threads.map(_judged, files), strict=True))


def _judged(file: Path) -> Receipt:
    return judge_files(file, file, replace(EAGER, level=Claim.read(file).level))


@pytest.mark.parametrize("file", [*OWN, *ALSO], ids=lambda f: f.stem)
def test_first_line_says_the_verdict(file: Path, receipts: dict[Path, Receipt]) -> None:
    wanted = Claim.read(file).verdict
    receipt = receipts[file]
    said = receipt.verdict if receipt.verdict != "rejected" else f"rejected: {receipt.reason}"
    assert said == wanted or said.startswith(f"{wanted}:"), receipt.detail
    assert receipt.device.startswith("cuda: ") or receipt.reason == reasons.BEHIND
    if receipt.verdict == "verified":
        check_timing(receipt)
        [check] = [c for c in receipt.checks if c.name == witness.CHECK]
        assert check.passed or check.detail.endswith("is not interpreted"), check.detail


def check_timing(receipt: Receipt) -> None:
    timing = receipt.timing
    assert timing is not None, receipt.checks
    assert any(
        t.sizes == "" and t.passed and t.rmse_reference > 0 for t in receipt.trials if t.dtype == "float32"
    ) or all(t.dtype != "float32" for t in receipt.trials)
    assert timing.share > 0.5
    assert timing.verified == 2 * timing.blocks * 14
    assert timing.low <= timing.speedup <= timing.high
    assert (timing.speedup > 0) == (timing.label != "unstable")
    assert timing.floor <= timing.gpu
    programs, launch = timing.series[:-1], timing.series[-1]
    assert {s.name for s in programs} == {"candidate", "eager"}
    assert all(len(s.device) == 20 * timing.blocks for s in programs)
    assert all(len(s.gpu) == len(s.wall) == len(s.outer) == 4 * timing.blocks for s in programs)
    # events span the kernels, yet eager's several run closer together where no profiler watches them
    assert all(median(s.gpu) > 0.95 * median(s.device) > 0 for s in programs)
    assert launch.name == "launch"
    assert len(launch.wall) == 5 * timing.blocks
    assert median(launch.wall) < 1000  # microseconds
    assert all(median(s.wall) > 0.9 * median(s.gpu) for s in programs if median(s.gpu) > 30)


@pytest.mark.parametrize("name", ["cheat_side_stream", "cheat_side_stream_no_wait", "good_side_stream_joined"])
def test_streams_that_nobody_waits_for_show_without_clocks(name: str) -> None:
    file = KERNELS / "gpu" / f"{name}.py"
    receipt = judge_files(file, file, replace(EAGER, timed=False))
    if name.startswith("good"):
        assert receipt.verdict == "verified", receipt.detail
    else:
        assert receipt.reason in (reasons.WRONG, reasons.UNFINISHED), receipt


@pytest.mark.parametrize("level", ["screen", "kernelbench"])
def test_trials_wait_for_memory_that_others_have(level: Level) -> None:
    file, [card, *_] = KERNELS / "good_layer_norm.py", cards()
    with ThreadPoolExecutor(1) as threads, held(card, alone=False, what="memory"):
        hog = subprocess.Popen([sys.executable, "-c", HOG], stdout=subprocess.PIPE, text=True)
        assert hog.stdout is not None
        assert hog.stdout.readline() == "full\n"
        judged = threads.submit(judge_files, file, file, replace(EAGER, timed=False, level=level), rule(level))
        with pytest.raises(TimeoutError):
            judged.result(timeout=30)
        hog.kill()
        hog.wait()
    assert judged.result(timeout=300).verdict == "verified", judged.result().detail


def timed(text: str, source: str = "") -> Timing:
    source = source or (KERNELS / "gpu" / "good_rms_norm.py").read_text()
    task = Task.make(task_part(source), "Model", Origin("local", "tests", "", "good_rms_norm.py"))
    candidate, options = Candidate.make(task, text, "triton", "test"), Options(device="cuda")
    with (
        seated(candidate, "train", options, Findings()) as seat,
        opened(task, "train", seat.card, options.gpu_memory, seat.open()) as full,
    ):
        full.ask({"do": "watch", "seed": 0})
        full.compare(0)  # what outputs may be off by is measured before any is timed
        timer = Timer(full, seat.card, Plan(baselines=("eager",)))
        timer.prepare()
        with held(seat.card, alone=True):
            return timer.run(kernel_names(text))


def test_a_candidate_equal_to_its_baseline_reads_one() -> None:
    timing = timed("import torch\nimport torch.nn as nn\n" + EQUAL)
    assert timing.speedup == pytest.approx(1.0, abs=0.02)
    assert timing.speedup_wall == pytest.approx(1.0, abs=0.1)
    assert timing.share == 0.0


def test_the_host_s_work_counts() -> None:
    slow = EQUAL.replace("        return x *", "        sum(range(200_000))\n        return x *")
    timing = timed("import torch\nimport torch.nn as nn\n" + slow)
    assert timing.label in ("host-bound", "unstable")
    assert timing.speedup < 0.5
    assert timing.speedup_wall < 0.5


def test_a_busy_cpu_moves_no_speedup() -> None:
    text = (KERNELS / "gpu" / "good_rms_norm.py").read_text()
    calm = timed(text)
    with busy():
        beside = timed(text)
    assert beside.speedup == pytest.approx(calm.speedup, rel=0.03), (calm, beside)


@pytest.mark.parametrize("name", ["gpu/good_rms_norm.py", "gpu/good_norm_of_one_row.py"])
def test_five_runs_agree_within_three_percent(name: str) -> None:
    text = (KERNELS / name).read_text()
    with ThreadPoolExecutor(5) as threads:  # each in processes of its own
        speedups = [timing.speedup for timing in threads.map(timed, [text] * 5, [text] * 5)]
    assert max(speedups) / min(speedups) <= 1.03, speedups


def test_the_claim_is_over_the_fastest_baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And a rerun is held against what the first run compiled."""
    monkeypatch.setenv("KDATA_CACHE", str(tmp_path))
    file = KERNELS / "gpu" / "good_matmul_default_precision.py"
    timings = [judge_files(file, file, Options(device="cuda", targets=())).timing for _ in range(2)]
    for timing in timings:
        assert timing is not None
        assert {s.name for s in timing.series if s.device} == {"candidate", "eager", "compile", "max-autotune"}
        assert "compile" not in timing.note
        middles = {s.name: centre(s.device) for s in timing.series if s.device and s.name != "candidate"}
        assert timing.baseline == min(middles, key=lambda name: middles[name])
        assert timing.speedup == pytest.approx(middles[timing.baseline] / timing.gpu, rel=1e-3)
    one, other = (timing.speedup for timing in timings if timing)
    assert one == pytest.approx(other, rel=0.03)
    assert len([f for f in tmp_path.rglob("*") if f.is_file() and f.suffix != ".lock"]) == 1


def test_every_gpu_computes_after_all_this() -> None:
    assert all(healthy(card) for card in cards())

"""From samples to claims, without a GPU: medians, intervals, floors, and which clock a claim rests on."""

from __future__ import annotations

import random
import subprocess
import sys
from statistics import median

import pytest
import torch

from kdata.record import Receipt, Series, Timing, records, table
from kdata.verify.exchange.wire import Reader, Writer
from kdata.verify.gpu import cards as gpu
from kdata.verify.gpu.draws import SPREAD, Draws, pick
from kdata.verify.gpu.errors import Measure, near
from kdata.verify.reference.styles import BARELY, BITS, ON_DEVICE, styled
from kdata.verify.timing import statistics as timing_statistics
from kdata.verify.timing.activity import Activity, after_shield
from kdata.verify.timing.timer import kernel_names


def blocks(typical: float, noise: float, seed: int, drift: float = 0.0) -> list[list[float]]:
    draw = random.Random(seed)
    return [[typical * (1 + drift * b) * (1 + noise * draw.random()) for _ in range(10)] for b in range(5)]


def test_a_program_beside_itself_reads_one() -> None:
    found = timing_statistics.ratio(blocks(100.0, 0.02, 1), blocks(100.0, 0.02, 2))
    assert found.value == pytest.approx(1.0, abs=0.01)
    assert found.low <= 1.0 <= found.high
    assert found.high - found.low < 0.02


def test_drifts_common_to_a_block_cancel() -> None:
    found = timing_statistics.ratio(blocks(200.0, 0.01, 1, 0.05), blocks(100.0, 0.01, 2, 0.05))
    assert found.value == pytest.approx(2.0, abs=0.03)
    assert found.high - found.low < 0.1


def test_outliers_do_not_move_the_claim() -> None:
    spoilt = blocks(100.0, 0.01, 3)
    for block in spoilt:
        block[0] *= 50
    assert timing_statistics.ratio(spoilt, blocks(100.0, 0.01, 4)).value == pytest.approx(1.0, abs=0.02)


H200 = {"l2": 60 << 20, "memory_clock": 3_201_000, "bus": 6144, "sms": 132, "clock": 1_980_000}


@pytest.mark.parametrize(
    ("read", "written", "flops", "dtypes", "microseconds"),
    [
        (4_916_736_000, 0, 0, ["float32"], 1000.0),  # the memory's bandwidth: 4.9 TB/s
        (0, 60 << 20, 0, ["float32"], 0.0),  # what the cache holds need not have been written
        (0, 0, 178_511_000_000, ["float32", "int64"], 1000.0),
        (0, 0, 1_070_530_560_000, ["bfloat16", "float32"], 1000.0),
        (0, 0, 2_141_061_120_000, ["float32", "int8"], 1000.0),  # whatever the task widens them to
    ],
)
def test_floors(read: int, written: int, flops: int, dtypes: list[str], microseconds: float) -> None:
    admitted = {"read": read, "written": written, "flops": flops, "dtypes": dtypes, "device": H200}
    assert timing_statistics.floor(admitted) == pytest.approx(microseconds, rel=1e-3)


def test_busy_counts_overlapping_streams_once() -> None:
    kernels = [[1, "a", 7, 0, 10_000], [1, "b", 8, 5_000, 10_000], [1, "c", 7, 20_000, 1_000], [2, "a", 7, 0, 16_000]]
    assert timing_statistics.busy(kernels) == pytest.approx(16.0)
    assert timing_statistics.share(kernels, {"a"}) == pytest.approx(26 / 37)


def test_ticks_of_a_clock_do_not_make_short_kernels_jump() -> None:
    """A kernel of 1.712 us on a clock of 32 ns: the median of fifty samples is one tick or the other."""
    draw = random.Random(5)
    runs = [[0.032 * round((1.712 + draw.gauss(0, 0.03)) / 0.032) for _ in range(50)] for _ in range(20)]
    medians, centres = [median(run) for run in runs], [timing_statistics.centre(run) for run in runs]
    assert max(medians) / min(medians) > 1.018
    assert max(centres) / min(centres) < 1.012


def test_gaps_between_kernels_count_alike() -> None:
    """An H200, eight calls in a row between two events: 3.02 and 7.50 us a call of one and of three kernels."""
    assert timing_statistics.device_time(1.73, 1) == pytest.approx(3.02, rel=0.05)
    assert timing_statistics.device_time(4.19, 3) == pytest.approx(7.50, rel=0.05)
    assert timing_statistics.device_time(0.0, 0) > 0


def test_intervals_are_as_wide_as_processes_differ() -> None:
    """A gelu of 1 us: 2.273 to 2.289 in five processes; one of 200 us by less than the samples say."""
    short = timing_statistics.Ratio(1.0, 1.0, 1.0).between_processes(2.3, 2.3)
    assert short.low < 2.281 / 2.289 and short.high > 2.289 / 2.281
    long = timing_statistics.Ratio(1.0, 0.99, 1.01).between_processes(200.0, 200.0)
    assert (long.low, long.high) == (pytest.approx(0.99, abs=1e-3), pytest.approx(1.01, abs=1e-3))


def test_a_shield_is_no_work_of_what_it_shields() -> None:
    flush, spin = (
        Activity("Memset (Device)", 7, 0, 50),
        Activity("at::cuda::(anonymous)::spin_kernel(long)", 7, 60, 200),
    )
    beside, own, again = Activity("k", 8, 55, 5), Activity("k", 7, 300, 4), Activity("spin_kernel", 7, 310, 90)
    assert after_shield([flush, beside, spin, own, again]) == [beside, own, again]
    assert after_shield([flush, spin]) == []
    assert after_shield([]) == []


def test_draws_are_new_values_of_the_same_kind() -> None:
    mask = torch.tensor([[0.0, -torch.inf]] * 3)
    given = [torch.rand(3, 8, dtype=torch.bfloat16), {"mask": mask, "labels": torch.arange(6)}, 2, torch.rand(4, 6).t()]
    draws = Draws.of(given, roll=True)
    writer = Writer()
    node = draws.write(writer)
    other = Draws.read(node, Reader(writer.manifest, bytes(writer.blob)))
    for seed in (1, 2):
        one, same = draws.make(seed), other.make(seed)
        assert torch.equal(one[0], same[0]) and torch.equal(one[1]["labels"], same[1]["labels"])
        assert torch.equal(one[1]["mask"], mask) and one[2] == 2
        assert one[3].stride() == given[3].stride()
        assert sorted(one[1]["labels"].tolist()) == list(range(6)) and one[1]["labels"].tolist() != list(range(6))
        assert bool((one[3] <= given[3]).all()) and bool((one[3] >= (1 - SPREAD) * given[3]).all())
    assert not torch.equal(draws.make(1)[3], draws.make(2)[3])


def test_ends_of_packed_sequences_stay_and_labels_are_no_magnitudes() -> None:
    ends, labels = torch.tensor([0, 3, 3, 8], dtype=torch.int32), torch.tensor([0.0, 1.0, 1.0, 0.0])
    huge = ON_DEVICE.index("huge") << BITS
    drawn = Draws.of([torch.rand(8, 4), ends, labels], roll=True).make(huge + 1)
    assert torch.equal(drawn[1], ends) and float(drawn[2].max()) <= 1 < float(drawn[0].max())


def test_large_inputs_travel_as_a_tile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kdata.verify.gpu.draws.TILE", 10)
    draws = Draws.of([torch.rand(7, 5)])
    writer = Writer()
    draws.write(writer)
    assert len(writer.blob) == 40
    made = draws.make(3)[0]
    assert made.shape == (7, 5) and made.unique().numel() == 35


def test_pick_takes_elements_in_row_major_order() -> None:
    matrix = torch.arange(12.0).reshape(3, 4).t()
    assert pick(matrix, torch.tensor([0, 1, 5])).tolist() == [0.0, 4.0, 9.0]
    assert pick(matrix, None).numel() == 12


@pytest.mark.parametrize(
    ("spoil", "right"),
    [(lambda y: y, True), (lambda y: y * (1 + 1e-7), True), (lambda y: y * 1.05, False), (torch.zeros_like, False),
     (lambda y: y.half().float(), False), (lambda y: y.flip(0), False), (lambda y: y.clone().fill_(torch.nan), False)],
)  # fmt: skip
def test_large_outputs_are_held_to_the_same_gates(spoil: object, right: bool) -> None:
    golden = torch.randn(5000, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    measure = Measure(golden.float(), golden, golden.float() * (1 + 1e-7), 1, False)
    measure.prepare()
    answer = spoil(golden.float())  # type: ignore[operator]
    found = measure.errors(answer)
    assert ("fault" not in found and found["excess"] <= 1) == right
    assert (near(answer, golden.float(), measure.limits) <= 1) == right


def test_kernels_are_known_by_their_decorators() -> None:
    text = (
        "@triton.autotune(configs=[], key=[])\n@triton.jit\ndef one(): pass\n@jit\ndef two(): pass\ndef three(): pass\n"
    )
    assert kernel_names(text) == {"one", "two"}


def test_receipts_keep_every_sample() -> None:
    series = Series("candidate", (1.0, 2.5), (3.0,), (4.0,))
    timing = Timing("1", "H200", "580", "ieee", "", "eager", 1.1, 1.0, 1.2, 1.1, 1.0, 5.0, 1.0, 1.0, ("k",), 1, 2,
                    ("cool",), (series,))  # fmt: skip
    receipts = [Receipt("a", "verified", "", timing=timing), Receipt("b", "verified", "")]
    assert records(table(receipts, Receipt).to_pylist(), Receipt) == receipts
    assert median(series.gpu) == 1.75


def test_without_a_driver_there_are_no_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    gpu.cards.cache_clear()
    try:
        assert gpu.cards() == ()
        with pytest.raises(LookupError, match="no CUDA device"), gpu.borrow():
            pass
    finally:
        gpu.cards.cache_clear()


def test_timing_waits_for_checks_and_keeps_them_out() -> None:
    import threading
    import time

    card, seen = gpu.Card("GPU-test", "none", "0", "/dev/null"), []

    def check(name: str) -> None:
        with gpu.held(card, alone=False):
            seen.append(name)
            time.sleep(0.2)
            seen.append(name)

    def clock() -> None:
        with gpu.held(card, alone=True):
            seen.append("alone")
            time.sleep(0.1)
            seen.append("alone")

    threads = []
    for work, arguments in ((check, ("a",)), (check, ("b",)), (clock, ()), (check, ("c",))):
        threads.append(threading.Thread(target=work, args=arguments))
        threads[-1].start()
        time.sleep(0.05)
    for thread in threads:
        thread.join()
    assert seen == ["a", "b", "a", "b", "alone", "alone", "c", "c"]


def test_forks_find_all_that_takes_seconds_done_and_cuda_not_begun() -> None:
    program = """
import sys, torch
from kdata.verify.gpu import baselines
from kdata.verify.reference.probe import Meter
baselines.prepare()
before = set(sys.modules)
with Meter(): torch.ones(2) * 2
assert set(sys.modules) == before, set(sys.modules) - before
assert not torch.cuda.is_initialized() and not torch.cuda._is_in_bad_fork()
from triton.runtime.cache import triton_key
assert triton_key.cache_info().currsize == 1
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("style", ON_DEVICE[1:])
def test_a_seed_names_the_style_of_its_draw(style: str) -> None:
    """The same in every process, other values than the natural ones of that seed, zeros and integers as they were."""
    values = torch.randn(40, 50, generator=torch.Generator().manual_seed(0))
    values = values.triu() if style != BARELY else values  # of which few change, and zeros not
    draws = Draws.of([values.t(), torch.arange(4)])
    natural, (one, whole), (other, _) = draws.make(5)[0], draws.make(styled(5, style)), draws.make(styled(5, style))
    assert torch.equal(one, other) and one.stride() == values.t().stride() and whole.tolist() == [0, 1, 2, 3]
    assert not torch.equal(one, natural) and torch.isfinite(one).all()
    assert bool((one[natural == 0] == 0).all())
    if style == BARELY:
        assert int((one != natural).sum()) <= 2 and bool((one.abs() <= natural.abs()).all())
    elif style == "banded":
        kept = (one != 0).any(0)
        assert int(kept.sum()) == 5 and torch.equal(one[:, kept], natural[:, kept])
    elif style == "parted":
        assert bool((one[:, :20][natural[:, :20] != 0] > 0).all()) and bool(
            (one[:, 20:][natural[:, 20:] != 0] < 0).all()
        )
    elif style != "corners":
        assert torch.equal(one.sign(), natural.sign()) and float(one.abs().max() / natural.abs().max()) > 10

"""What samples are worth, on real ones: an H200 whose CPU was busy, each program timed in two separate runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kdata.verify.timing.claims import CANDIDATE, EAGER, Claim, Samples, claim, middle, works_elsewhere

RECORDED = json.loads((Path(__file__).parent / "data" / "timings_beside_a_busy_cpu.json").read_text())
BLOCKS = 5
STARTED = [[40.0, 60.0, 50.0]] * BLOCKS  # microseconds of starting a kernel on a machine like this
# What those runs said before: the smaller of both clocks wherever the wall's was late.
JUMPED = {"36_RMSNorm": (1.96, 0.749), "35_GroupNorm": (6.318, 4.763), "19_ReLU": (1.004, 0.216),
          "NormalizedEmbedding": (1.507, 1.103), "floor_divide": (0.342, 1.336), "SkipConnection": (0.02, 0.147)}  # fmt: skip


def samples(run: dict[str, Any]) -> dict[str, Samples]:
    """These were recorded before there were profiled samples: the events stand for what the device did."""
    found = {name: Samples(*(_blocks(kind) for kind in kinds)) for name, kinds in run["series"].items()}
    for each in found.values():
        each.device = each.gpu
    return found


def claimed(name: str) -> list[Claim]:
    return [claim(samples(run), STARTED, 1, crowd=False) for run in RECORDED[name]]


def _blocks(values: list[float]) -> list[list[float]]:
    size = len(values) // BLOCKS
    return [values[n * size : (n + 1) * size] for n in range(BLOCKS)]


@pytest.mark.parametrize("name", JUMPED)
def test_a_busy_cpu_does_not_move_the_claim(name: str) -> None:
    before = [run["said"][0] for run in RECORDED[name]]
    assert before == list(JUMPED[name])
    assert max(before) > 1.3 * min(before)
    one, other = (found.ratio.value for found in claimed(name))
    assert one == pytest.approx(other, rel=0.03)
    assert {found.label for found in claimed(name)} <= {"", "extraordinary"}


@pytest.mark.parametrize(("noise", "precise", "firm"), [(0.02, True, True), (0.06, False, True), (0.6, False, False)])
def test_more_samples_are_wanted_where_they_differ(noise: float, precise: bool, firm: bool) -> None:
    random = np.random.default_rng(0)
    both = {name: series(3.0, [10.0] * 4) for name in (EAGER, CANDIDATE)}
    for each in both.values():
        each.device = random.normal(3.0, 3.0 * noise, (BLOCKS, 20)).tolist()
    found = claim(both, STARTED, 1, crowd=False)
    assert (found.precise, found.firm) == (precise, firm)


def test_a_baseline_that_waits_for_the_host_gives_no_number() -> None:
    for found in claimed("AdjustContrast"):  # 5.5, then 6.0: its eager form stops in the middle
        assert not found.firm
        assert found.label == "unstable"
        assert (found.ratio.value, found.ratio.low, found.ratio.high) == (0.0, 0.0, 0.0)
        assert found.eager > 5


@pytest.mark.parametrize("hidden", [300.0, 3000.0])
def test_work_that_the_device_s_clock_does_not_see_counts(hidden: float) -> None:
    for run in RECORDED["36_RMSNorm"]:
        spoilt = samples(run)
        spoilt[CANDIDATE].wall = [[v + hidden for v in block] for block in spoilt[CANDIDATE].wall]
        assert works_elsewhere(spoilt[CANDIDATE], STARTED, 1)
        found = claim(spoilt, STARTED, 1, crowd=False)
        assert found.ratio.value in (0.0, found.wall.value)
        assert found.ratio.value < 0.6  # not the 1.96 that the device's clock says
        assert found.label in ("host-bound", "unstable")


def test_what_happens_in_some_blocks_only_is_the_machine_s() -> None:
    for run in RECORDED["36_RMSNorm"]:
        disturbed = samples(run)
        disturbed[CANDIDATE].wall[:-1] = [[v + 3000 for v in block] for block in disturbed[CANDIDATE].wall[:-1]]
        assert claim(disturbed, STARTED, 1, crowd=False).ratio.value == pytest.approx(1.956, rel=0.01)


def test_as_many_launches_may_take_as_long_as_they_take_here() -> None:
    mine = Samples(device=[[20.0] * 10] * BLOCKS, wall=[[600.0] * 4] * BLOCKS)
    assert works_elsewhere(mine, STARTED, 1)
    assert not works_elsewhere(mine, STARTED, 8)
    assert not works_elsewhere(mine, [[400.0]] * BLOCKS, 1)


def series(device: float, wall: list[float], events: float | None = None) -> Samples:
    """Every sample the same."""
    between = events if events is not None else device + 2.4  # what two events cost
    return Samples([[between] * 10] * BLOCKS, [wall] * BLOCKS, device=[[device] * 10] * BLOCKS)


def test_steady_wall_clocks_are_claimed_where_the_work_is_elsewhere() -> None:
    steady = {EAGER: series(100.0, [120.0, 121.0]), CANDIDATE: series(20.0, [400.0, 402.0])}
    found = claim(steady, STARTED, 1, crowd=False)
    assert found.label == "host-bound"
    assert found.ratio.value == pytest.approx(0.3, rel=0.01)
    assert found.eager == pytest.approx(5.0)


def test_what_two_events_cost_is_no_part_of_a_short_kernel() -> None:
    short = {EAGER: series(4.2, [40.0] * 4, 8.9), CANDIDATE: series(1.7, [40.0] * 4, 4.2)}
    assert claim(short, STARTED, 1, crowd=False).ratio.value == pytest.approx(4.2 / 1.7)


def test_a_device_that_waits_between_kernels_takes_what_its_events_say() -> None:
    waiting = {EAGER: series(50.0, [80.0] * 4), CANDIDATE: series(20.0, [90.0] * 4, 60.0)}
    found = claim(waiting, STARTED, 1, crowd=False)
    assert found.label == "host-bound"
    assert found.ratio.value == pytest.approx(52.4 / 60.0)
    some = waiting[CANDIDATE]
    some.gpu = [[22.4] * 10, *some.gpu[1:]]  # in some blocks only: the machine's
    assert claim(waiting, STARTED, 1, crowd=False).ratio.value == pytest.approx(2.5)


def test_labels_say_who_else_was_there_and_how_short_it_was() -> None:
    for run in RECORDED["floor_divide"]:
        assert claim(samples(run), STARTED, 1, crowd=True).label == "contended"
    short = {EAGER: series(18.0, [40.0] * 4), CANDIDATE: series(9.0, [60.0] * 4)}
    found = claim(short, STARTED, 1, crowd=False)
    assert (found.label, found.ratio.value) == ("launch-bound", 2.0)
    assert middle(short[CANDIDATE].device) == 9.0

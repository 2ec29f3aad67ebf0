"""Where the memory of short calls lies: which weights may move, and, on a real GPU, that they do."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from kdata.verify.timing.placement import COPIES, MOST_WEIGHTS, REGIONS, SMALL, Placement, movable, needed

PAGE = 2 << 20


def places(placement: Placement, layer: nn.Linear) -> tuple[set[int], set[int]]:
    """Pages of new memory, and of a weight, over some samples."""
    fresh, weights = set(), set()
    values = layer.weight.detach().clone()
    for _ in range(100):
        with placement.region("it"):
            fresh.add(torch.empty(64, device="cuda").data_ptr() // PAGE)
        placement.move("it")
        weights.add(layer.weight.data_ptr() // PAGE)
        assert torch.equal(layer.weight, values)
    return fresh, weights


@pytest.mark.gpu
def test_what_short_calls_read_and_write_lies_elsewhere_each_time() -> None:
    layer, placement = nn.Linear(8, 8).cuda(), Placement()
    placement.learn("it", layer, SMALL)
    fresh, weights = places(placement, layer)
    assert len(fresh) > 30
    assert len(weights) > 15


@pytest.mark.gpu
def test_every_region_is_visited() -> None:
    layer, placement = nn.Linear(8, 8).cuda(), Placement()
    assert not list(placement.every("it"))
    placement.learn("it", layer, SMALL)
    begun = torch.cuda.memory_reserved()
    for region in placement.every("it"):
        with region:
            torch.empty(64, device="cuda")
    visited = torch.cuda.memory_reserved()
    assert visited - begun >= (REGIONS - 2 * COPIES) * PAGE  # a weight and a bias lie in the others
    places(placement, layer)
    assert torch.cuda.memory_reserved() == visited


@pytest.mark.gpu
def test_what_large_calls_need_stays() -> None:
    layer, placement = nn.Linear(8, 8).cuda(), Placement()
    placement.learn("it", layer, SMALL + 1)
    fresh, weights = places(placement, layer)
    assert len(fresh) == len(weights) == 1


def test_weights_that_share_memory_stay() -> None:
    layer = nn.Linear(8, 8)
    layer.register_buffer("rows", layer.weight.data[:4])
    layer.register_buffer("whole", layer.bias.data)
    layer.register_buffer("scale", torch.ones(8))
    assert [t.data_ptr() for t in movable(layer)] == [layer.get_buffer("scale").data_ptr()]


def test_weights_that_are_large_or_many_stay() -> None:
    large = nn.Linear(SMALL // 4, 2)
    assert [t.shape for t in movable(large)] == [(2,)]
    assert not movable(nn.ParameterList([torch.zeros(SMALL // 4) for _ in range(1 + MOST_WEIGHTS // SMALL)]))


@pytest.mark.gpu
def test_what_a_call_needs_is_its_inputs_and_all_it_allocates() -> None:
    x = torch.zeros(1000, device="cuda")
    with needed([x]) as size:
        y = x + x
    assert 8000 <= size() <= 10_000
    del y

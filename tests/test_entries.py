"""What is asked of an input by a word, at any depth: entries of dictionaries in dictionaries, and in lists."""

from __future__ import annotations

from pathlib import Path

from torch import nn

from sources.infer.forward.entries import keys
from sources.infer.forward.failure import Failure
from sources.infer.forward.repairs import repairs
from sources.infer.inputs import Many, Specs, Tensor, all_tensors, elements
from tests.attempts import attempted

MATCHER = """
class Net(nn.Module):
    wanted = ["image0", "image1"]

    def __init__(self, dim=32):
        super().__init__()
        self.conf = type("Settings", (), {})()
        self.conf.width = dim
        self.project = nn.Linear(dim, 2 * dim)

    def forward(self, data):
        for key in self.wanted:
            assert key in data, f"Missing key {key} in data"
        first, second = data["image0"], data["image1"]
        one, other = first["descriptors"], second["descriptors"]
        assert one.shape[-1] == self.conf.width
        assert other.shape[-1] == self.conf.width
        near = first["points"].mean() - second["points"].mean()
        return self.project(one) @ self.project(other).transpose(1, 2) + near
"""

LOSS = """
class Net(nn.Module):
    def __init__(self, stacks=2):
        super().__init__()
        self.stacks = stacks

    def forward(self, outputs, batch):
        loss = 0
        for s in range(self.stacks):
            output = outputs[s]
            loss = loss + (output["heat"].sigmoid() - batch["heat"]).pow(2).mean()
            loss = loss + (output["size"] - batch["size"]).abs().mean()
        return loss
"""


def test_dictionaries_in_a_dictionary_get_the_entries_that_are_asked_for(tmp_path: Path) -> None:
    outcome = attempted(MATCHER, tmp_path)
    assert not outcome["reason"], outcome["detail"]
    assert [len(i["shape"]) for i in outcome["inputs"]].count(3) >= 2
    assert len(outcome["inputs"]) == 4


def test_each_map_of_a_list_becomes_a_dictionary_where_one_is_asked_for_a_word(tmp_path: Path) -> None:
    outcome = attempted(LOSS, tmp_path)
    assert not outcome["reason"], outcome["detail"]


def test_dictionaries_that_are_alike_get_an_entry_together() -> None:
    held = Many((Tensor((4, 8)),), "dict", ("heat",))
    specs: Specs = (Many((held, held)),)
    _, first = min(keys(Failure(specs, "KeyError: 'size'", nn.Identity())), key=lambda change: change[0])
    (whole,) = first
    assert isinstance(whole, Many)
    assert all(isinstance(i, Many) and i.keys == ("heat", "size") for i in whole.items)


def test_what_is_in_a_list_of_dictionaries_is_found_once() -> None:
    held = Many((Tensor((4, 8)), Many((Tensor((2,)),))), "dict", ("heat", "sizes"))
    specs: Specs = (Tensor((3,)), Many((held, held)))
    assert [path for path, _ in all_tensors(specs)] == [(0,), (1, 0, 0), (1, 0, 1, 0), (1, 1, 0), (1, 1, 1, 0)]
    assert elements(specs) == 3 + 2 * (32 + 2)
    assert hash(specs) == hash((Tensor((3,)), Many((Many(held.items, "dict", held.keys), held))))


def test_what_is_not_there_for_floats_takes_whole_numbers() -> None:
    message = "NotImplementedError: \"bincount_cpu\" not implemented for 'Float'"
    found = [specs for _, specs in repairs(Failure((Tensor((4, 64)),), message, nn.Identity()))]
    assert (Tensor((4, 64), "int", 16),) in found

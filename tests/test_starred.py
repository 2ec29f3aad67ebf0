"""Containers whose constructors take layers one by one, and modules that do nothing as they are first made."""

from __future__ import annotations

from pathlib import Path

from sources.text.starred import NOTE, listed
from tests.attempts import attempted

PARALLEL = """
class Net(nn.Module):
    def __init__(self, *fns):
        super().__init__()
        self.fns = nn.ModuleList(fns)

    def forward(self, x):
        return sum(fn(x) for fn in self.fns)
"""
CHAIN = """
class Net(nn.Sequential):
    def forward(self, x):
        for layer in self:
            x = layer(x)
        return x
"""
UPSAMPLE = """
class Net(nn.Sequential):
    def __init__(self, scale, width):
        layers = []
        for _ in range(scale.bit_length() - 1):
            layers += [nn.Conv2d(width, 4 * width, 3, 1, 1), nn.PixelShuffle(2)]
        super().__init__(*layers)
"""
EMBED = """
class Net(nn.Module):
    def __init__(self, width=48, norm_layer=None):
        super().__init__()
        self.norm = None if norm_layer is None else norm_layer(width)

    def forward(self, x):
        x = x.flatten(2).transpose(1, 2)
        return x if self.norm is None else self.norm(x)
"""


def test_layers_that_come_one_by_one_are_a_list(tmp_path: Path) -> None:
    outcome = attempted(PARALLEL, tmp_path)
    assert outcome["reason"] == "" and NOTE in outcome["source"] and "def __init__(self, fns)" in outcome["source"]


def test_a_sequence_with_a_forward_of_its_own_gets_layers(tmp_path: Path) -> None:
    outcome = attempted(CHAIN, tmp_path)
    assert outcome["reason"] == "" and "super().__init__(*layers)" in outcome["source"]


def test_a_class_that_its_text_uses_keeps_its_constructor() -> None:
    for text in (f"{PARALLEL}\nmade = Net(nn.ReLU())\n", EMBED, CHAIN.replace("nn.Sequential", "nn.Module")):
        assert listed(text, "Net") == text


def test_one_that_makes_no_layers_is_tried_as_two(tmp_path: Path) -> None:
    outcome = attempted(UPSAMPLE, tmp_path)
    assert outcome["reason"] == "" and "scale = 2" in outcome["source"]


def test_what_only_lays_out_its_input_gets_the_norm_that_it_may_have(tmp_path: Path) -> None:
    outcome = attempted(EMBED, tmp_path)
    assert outcome["reason"] == "" and "nn.LayerNorm" in outcome["source"].split("get_init_inputs")[1]

"""Networks of which a class takes layers out, to run them itself."""

from __future__ import annotations

from pathlib import Path

from sources.infer.constructor.nested import changed
from sources.infer.constructor.parts import holding
from sources.infer.constructor.reading import reading
from sources.infer.constructor.trouble import Trouble
from sources.infer.search import Solution, solve
from sources.probe import load
from tests.cuts import HEAD

TAKEN = """
class Net(nn.Module):
    def __init__(self, resnet):
        super().__init__()
        self.conv1 = resnet.conv1
        self.norm = resnet.bn1
        self.features = resnet.features[:-1]
        self.width = resnet.width
        self.last = self.features[7]

    def forward(self, x):
        return self.last(self.features(self.norm(self.conv1(x)))) * self.width
"""


def test_layers_that_are_taken_out_of_a_network_and_run_are_layers(tmp_path: Path) -> None:
    namespace = load(HEAD + TAKEN, tmp_path)
    layers = "nn.Sequential(*(nn.Conv2d(64, 64, 3, padding=1) for _ in range({})))"
    run = reading(namespace["__file__"]).run
    assert run == {"conv1": "nn.Conv2d(64, 64, 3, padding=1)", "bn1": "nn.BatchNorm2d(64)",
                   "features": layers.format(4)}  # fmt: skip
    lacks = "AttributeError: 'Identity' object has no attribute 'bn1'"
    assert holding("nn.Identity()", lacks, "", (), run) == ["StubModule(nn.Identity(), bn1=nn.BatchNorm2d(64))"]
    beyond = Trouble("IndexError: index 7 is out of range")
    assert [*changed(layers.format(4), namespace, beyond, {})] == [layers.format(16)]
    found = solve(namespace["Net"], namespace, HEAD + TAKEN)
    assert isinstance(found, Solution)

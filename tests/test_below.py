"""Who asks for a base that leaves something to the classes below it is given one of these."""

from __future__ import annotations

from pathlib import Path

import pytest

from sources import mine
from sources.cut.cutting import cut_package
from sources.hints.below import Below
from sources.hints.hints import Hints
from sources.text.symbols import Package
from sources.text.targets import Here

HEAD = "import torch\nimport torch.nn as nn\nfrom abc import ABC, abstractmethod\n\n"
BASES = (
    HEAD
    + """
class Encoder(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)


class Predictor(nn.Module):
    def forward(self, x):
        raise NotImplementedError("this is a base")


class Sized(nn.Module):
    def __init__(self, size: int):
        super().__init__()
        self.size = size


class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.lift = nn.Linear(64, 64)
        self.register_buffer("scale", torch.ones(1))
        setattr(self, "last", nn.ReLU())

    def forward(self, x):
        return self.last(self.lift(x) * self.scale())


class Odd(nn.LSTM):
    def forward(self, x):
        return self.check_forward_args(x)
"""
)
KINDS = (
    HEAD
    + """
from bases import Encoder, Predictor, Sized, Whole, Odd


class Line(Sized):
    def forward(self, x):
        return x * self.size


class Half(Encoder):
    pass


class Deep(Half):
    def __init__(self, width: int):
        super().__init__(width)
        self.layers = nn.ModuleList([nn.Linear(width, width)])


class Real(Predictor):
    def forward(self, x):
        return x.cumsum(-1)


class Wholer(Whole):
    pass


class Odder(Odd):
    pass


class Model(nn.Module):
    def __init__(self, encoder: Encoder, predictor: "Predictor"):
        super().__init__()
        self.encoder, self.predictor = encoder, predictor

    def forward(self, x):
        return self.predictor(self.encoder(x))
"""
)
FILES = {"bases.py": BASES, "kinds.py": KINDS}


@pytest.mark.parametrize(
    ("base", "expected"),
    [("Encoder", "Deep"), ("Predictor", "Real"), ("Sized", "Line"), ("Whole", "Whole"), ("Odd", "Odd")],
)
def test_the_first_class_that_leaves_nothing(base: str, expected: str) -> None:
    found = Below(Package(FILES, mine.replacements())).instead(Here("bases.py", base))
    assert found == Here("bases.py" if base == expected else "kinds.py", expected)


def test_a_model_is_constructed_of_classes_that_are_whole(tmp_path: Path) -> None:
    payload = {"files": FILES, "replacements": mine.replacements(), "cut_points": {}, "part": 0, "parts": 1, "seed": 0,
               "enough": 99}  # fmt: skip
    (model,) = [c for c in cut_package(payload, tmp_path)["cuts"] if c["symbol"] == "Model"]
    named = {"encoder": "Deep(width=64)", "predictor": "Real()"}
    assert {"positional": [], "named": named} in model["told"]["sites"]


def test_what_one_of_ours_may_stand_for_is_of_the_same_plain_kind() -> None:
    below = Below(Package({"net.py": ""}, mine.replacements()))
    assert {key.name for key in below.beside(Here("gymnasium.py", "Box"))} >= {"Discrete", "Dict", "MultiBinary"}
    assert below.beside(Here("torch_geometric.py", "GATConv")) == below.beside(Here("bases.py", "Deep")) == []


def test_what_is_told_of_a_heir_is_told_of_the_class_whose_constructor_it_has() -> None:
    package = Package(FILES, mine.replacements())
    assert Below(package).heirs(Here("bases.py", "Encoder")) == [Here("kinds.py", "Half")]
    told = "net:\n  target: kinds.Half\n  params:\n    width: 24\n"
    sites = [site.spelled(lambda target: None) for site in Hints(package, [told]).sites(Here("bases.py", "Encoder"))]
    assert {"positional": [], "named": {"width": "24"}} in sites

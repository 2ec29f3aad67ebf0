"""Records of a program's own that hold tensors, as inputs: the task takes the tensors and makes the records of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sources.cut.records import of_records
from sources.cut.slicer import Slicer
from sources.cut.writer import cut as write_cut
from sources.hints.hints import Hints
from sources.text.symbols import Package
from tests.attempts import HEAD, cut_and_attempted

BOXES = """class Boxes:
    def __init__(self, corners, mode="xyxy"):
        if corners.ndimension() != 2:
            raise ValueError("corners should have 2 dimensions")
        if corners.size(-1) != 4:
            raise ValueError("the last dimension should have a size of 4")
        self.corners, self.mode = corners, mode

    def area(self):
        return (self.corners[:, 2] - self.corners[:, 0]) * (self.corners[:, 3] - self.corners[:, 1])

    def __len__(self):
        return len(self.corners)


"""
HINTED = """class Net(nn.Module):
    def forward(self, boxes: List[Boxes], scale=2.0):
        return torch.cat([b.area() * scale for b in boxes]).sin()
"""
TOLD = '''class Net(nn.Module):
    def forward(self, corners, proposals):
        """Weighs areas.

        Arguments:
            corners (Tensor): one weight for each box
            proposals (list[Boxes]): what is weighed
        """
        return corners.tanh() * proposals[0].area()


def propose(x):
    return [Boxes(x)]
'''
NESTED = """@dataclass
class Rays:
    origins: torch.Tensor
    directions: torch.Tensor
    times: Optional[torch.Tensor] = None

    def at(self, depth):
        return self.origins + depth * self.directions


@dataclass
class Samples:
    rays: Rays
    depths: torch.Tensor

    def positions(self):
        return self.rays.at(self.depths)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(3, 8)

    def forward(self, samples: Samples):
        return self.line(samples.positions()).relu()
"""
INHERITED = NESTED.replace("class Net(", "class Field(") + "\n\nclass Net(Field):\n    scale = 2.0\n"
SAMPLER = """@dataclass
class Base:
    origins: torch.Tensor
    name: str = field(default="")


@dataclass
class R(Base):
    ends: torch.Tensor = field(kw_only=True)
    nears: Optional[torch.Tensor] = None
    fars: Optional[torch.Tensor] = None

    def at(self, depth):
        return self.origins + depth * self.ends


class Sampler(nn.Module):
    def forward(self, *args, **kwargs):
        return self.sample(*args, **kwargs)


class Net(Sampler):
    def sample(self, rays: Optional[R] = None, count: Optional[int] = None):
        assert rays is not None
        assert rays.nears is not None
        count = count or 4
        assert count is not None
        return rays.at(rays.nears) * count
"""
IMPORTS = HEAD + "from dataclasses import dataclass, field\nfrom typing import List, Optional\n\n\n"


@pytest.mark.parametrize(
    ("text", "made", "tensors"),
    [
        (BOXES + HINTED, "super().forward([Boxes(corners=corners)])", 1),
        (BOXES + TOLD, "super().forward(corners, [Boxes(corners=corners_)])", 2),
        (NESTED, "Samples(rays=Rays(origins=origins, directions=directions), depths=depths)", 3),
        (INHERITED, "super().forward(Samples(rays=Rays(origins=origins, directions=directions), depths=depths))", 3),
        (SAMPLER, "self.sample(rays=R(origins=origins, ends=ends, nears=nears))", 3),
    ],
)
def test_records_are_made_of_tensors(text: str, made: str, tensors: int, tmp_path: Path) -> None:
    outcome = cut_and_attempted(IMPORTS + text, "Net", tmp_path)
    assert made in outcome["source"]
    exec(outcome["source"], namespace := dict[str, Any]())
    inputs = namespace["get_inputs"]()
    assert len(inputs) == tensors
    assert namespace["NetOfTensors"](*namespace["get_init_inputs"]())(*inputs).numel()


def test_a_setting_is_no_record_of_tensors(tmp_path: Path) -> None:
    text = (
        "@dataclass\nclass Options:\n    width: int\n\n\nclass Net(nn.Module):\n"
        "    def forward(self, x, options: Options):\n        return x.sin() * options.width\n"
    )
    assert "Options(width=" not in cut_and_attempted(IMPORTS + text, "Net", tmp_path)["source"]


def _made(text: str) -> str:
    """The text that makes the records which Net is given; "" where there is none."""
    package = Package({"net.py": IMPORTS + text})
    slicer = Slicer(package)
    found = of_records(slicer, Hints(package, []), write_cut(slicer, "net.py", "Net"), [], [])
    return found.source if found else ""


@pytest.mark.parametrize(("other", "made"), [("x", True), ("Boxes", False), ("corners", True)])
def test_no_record_is_made_where_an_input_has_the_name_of_its_class(other: str, made: bool) -> None:
    text = f"class Net(nn.Module):\n    def forward(self, b: Boxes, {other}):\n        return b.area() * {other}\n"
    assert ("(Boxes(corners=corners), " in _made(BOXES + text)) is made


def test_records_that_hold_each_other_end() -> None:
    circle = "@dataclass\nclass Left:\n    right: 'Right'\n    x: torch.Tensor\n\n\n@dataclass\nclass Right:\n    left: Left\n"
    text = f"{circle}\n\nclass Net(nn.Module):\n    def forward(self, left: Left):\n        return left.x.sin()\n"
    assert "Left(right=Right(left=Left(right=right, x=x)), x=x_)" in _made(text)

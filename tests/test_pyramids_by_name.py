"""Heads over pyramids whose levels go by names: what a constructor is told of each, and the maps of a forward."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import torch

from sources.cut.cutting import cut_package
from sources.hints.mappings import gone_through
from sources.mine import replacements
from tests.attempts import attempted, cut_and_attempted

HEAD = """
class Net(nn.Module):
    def __init__(self, input_shape, width):
        super().__init__()
        input_shape = sorted(input_shape.items(), key=lambda x: x[1].stride)
        self.in_features = [k for k, v in input_shape]
        widths = [v.channels for k, v in input_shape]
        self.laterals = nn.ModuleList([nn.Conv2d(w, width, 1) for w in widths][::-1])

    def forward(self, features):
        y = None
        for i, f in enumerate(self.in_features[::-1]):
            x = self.laterals[i](features[f])
            y = x if y is None else x + F.interpolate(y, size=x.shape[-2:])
        return y
"""


def test_what_a_mapping_holds_is_a_record_of_what_is_read_of_it() -> None:
    told = "{'a': SimpleNamespace(stride=4, channels=64), 'b': SimpleNamespace(stride=8, channels=64)}"
    assert gone_through(ast.parse(HEAD)) == {"input_shape": told}
    assert gone_through(ast.parse("[v.width for k, v in pairs]")) == {}, "a list of pairs is no mapping"


def test_a_head_over_levels_that_go_by_names_is_given_a_map_for_each(tmp_path: Path) -> None:
    found = attempted(HEAD, tmp_path)
    assert not found["reason"], found
    first, second = [i["shape"] for i in found["inputs"]]
    assert first[2] == 2 * second[2]


def test_a_convolution_of_detectron2_has_a_norm_and_an_activation(tmp_path: Path) -> None:
    text = (
        "import torch.nn as nn\nimport torch.nn.functional as F\nfrom detectron2.layers import Conv2d, get_norm\n\n\n"
        "class Net(nn.Module):\n    def __init__(self, width=64):\n        super().__init__()\n"
        "        norm = get_norm('GN', width)\n"
        "        self.layer = Conv2d(width, width, kernel_size=3, padding=1, norm=norm, activation=F.relu)\n\n"
        "    def forward(self, x):\n        return self.layer(x)\n"
    )
    found = cut_and_attempted(text, "Net", tmp_path)
    assert not found["reason"], found
    assert "detectron2" not in found["source"].partition("\n")[2]


def test_a_backbone_tells_shapes_that_are_those_of_the_layers(tmp_path: Path) -> None:
    text = (
        "import torch.nn as nn\nfrom detectron2.layers import Conv2d\nfrom detectron2.modeling import Backbone, ShapeSpec\n\n\n"
        "class Net(Backbone):\n    def __init__(self, width=64):\n        super().__init__()\n"
        "        self._out_features = ['res2']\n        self._out_feature_channels = {'res2': width}\n"
        "        self._out_feature_strides = {'res2': 4}\n"
        "        assert self.output_shape() == {'res2': ShapeSpec(channels=width, stride=4)}\n"
        "        self.layer = Conv2d(self.output_shape()['res2'].channels, width, 1)\n\n"
        "    def forward(self, x):\n        return self.layer(x)\n"
    )
    found = cut_and_attempted(text, "Net", tmp_path)
    assert not found["reason"], found
    assert found["source"].count("ShapeSpec = namedtuple(") == 1


def test_images_of_a_batch_are_padded_and_points_are_sampled() -> None:
    space: dict[str, object] = {}
    exec(replacements()["detectron2.layers"].replace("from torchvision.ops import deform_conv2d, roi_align", ""), space)
    exec(replacements()["detectron2"].replace("from detectron2.layers import ShapeSpec", ""), space)
    batch = space["ImageList"].from_tensors([torch.ones(3, 4, 6), torch.ones(3, 5, 2)], 4)  # type: ignore[attr-defined]
    assert batch.tensor.shape == (2, 3, 8, 8) and batch[1].shape == (3, 5, 2)
    assert batch.tensor.sum() == 3 * 4 * 6 + 3 * 5 * 2
    wanted = {"square_size": 9, "size_divisibility": 8}
    square = space["ImageList"].from_tensors([torch.ones(3, 4, 6)], 0, 0.0, wanted)  # type: ignore[attr-defined]
    assert square.tensor.shape == (1, 3, 16, 16)
    points = torch.tensor([[[0.25, 0.25], [0.75, 0.75]]])
    sampled = space["point_sample"](torch.arange(4.0).view(1, 1, 2, 2), points)  # type: ignore[operator]
    assert sampled.shape == (1, 1, 2)
    assert sampled.flatten().tolist() == pytest.approx([0.0, 3.0])


def test_a_part_that_takes_such_a_mapping_is_made_with_one(tmp_path: Path) -> None:
    decoder = HEAD.replace("class Net(", "import torch.nn as nn\nimport torch.nn.functional as F\n\n\nclass Decoder(")
    outer = decoder + (
        "\n    def forward_features(self, features):\n        return self(features)\n\n\nclass Net(nn.Module):\n"
        "    def __init__(self, decoder):\n        super().__init__()\n        self.decoder = decoder\n\n"
        "    def forward(self, features):\n        return self.decoder.forward_features(features).sin()\n"
    )
    payload = {"files": {"net.py": outer}, "replacements": {}, "cut_points": {}, "part": 0, "parts": 1, "seed": 0,
               "enough": 9, "only": ["Net"]}  # fmt: skip
    (found,) = cut_package(payload, tmp_path)["cuts"]
    (site,) = found["told"]["sites"]
    assert "SimpleNamespace(stride=4, channels=64)" in site["named"]["decoder"]

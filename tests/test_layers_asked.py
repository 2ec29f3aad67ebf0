"""What a record of layers is asked for makes them; counts of stages are few; an optional input may be asserted."""

from __future__ import annotations

from pathlib import Path

from torch import nn

from kdata.task import execute
from sources.hints.guesses import values
from sources.hints.uses import Uses
from sources.infer.constructor.reading import reading
from sources.mine import LARGE
from sources.probe import attempt_one
from tests.attempts import HEAD, attempted, cut_and_attempted

PARTS = """
class Net(nn.Module):
    def __init__(self, inside, outside, PARTS):
        super().__init__()
        self.norm = PARTS.normed(inside, PARTS)
        self.act = PARTS.act_fn
        self.conv = PARTS.conv2d(in_channels=inside, out_channels=outside, kernel_size=3, padding=1)
        self.lift = PARTS.linear(in_features=outside, out_features=8, bias=False)
        self.depth = PARTS.depth()

    def forward(self, x, y):
        x = self.conv(self.act(self.norm(x, y)))
        return self.lift(x.mean((2, 3)))
"""
STAGED = """
class Net(nn.Module):
    def __init__(self, block_units, width_factor):
        super().__init__()
        width = int(64 * width_factor)
        self.body = nn.Sequential(*[
            nn.Sequential(nn.Conv2d(3 if i == 0 else width, width, 3, padding=1),
                          *[nn.Conv2d(width, width, 3, padding=1) for _ in range(2, block_units[i] + 1)])
            for i in range(3)
        ])

    def forward(self, x):
        return self.body(x)
"""
ASSERTED = """
def exists(value):
    return value is not None


class Net(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.first, self.second = nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, x, scale=1.0, features=None):
        assert exists(features), "told to take features, and none are there"
        return self.first(x) + scale * self.second(features)
"""
INDEXED = """
class Net(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.line = nn.Linear(dim, 16)

    def matrix(self, width):
        return torch.eye(16)[:, :width]

    def forward(self, x, label):
        return (self.matrix(16)[label] * self.line(x)).sum(-1)
"""
CHOSEN = """
class Net(nn.Module):
    def __init__(self, kind, width):
        super().__init__()
        if kind == "none":
            self.net = nn.Identity()
        elif kind == "half":
            self.net = nn.Conv1d(width, width, 3, stride=2)
        else:
            raise ValueError(kind)

    def forward(self, x):
        return self.net(x)
"""
EXPANDED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, duration):
        rows = [vector.expand(int(n.item()) + 1, -1) for vector, n in zip(x[0], duration[0])]
        return torch.cat(rows, 0).cumsum(0)
"""
WRAPPED = """import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self, module: nn.Module):
        super().__init__()
        self.inner = module

    @property
    def module(self):
        return self.inner

    def forward(self, *inputs, **named):
        return self.module(*inputs, **named)
"""
SAMPLED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.line = nn.Conv2d(3, 16, 3, padding=1), nn.Linear(18, 3)

    def forward(self, inp, coord, cell):
        found = F.grid_sample(self.conv(inp), coord.flip(-1).unsqueeze(1), align_corners=False)[:, :, 0, :]
        return self.line(torch.cat([found.permute(0, 2, 1), coord * cell], dim=-1))
"""
LACKING = """
class Net(nn.Module):
    def __init__(self, config, img_size):
        super().__init__()
        if config.patches.get("grid") is not None:
            size = img_size[0] // 16 // config.patches["grid"][0]
        else:
            size = config.patches["size"][0] * img_size[1] // img_size[0]
        self.conv = nn.Conv2d(3, config.width, size, stride=size)

    def forward(self, x):
        return self.conv(x).view(x.size(0), -1)
"""
NOISY = """
class Net(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.lines = nn.ModuleList(nn.Linear(width, width) for _ in range(6))
        for i in range(6):
            self.register_buffer(f"noise_{i}", torch.randn(width))

    def forward(self, x, scale=None, randomize_noise=True):
"""
NOISY += "".join(
    f"        x = self.lines[{i}](x) + (torch.randn(x.shape) if randomize_noise else self.noise_{i})\n"
    for i in range(6)
)
NOISY += "        return x\n"


def test_what_is_called_for_a_layer_by_torchs_names_makes_torchs(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("import torch.nn as nn\n" + PARTS)
    told = reading(str(tmp_path / "net.py")).layers
    assert {"conv2d": "nn.Conv2d", "linear": "nn.Linear"}.items() <= told.items()
    assert "StubModule" in told["normed"]
    assert "depth" not in told  # nothing runs that
    found = attempted(PARTS, tmp_path)
    assert not found["reason"], (found["reason"], found["detail"])
    assert "nn.Conv2d" in found["source"].rpartition("get_init_inputs")[2]


def test_what_says_how_often_stages_repeat_is_no_width(tmp_path: Path) -> None:
    assert values("block_units", "", Uses(listed=True, counts=True))[0] == "[2, 2]"
    found = attempted(STAGED, tmp_path)
    assert not found["reason"], (found["reason"], found["detail"])
    net = execute(found["source"], "Net").build()
    assert sum(isinstance(m, nn.Conv2d) for m in net.modules()) == 6


def test_an_input_is_given_that_an_assertion_asks_for(tmp_path: Path) -> None:
    found = attempted(ASSERTED, tmp_path)
    assert not found["reason"], (found["reason"], found["detail"])
    assert [i["name"] for i in found["inputs"]] == ["x", "features"]


def test_what_picks_rows_out_of_an_answer_is_their_numbers(tmp_path: Path) -> None:
    found = attempted(INDEXED, tmp_path)
    assert not found["reason"], (found["reason"], found["detail"])
    assert [i["dtype"] for i in found["inputs"]] == ["float32", "int64"]


def test_a_word_that_asks_for_no_layer_is_one_of_several(tmp_path: Path) -> None:
    found = attempted(CHOSEN, tmp_path)
    assert not found["reason"], (found["reason"], found["detail"])
    assert "'half'" in found["source"].rpartition("get_init_inputs")[2]


def test_how_often_a_row_is_repeated_is_a_count(tmp_path: Path) -> None:
    found = attempted(EXPANDED, tmp_path)
    assert not found["reason"], (found["reason"], found["detail"])
    assert [(i["dtype"], len(i["shape"])) for i in found["inputs"]] == [("float32", 3), ("int64", 2)]


def test_a_flag_by_which_noise_is_drawn_is_off_where_there_is_too_much(tmp_path: Path) -> None:
    found = attempted(NOISY, tmp_path)
    assert not found["reason"], (found["reason"], found["detail"])
    assert "False" in found["source"].rpartition("get_inputs")[2]


def test_a_part_that_a_property_answers_with_is_given_what_forward_is(tmp_path: Path) -> None:
    found = cut_and_attempted(WRAPPED, "Net", tmp_path)
    assert not found["reason"], (found["reason"], found["detail"])
    assert [len(i["shape"]) > 1 for i in found["inputs"]] == [True]
    assert "NetModule" not in found["source"]  # as a class is called that one of its methods stands for


def test_places_of_which_a_grid_is_made_are_pairs_and_so_is_what_is_guessed_like_them(tmp_path: Path) -> None:
    found = attempted(SAMPLED, tmp_path)
    assert not found["reason"], (found["reason"], found["detail"])
    assert [(len(i["shape"]), i["shape"][-1] == 2) for i in found["inputs"]] == [(4, False), (3, True), (3, True)]


def test_a_setting_that_most_go_without_is_none(tmp_path: Path) -> None:
    assert values("img_size", "", Uses(listed=True, items={0, 1}))[0] == "(32, 32)"
    assert values("img_size", "", Uses(listed=True, items={0, 2}))[0] == "(3, 64, 64)"
    (tmp_path / "net.py").write_text("import torch.nn as nn\n" + LACKING)
    assert reading(str(tmp_path / "net.py")).lacking == {"grid"}
    told = {"sites": [], "defaults": {"patches.grid": "(14, 14)", "patches.size": "(16, 16)"}, "users": []}
    cut = {"name": "Net", "source": HEAD + LACKING, "told": told, "lacks": [], "header": []}
    found = attempt_one(cut, LARGE, tmp_path)
    assert not found["reason"], (found["reason"], found["detail"])
    assert "grid=None" in found["source"]

"""Inputs that meet what a module holds: maps for layers in the other order, what is joined to tokens, groups."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from sources.infer.forward import spoken
from sources.infer.forward.aligned import turned
from sources.infer.forward.failure import Failure
from sources.infer.forward.input_guesses import guesses
from sources.infer.inputs import Many, Tensor
from tests.attempts import attempted, cut_and_attempted
from tests.cuts import HEAD

FIRST = "class Net(nn.Module):\n    def __init__(self"


def test_maps_go_to_layers_in_the_other_order(tmp_path: Path) -> None:
    text = f"""{FIRST}):
        super().__init__()
        self.lateral = nn.ModuleList(nn.Conv2d(n, 32, 1) for n in (64, 48, 16))

    def forward(self, maps):
        n = len(self.lateral) - 1
        above = self.lateral[0](maps[n])
        for i in range(n - 1, -1, -1):
            above = F.interpolate(above, scale_factor=2.0) + self.lateral[n - i](maps[i])
        return above
"""
    assert attempted(text, tmp_path)["reason"] == ""


def test_what_is_joined_to_tokens_of_the_module_has_their_shape(tmp_path: Path) -> None:
    text = f"""{FIRST}):
        super().__init__()
        self.tokens = nn.Embedding(5, 32)
        self.head = nn.Conv2d(32, 32, 1)

    def forward(self, image, prompts):
        own = self.tokens.weight.unsqueeze(0).expand(prompts.size(0), -1, -1)
        tokens = torch.cat((own, prompts), dim=1)
        return tokens @ self.head(image).flatten(2)
"""
    assert attempted(text, tmp_path)["reason"] == ""


def test_channels_are_as_many_as_the_groups_that_are_a_default(tmp_path: Path) -> None:
    text = f"""{FIRST}, inside, width=384):
        super().__init__()
        self.mix = nn.Conv2d(inside, width, 3, padding=1, groups=width)

    def forward(self, x):
        return self.mix(x) + x
"""
    outcome = attempted(text, tmp_path)
    assert outcome["reason"] == "" and "384" in outcome["source"]


def test_a_layer_that_takes_more_is_the_default(tmp_path: Path) -> None:
    text = f"""{HEAD}

class Conditional(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.scale = nn.InstanceNorm2d(width), nn.Linear(16, width)

    def forward(self, x, label):
        return self.norm(x) * self.scale(label)[:, :, None, None]


{FIRST}, width, norm=Conditional):
        super().__init__()
        self.norm, self.mix = norm(width), nn.Conv2d(width, width, 1)

    def forward(self, x, label):
        return self.mix(self.norm(x, label))


net = Net(64, norm=nn.BatchNorm2d)
"""
    outcome = cut_and_attempted(text, "Net", tmp_path)
    assert outcome["reason"] == "" and "BatchNorm2d" not in outcome["source"]


def test_a_row_is_not_made_longer_as_a_sound_is(tmp_path: Path) -> None:
    """It has no dimension but one, of which a rule took two."""
    text = f"""{FIRST}):
        super().__init__()
        self.inner, self.pool, self.last = nn.Linear(4, 4), nn.MaxPool1d(4), nn.Linear(1, 1)

    def forward(self, x):
        return self.last(self.pool(self.inner(x.unsqueeze(1)))[:, 0, :])
"""
    assert attempted(text, tmp_path)["reason"] == ""


def test_a_batch_of_one_is_squeezed_away(tmp_path: Path) -> None:
    text = f"""{FIRST}):
        super().__init__()
        self.query, self.key = nn.Linear(48, 32), nn.Linear(48, 32)

    def scores(self, q, k):
        return torch.einsum("id,bjd->bij", q.squeeze(), k).softmax(-1)

    def forward(self, queries, keys):
        q, k = self.query(queries), self.key(keys)
        scores = self.scores(q, k)
        b, _, _ = k.shape
        _, n, _ = q.shape
        return (scores @ k).view(b, n, -1)
"""
    assert attempted(text, tmp_path)["reason"] == ""


def test_boxes_are_the_number_of_their_image_and_two_corners() -> None:
    class Net(nn.Module):
        def forward(self, x: torch.Tensor, rois: torch.Tensor) -> torch.Tensor:
            return x[rois[:, 0].long()] * rois[:, 3:].sum()

    assert guesses(Net())[1][0] == Tensor((16, 5), "unit")


def test_offsets_are_as_many_as_the_taps_that_they_move(tmp_path: Path) -> None:
    text = f"""{HEAD}import deform_conv_cuda


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 4, 1)
        self.weight = nn.Parameter(torch.randn(8, 4, 3, 3))

    def forward(self, x, offset):
        x = self.first(x)
        output = x.new_empty(x.shape[0], 8, x.shape[2], x.shape[3])
        deform_conv_cuda.deform_conv_forward(
            x, self.weight, offset, output, x, x, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 64
        )
        return output
"""
    outcome = cut_and_attempted(text, "Net", tmp_path)
    assert outcome["reason"] == "" and "18" in outcome["source"]


def test_an_image_has_the_side_whose_logarithm_says_how_often_it_is_halved(tmp_path: Path) -> None:
    text = f"""{FIRST}, out_size):
        super().__init__()
        self.body = nn.Sequential(*[nn.Conv2d(3, 3, 3, 2, 1) for _ in range(int(math.log(out_size, 2)) - 2)])
        self.last = nn.Linear(3 * 4 * 4, 8)

    def forward(self, x):
        return self.last(self.body(x).flatten(1))
"""
    assert attempted(f"import math\n\n\n{text}", tmp_path)["source"].count("32") > 1


@pytest.mark.parametrize(
    ("said", "held"), [("x.shape[1]", 3), ("x.shape[-2]", 2), ("x.size(-3)", None), ("x.shape[2]", None)]
)
def test_a_size_that_a_tensor_does_not_have_is_not_known(said: str, held: int | None) -> None:
    assert spoken.value(ast.parse(said, mode="eval").body, {"x": torch.ones(2, 3)}) == held


def test_weights_of_too_few_dimensions_turn_nothing() -> None:
    maps = Many((Tensor((1, 4, 8, 8)), Tensor((1, 8, 4, 4))), "list")
    for weight, changes in ((torch.ones(8, 8, 1, 1), 1), (torch.ones(8), 0)):
        failure = Failure((maps,), "RuntimeError: no", nn.Identity(), "conv2d", (torch.ones(1, 4, 8, 8), weight))
        assert len([*turned(failure)]) == changes


class Pairs(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.projects = nn.ModuleList(nn.Conv2d(16, n, 1) for n in (8, 4))

    def forward(self, inputs: Any) -> torch.Tensor:
        found = []
        for i, x in enumerate(inputs):
            x, token = x[0], x[1]
            x = self.projects[i](x)
            found.append(x.flatten(1).sum(1) + token.sum(1))
        return torch.stack(found)


class Nested(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.projects = nn.ModuleList(nn.Conv2d(16, 8, 1) for _ in range(2))
        self.after = nn.ModuleList(nn.Conv2d(8, 4, 1) for _ in range(2))

    def forward(self, inputs: Any) -> torch.Tensor:
        found = [self.after[i](self.projects[i](inputs[i])) for i in range(2)]
        for i, x in enumerate(inputs):
            kept = x
            found.append(kept * i)
        return found[0] + found[1]


def test_each_item_is_what_the_layer_takes_that_it_is_given_to_first() -> None:
    assert guesses(Nested())[0][0] == Many((Tensor((4, 16, 32, 32)), Tensor((4, 16, 32, 32))))


def test_each_pair_begins_with_what_its_layer_takes() -> None:
    pair = Many((Tensor((4, 16, 32, 32)), Tensor((4, 16))), "tuple")
    assert guesses(Pairs())[0][0] == Many((pair, pair))

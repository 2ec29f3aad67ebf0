"""Values of the right kind at first sight, or as the message asks: widths, windows, samples, words, steps."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Any

import torch
from torch import nn

from sources.hints.uses import uses
from sources.infer.constructor.trouble import wanted
from sources.infer.forward.input_guesses import guesses
from sources.infer.forward.passed_on import is_matrix
from sources.infer.inputs import Plain, Tensor
from tests.attempts import attempted

LISTED = """
NAMES = ["conv1", "relu1", "conv2"]


class Net(nn.Module):
    def __init__(self, layer_names):
        super().__init__()
        last = max(NAMES.index(name) for name in layer_names)
        self.net = nn.Sequential(*[nn.Conv2d(3, 3, 3), nn.ReLU(), nn.Conv2d(3, 3, 3)][: last + 1])

    def forward(self, x):
        return self.net(x)
"""
WEIGHED = """
NAMES = ["conv1", "relu1", "conv2"]


class Net(nn.Module):
    def __init__(self, layer_weights):
        super().__init__()
        self.layer_weights = layer_weights
        self.last = max([NAMES.index(name) for name in layer_weights.keys()], default=-1)
        self.net = nn.ModuleList([nn.Conv2d(3, 3, 3), nn.ReLU(), nn.Conv2d(3, 3, 3)])

    def forward(self, x):
        found = {}
        for name, layer in zip(NAMES, self.net[: self.last + 1]):
            x = layer(x)
            found[name] = x
        return sum(self.layer_weights[name] * found[name].mean((2, 3)) for name in found if name in self.layer_weights)
"""
PAD = """
class Net(nn.Module):
    def __init__(self, padding, value=0.):
        super().__init__()
        self.padding, self.value = padding, value

    def forward(self, x):
        return F.pad(x, self.padding, value=self.value) * 2
"""
WIDE = """
class Net(nn.Module):
    def __init__(self, dim, axis, other):
        super().__init__()
        self.inner = Attention(dim=dim)
        self.soft, self.weights = nn.Softmax(dim=axis), torch.ones(3).sum(dim=other)
"""
MIXED = """
class Net(nn.Module):
    def __init__(self, shift, dropout):
        super().__init__()
        self.shift = shift
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        return self.dropout(torch.einsum("hi,bit->bht", self.shift, x))
"""

FLAG = """

class Net(nn.Module):
    def __init__(self, width=64, net_use_cross_frame_attention=None):
        super().__init__()
        assert net_use_cross_frame_attention is not None
        self.part = nn.Linear(width, width, bias=not net_use_cross_frame_attention)

    def forward(self, x):
        return self.part(x).relu()
"""
FILLED = """

class Part(nn.Module):
    def __init__(self, width, init_method):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width, width))
        init_method(self.weight)

    def forward(self, x):
        return F.linear(x, self.weight).relu()


class Net(nn.Module):
    def __init__(self, width, init_method):
        super().__init__()
        self.part = Part(width, init_method)

    def forward(self, x):
        return self.part(x)
"""
PACKED = """

class Net(nn.Module):
    def __init__(self, vocabulary_size, width):
        super().__init__()
        self.words = nn.Embedding(vocabulary_size, width, padding_idx=0)
        self.layer = nn.GRU(width, width, batch_first=True)

    def forward(self, tokens):
        lengths = tokens.ne(0).sum(1).cpu()
        packed = nn.utils.rnn.pack_padded_sequence(self.words(tokens), lengths, batch_first=True)
        return nn.utils.rnn.pad_packed_sequence(self.layer(packed)[0], batch_first=True)[0]
"""


def test_the_place_of_a_word_asks_for_one_that_is_there(tmp_path: Path) -> None:
    outcome = attempted(LISTED, tmp_path)
    assert outcome["reason"] == "" and "'conv1'" in outcome["source"].split("get_init_inputs")[1]


def test_keys_that_name_layers_are_such_names(tmp_path: Path) -> None:
    outcome = attempted(WEIGHED, tmp_path)
    assert outcome["reason"] == "" and "'conv1': " in outcome["source"].split("get_init_inputs")[1]


def test_what_torch_wants_as_a_tuple_is_one(tmp_path: Path) -> None:
    assert attempted(PAD, tmp_path)["reason"] == ""


def test_what_a_shape_is_unpacked_of_has_as_many_dimensions() -> None:
    message = "ValueError: not enough values to unpack (expected 4, got 2)"
    made = wanted(message, "b, c, h, w = sample.shape")
    assert [eval(text).dim() for text in made] == [4] and torch.is_tensor(eval(made[0]))
    assert wanted(message, "b, c, h, w = sample.shape  # as images are") == made
    assert wanted(message, "b, c, h, w = size") == ["(16, 16, 16, 16)", "[2, 2, 2, 2]"]


def test_how_far_the_training_is_is_a_number() -> None:
    class Loss(nn.Module):
        def forward(self, loss: Any, optimizer_idx: Any, global_step: Any, epoch: Any, steps_of: Any) -> Any: ...

    _, *numbers, sequence = guesses(Loss())
    assert [options[0] for options in numbers] == [Plain(8)] * 3 and isinstance(sequence[0], Tensor)


def test_the_width_of_a_layer_of_the_program_is_no_axis() -> None:
    found = uses(ast.parse(WIDE).body[0])
    assert {name for name, use in found.items() if use.axis} == {"axis", "other"}


def test_a_layer_of_a_parameters_name_tells_nothing_of_it_and_what_is_multiplied_is_a_tensor(tmp_path: Path) -> None:
    tree = ast.parse(MIXED).body[0]
    assert isinstance(tree, ast.ClassDef) and not uses(tree).get("dropout")
    outcome = attempted(MIXED, tmp_path)
    assert outcome["reason"] == "", outcome["detail"]
    assert "Identity" not in outcome["source"].split("get_init_inputs")[1]


class Contrast(nn.Module):
    def logits(self, left, right, scale):
        return scale * left @ right.T

    def forward(self, image_features, text_features, logit_scale):
        return self.logits(image_features, text_features, logit_scale)


class Weighed(Contrast):
    def forward(self, image_features, text_features, logit_scale, weight=2.0):
        return super().forward(image_features, text_features, logit_scale) * weight


class Mixed(nn.Module):
    """Maps whose positions are turned, weights that are, and a setting that is called T."""

    def forward(self, maps, config, weight):
        return (maps @ self.weight.T).mean(dim=1) * config.T, weight


def test_what_is_multiplied_with_weights_need_be_no_row() -> None:
    text = inspect.getsource(Mixed.forward)
    assert not any(is_matrix(Mixed, name, text) for name in ("maps", "weight"))


def test_features_that_are_multiplied_with_others_transposed_are_rows_and_scaled_by_one_number() -> None:
    for net in (Contrast(), Weighed()):
        assert [found[0] for found in guesses(net)] == [Tensor((4, 64)), Tensor((4, 64)), Tensor((), "unit")]


def test_a_flag_of_the_package_is_surer_than_what_a_name_sounds_like(tmp_path: Path) -> None:
    outcome = attempted(FLAG, tmp_path, {"net_use_cross_frame_attention": "False"})
    assert outcome["reason"] == "" and outcome["source"].endswith(", False]\n")


def test_what_fills_weights_is_a_function(tmp_path: Path) -> None:
    outcome = attempted(FILLED, tmp_path)
    assert outcome["reason"] == "" and "nn.init.xavier_normal_]" in outcome["source"]


def test_numbers_of_words_that_have_to_be_sorted_are_equal(tmp_path: Path) -> None:
    outcome = attempted(PACKED, tmp_path)
    assert outcome["reason"] == "" and outcome["inputs"][0]["low"] > 0

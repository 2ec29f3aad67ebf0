"""What failed calls tell of inputs: sizes that move together, masks, records, what may be left out and is not."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from kdata.task import execute
from sources.infer.constructor.constructions import Constructions
from sources.infer.constructor.trouble import Trouble
from sources.infer.forward.failure import Failure
from sources.infer.forward.influence import Influence, differing
from sources.infer.forward.input_guesses import guesses
from sources.infer.forward.repairs import repairs
from sources.infer.inputs import Many, Specs, Tensor, all_tensors
from sources.infer.running.progress import Budget
from sources.infer.search import Solution, solve
from sources.isolation import isolated
from sources.probe import infer

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"
AT = (3, "view", "of 0")  # where calls failed


def cut(text: str) -> dict[str, Any]:
    return {"name": "Net", "source": HEAD + text, "told": {"sites": [], "defaults": {}}, "header": []}


def shapes(specs: Specs) -> list[tuple[int, ...]]:
    return [t.shape for _, t in all_tensors(specs)]


@pytest.mark.parametrize(
    ("message", "sizes"),
    [
        ("The size of tensor a (32) must match the size of tensor b (4) at non-singleton dimension 1", (32, 4)),
        ("mat1 and mat2 shapes cannot be multiplied (256x32 and 64x100)", (32, 64)),
        ("shape '[4, 8, 8]' is invalid for input of size 1024", (256, 1024)),
        ("Expected size for first two dimensions of batch2 tensor to be: [4, 64] but got: [4, 32].", (64, 32)),
        (
            "Given normalized_shape=[8, 16], expected input with shape [*, 8, 16], but got input of size[4, 8, 32]",
            (16, 32),
        ),
        ("Expected key_padding_mask.shape[1] to be 1024, but got 64", (1024, 64)),
        (
            "The shape of the mask [4, 128, 64] at index 2 does not match the shape of the indexed tensor [4, 128, 96] at",
            (64, 96),
        ),
        ("size mismatch, got input (24576), mat (24576x2), vec (307)", (2, 307)),
        ("index out of range in self", None),
    ],
)
def test_messages_tell_two_sizes(message: str, sizes: tuple[int, int] | None) -> None:
    assert differing(message) == sizes


def test_two_failures_tell_the_size_with_which_there_is_none() -> None:
    influence, message = Influence(), "mat1 and mat2 shapes cannot be multiplied (4x{} and 640x10)"
    assert influence.learn(AT, (Tensor((4, 3, 32)),), message.format(300)) == []
    (first, *_) = influence.learn(AT, (Tensor((4, 3, 64)),), message.format(620))
    assert shapes(first) == [(4, 3, 66)]  # ten for each but the first two


def test_a_side_of_images_is_found_though_its_square_counts() -> None:
    influence, message = Influence(), "mat1 and mat2 shapes cannot be multiplied (4x{} and 4096x10)"
    influence.learn(AT, (Tensor((4, 3, 32, 32)),), message.format(32 * 32))
    side = 80
    for _ in range(6):
        tried = influence.learn(AT, (Tensor((4, 3, side, side)),), message.format(side * side))
        side = tried[0][0].shape[-1]  # type: ignore[union-attr]
        if side == 64:
            break
    assert side == 64


def test_what_does_not_move_the_sizes_is_idle() -> None:
    influence, message = Influence(), "mat1 and mat2 shapes cannot be multiplied (4x30 and 64x10)"
    before, after = (Tensor((4, 8, 30)),), (Tensor((4, 16, 30)),)
    influence.learn(AT, before, message)
    assert influence.learn(AT, after, message) == []
    assert influence.idle(AT, before, (Tensor((4, 5, 30)),))
    assert not influence.idle(AT, before, (Tensor((4, 8, 31)),))


def test_a_mask_is_made_to_broadcast() -> None:
    failure = Failure(
        (Tensor((2, 5, 8)), Tensor((2, 5), "bool")),
        "RuntimeError: The size of tensor a (5) must match the size of tensor b (2) at non-singleton dimension 2",
        nn.Identity(),
        "add",
        (torch.ones(2, 4, 5, 5), torch.ones(2, 5)),
    )
    assert repairs(failure)[0][1][1] == Tensor((2, 1, 1, 5), "bool")


def test_a_new_rank_keeps_the_sizes_that_were_found() -> None:
    message = "permute(sparse_coo): number of dimensions ... input.dim() = 3 is not equal to len(dims) = 4"
    found = repairs(Failure((Tensor((2, 49, 24)),), message, nn.Identity(), "permute"))
    assert (2, 7, 7, 24) in [shapes(specs)[0] for _, specs in found[:4]]


def test_of_one_dimension_too_many_one_of_one_goes_first() -> None:
    message = "expand(Bool{[4, 1, 1, 64]}, size=[-1, 64, -1]): the number of sizes provided (3) must be greater ..."
    mask = torch.ones(4, 1, 1, 64)
    found = repairs(Failure((Tensor((4, 1, 64), "bool"),), message, nn.Identity(), "expand", (mask, -1, 64, -1)))
    assert shapes(found[0][1]) == [(4, 64)]


def test_a_whole_shape_is_told_of_what_was_unsqueezed() -> None:
    message = "Expected hidden[0] size (1, 24, 32), got [1, 24, 4]"
    found = repairs(Failure((Tensor((24, 4)), Tensor((1, 24, 4))), message, nn.Identity()))
    assert [shapes(specs) for _, specs in found[:2]] == [[(24, 32), (1, 24, 4)], [(24, 4), (1, 24, 32)]]


def test_of_rows_only_strides_leave_more_where_they_are_longer() -> None:
    message = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x1 and 8x8)"
    found = [shapes(s) for _, s in repairs(Failure((Tensor((4,)), Tensor((4, 64))), message, nn.Identity()))]
    assert [(4,), (4, 512)] in found


def test_inputs_of_one_length_grow_together() -> None:
    message = "The size of tensor a (223) must match the size of tensor b (222) at non-singleton dimension 3"
    found = repairs(Failure((Tensor((4, 168, 7)), Tensor((4, 168, 4))), message, nn.Identity()))
    assert [(4, 169, 7), (4, 169, 4)] in [shapes(specs) for _, specs in found]


@pytest.mark.parametrize(
    ("message", "given", "wanted"),
    [
        ("Padding size should be less than the corresponding input dimension", (4, 1, 1024), (4, 1, 8192)),
        ("mat1 and mat2 shapes cannot be multiplied (4x1 and 8x1)", (4, 2, 2), (4, 1 << 14, 2)),
        ("Sizes of tensors must match except in dimension 1. Expected size 2 but got size 1 for tensor", (4, 64), None),
    ],
)
def test_of_a_sound_that_strides_left_nothing_of_there_is_more(
    message: str, given: tuple[int, ...], wanted: tuple[int, ...] | None
) -> None:
    found = repairs(Failure((Tensor(given),), message, nn.Identity()))
    assert (wanted or (4, 512)) in [shapes(specs)[0] for _, specs in found]


def test_what_is_cut_down_to_an_index_is_positive() -> None:
    given, index = (Tensor((4, 7, 5)),), torch.full((4, 7), -1)
    failure = Failure(given, "index out of range in self", nn.Identity(), "embedding", (index, torch.ones(60, 8)))
    assert repairs(failure)[0][1] == (Tensor((4, 7, 5), "unit"),)


def solved(text: str, folder: Path) -> Solution:
    path = folder / "cut.py"
    path.write_text(HEAD + text)
    namespace: dict[str, Any] = {"nn": nn}
    exec(compile(HEAD + text, str(path), "exec"), namespace)
    found = solve(namespace["Net"], namespace, HEAD + text)
    assert isinstance(found, Solution), found
    return found


TWO = "class Net(nn.Module):\n    def forward(self, x, y=None):\n        return x * y.exp()\n"
ANY = "class Net(nn.Module):\n    def forward(self, *given):\n        return F.l1_loss(*given, reduction='none')\n"
CACHE = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(48, 8)

    def forward(self, cache, x):
        return self.mix(torch.cat([cache, x.relu()], 1))
"""


@pytest.mark.parametrize("text", [TWO, ANY], ids=["optional", "any"])
def test_inputs_that_may_be_left_out_are_given_where_they_are_needed(text: str, tmp_path: Path) -> None:
    assert len(solved(text, tmp_path).specs) == 2


def test_inputs_that_must_agree_change_together(tmp_path: Path) -> None:
    assert [shape[-1] for shape in shapes(solved(CACHE, tmp_path).specs)] == [48, 48]


def test_entries_that_an_inner_function_reads_are_found(tmp_path: Path) -> None:
    text = "def inner(z):\n    return z['left'] @ z['right'].transpose(-1, -2)\n\n\n"
    (spec,) = solved(
        text + "class Net(nn.Module):\n    def forward(self, x):\n        return inner(x)\n", tmp_path
    ).specs
    assert isinstance(spec, Many)
    assert (spec.kind, spec.keys) == ("dict", ("left", "right"))


GRAPH = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(16, 8)

    def forward(self, data, scale):
        return self.mix(data.nodes) * scale + self.rest(data)

    def rest(self, z):
        return z.shift
"""


def test_a_module_that_takes_a_record_is_given_its_tensors(tmp_path: Path) -> None:
    done = isolated(lambda: infer(cut(GRAPH), 60, tmp_path), 20)
    assert done["reason"] == "", done
    program = execute(done["source"], done["name"])
    inputs = program.inputs()
    assert all(isinstance(value, torch.Tensor) for value in inputs)
    assert [i["name"] for i in done["inputs"]] == ["nodes", "shift", "scale"]
    assert program.build()(*inputs).shape[-1] == 8


EARLIER = """class Net(nn.Module):
    def forward(self, x, shift=None, scale=None):
        return self.mixed(
            x,
            scale,
            shift,
        )

    def mixed(self, x, factor, shift):
        return x * factor.exp() + shift.exp()
"""


def test_an_optional_input_is_given_though_a_later_one_was_given_before_it(tmp_path: Path) -> None:
    assert len(all_tensors(solved(EARLIER, tmp_path).specs)) == 3


def test_a_sequence_is_no_longer_than_the_table_of_positions(tmp_path: Path) -> None:
    text = (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.words, self.places = nn.Embedding(99, 16), nn.Embedding(30, 16)\n\n"
        "    def forward(self, x, kinds):\n"
        "        at = torch.arange(x.size(1)).unsqueeze(0).expand_as(x)\n"
        "        return self.words(x) + self.places(at) * kinds.unsqueeze(-1)\n"
    )
    answer = isolated(lambda: infer(cut(text), 16, tmp_path), 20)
    assert not answer["reason"], answer
    assert " = 30\n" in answer["source"]


def test_a_shape_that_is_asserted_as_a_tuple_is_given(tmp_path: Path) -> None:
    text = (
        "class Net(nn.Module):\n    def forward(self, x, turns):\n        assert x.ndim == 4\n"
        "        whole = x.size()\n        assert (whole[2] - 1) % 8 == 0 and (whole[3] + 3) % 16 == 0\n"
        "        length = x.shape[1]\n        turns = turns[0:length]\n"
        "        assert turns.shape == (length, x.shape[-1])\n"
        "        return x * turns.view(1, length, 1, x.shape[-1])\n"
    )
    answer = isolated(lambda: infer(cut(text), 16, tmp_path), 20)
    assert not answer["reason"], answer


EITHER = """class Net(nn.Module):
    def forward(self, x, lengths=None, mask=None):
        if lengths is None and mask is None:
            raise RuntimeError("Should provide either lengths or mask")
        if mask is None:
            mask = torch.arange(x.shape[1]) < lengths[:, None]
        return (x * mask).sum(1)
"""


def test_what_an_error_asks_for_by_its_name_is_given(tmp_path: Path) -> None:
    assert len(solved(EITHER, tmp_path).specs) > 1


class Forecast(nn.Module):
    def forward(self, series: torch.Tensor, length: int) -> torch.Tensor:
        return series.permute(0, 2, 1)[..., :length]


def test_a_series_has_the_steps_and_variables_that_its_module_is_made_for() -> None:
    series, length = guesses(Forecast(), {"seq_len": 36, "enc_in": 5})
    assert series[0] == Tensor((4, 36, 5))
    assert not isinstance(length[0], Tensor)
    assert guesses(Forecast(), {"seq_len": 36})[0][0] != Tensor((4, 36, 5))


def test_channels_that_are_too_many_become_joints() -> None:
    given = torch.zeros(4, 144, 6, 1), torch.zeros(8, 8, 1, 1)
    found = repairs(Failure((Tensor((4, 144, 6, 1, 1)),), "expected 8 channels", nn.Identity(), "conv2d", given))
    assert (4, 8, 6, 18, 1) in [shapes(specs)[0] for _, specs in found[:6]]


def test_values_that_a_test_before_a_raise_refuses_are_kept_within(tmp_path: Path) -> None:
    text = """class Net(nn.Module):
    def forward(self, x):
        if torch.min(x) < 0 or torch.max(x) > 1:
            raise RuntimeError
        return torch.log(x) - torch.log1p(-x)
"""
    answer = isolated(lambda: infer(cut(text), 16, tmp_path), 20)
    assert "torch.rand(" in answer["source"]


def test_masks_of_attention_are_squares_or_have_the_batch_first() -> None:
    class Net(nn.Module):
        def forward(self, words: Any, words_mask: Any, padding_mask: Any) -> None: ...

    words, mask = Tensor((4, 64), "int", 9), Tensor((4, 64))
    square = Failure((words, mask, mask), "The shape of the 2D attn_mask is torch.Size([4, 64]), but should be (4, 4).",
                     Net())  # fmt: skip
    assert shapes(min(repairs(square), key=lambda change: change[0])[1]) == [(4, 64), (4, 4), (4, 64)]
    padded = Failure((words, Tensor((4, 4)), mask), "Expected key_padded_mask.shape[0] to be 64, but got 4", Net())
    assert shapes(min(repairs(padded), key=lambda change: change[0])[1]) == [(4, 64), (4, 4), (64, 4)]


def test_inputs_that_are_unpacked_are_as_many_as_that_takes() -> None:
    class Net(nn.Module):
        def forward(self, *inputs: Any) -> Any:
            first, second, third = inputs
            return first + second + third

    x = Tensor((4, 64))
    failure = Failure((x,), "not enough values to unpack (expected 3, got 1)", Net())
    assert (x, x, x) in [specs for _, specs in repairs(failure)]


def test_an_empty_list_is_not_doubled() -> None:
    beyond = Trouble("IndexError: list index out of range")
    asked = Constructions(nn.Linear, {}, "", Budget())._asked("[]", beyond, False)
    assert asked
    assert all(ast.parse(text, mode="eval") for text in asked)


def test_what_is_said_of_pairs_of_rows_has_no_batch() -> None:
    message = "The size of tensor a (64) must match the size of tensor b (4) at non-singleton dimension 2"
    specs: Specs = (Tensor((4, 64, 32)), Tensor((4, 64, 32)), Tensor((4, 64)))
    found = [shapes(other) for _, other in repairs(Failure(specs, message, nn.Identity()))]
    assert [(4, 64, 32), (64, 64, 32), (4, 64)] in found
    assert [(4, 64, 32), (4, 64, 32), (64, 64)] in found


SQUEEZED = """class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.width = 12

    def forward(self, x):
        assert x.size(1) == self.width
        return torch.tanh(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = Norm()

    def forward(self, x):
        n, c, h, w = x.shape
        return self.norm(x.view(n, c, h // 2, 2, w // 2, 2).permute(0, 1, 3, 5, 2, 4).reshape(n, 4 * c, h // 2, w // 2))
"""


def test_what_is_asserted_of_a_size_that_is_made_of_an_inputs_holds_of_it_in_proportion(tmp_path: Path) -> None:
    assert shapes(solved(SQUEEZED, tmp_path).specs)[0][1] == 3


def test_weights_of_classes_are_as_many_as_these() -> None:
    pred, target, weight = Tensor((4, 64)), Tensor((4,), "int", 64), Tensor((4, 64, 64))
    message = "weight tensor should be defined either for all or no classes"
    given = torch.zeros(4, 64), torch.zeros(4, dtype=torch.int64)
    found = repairs(Failure((pred, target, weight), message, nn.Identity(), "nll_loss", given))
    assert [(4, 64), (4,), (64,)] in [shapes(specs) for _, specs in found[:3]]


def test_a_row_that_is_viewed_with_more_dimensions_has_these() -> None:
    message = "shape '[4, 16, 1]' is invalid for input of size 4"
    row = torch.zeros(4)
    given = [row.untyped_storage().data_ptr()]
    found = repairs(Failure((Tensor((4,)),), message, nn.Identity(), "view", (row, 4, 16, 1), given))
    assert [(4, 16)] in [shapes(specs) for _, specs in found[:3]]


def test_of_what_is_joined_and_viewed_an_input_has_what_is_left() -> None:
    message = "shape '[-1, 2064, 1]' is invalid for input of size 8448"
    found = repairs(Failure((Tensor((4, 6, 64)), Tensor((4, 1, 64))), message, nn.Identity(), "view"))
    assert [(4, 6, 64), (4, 1, 16)] in [shapes(specs) for _, specs in found]


POOL = """class Net(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.score = nn.Linear(dim, 1)

    def forward(self, x):
        return (F.softmax(self.score(x), dim=1) * x).sum(1)
"""


def test_a_softmax_is_of_several_numbers_where_it_can_be(tmp_path: Path) -> None:
    (shape,) = shapes(solved(POOL, tmp_path).specs)
    assert len(shape) == 3, "of rows alone each weighs itself, and the layer does not matter"

"""Parts of inputs, and what is read of their shapes, tell which input an operator failed on; parts that hold settings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from sources import probe
from sources.infer.constructor.parts import holding
from sources.infer.forward.failure import Failure
from sources.infer.forward.influence import differing
from sources.infer.forward.repairs import repairs
from sources.infer.inputs import Tensor
from sources.infer.running.rehearsal import Rehearsal
from tests.attempts import attempted


@pytest.fixture(autouse=True, scope="module")
def warmed() -> None:
    probe.warm()


def test_a_state_of_which_each_layer_takes_its_part_has_a_dimension_for_it(tmp_path: Path) -> None:
    found = attempted(
        "class Net(nn.Module):\n    def __init__(self, size, depth=2):\n        super().__init__()\n"
        "        self.size = size\n        self.mine = nn.Linear(size, 5 * size)\n"
        "        self.theirs = nn.ModuleList(nn.Linear(size, 5 * size) for _ in range(depth))\n\n"
        "    def forward(self, word, image, state):\n        out, state = [], state.contiguous()\n"
        "        for i, layer in enumerate(self.theirs):\n            h, c = state[0][i], state[1][i]\n"
        "            sums = self.mine(word) + self.mine(image) + layer(h)\n"
        "            gates = torch.sigmoid(sums.narrow(1, 0, 3 * self.size))\n"
        "            word = gates.narrow(1, 0, self.size) * c\n            out.append(word)\n"
        "        return torch.stack(out)\n",
        tmp_path,
    )
    assert found["reason"] == ""
    assert len(found["inputs"][2]["shape"]) == 4


@pytest.mark.parametrize(
    ("function", "index", "message", "wanted"),
    [
        ("__getitem__", (slice(None), 0, None, 1), "IndexError: too many indices for tensor of dimension 2", 4),
        ("__get__", None, "ValueError: not enough values to unpack (expected 3, got 2)", 4),
        ("__get__", None, "ValueError: too many values to unpack (expected 1)", 2),
    ],
)
def test_the_input_that_a_part_lies_in_gets_the_rank_that_is_asked_of_the_part(
    function: str, index: Any, message: str, wanted: int
) -> None:
    one, other = torch.zeros(4, 64), torch.zeros(4, 64, 64)
    given = [t.untyped_storage().data_ptr() for t in (one, other)]
    specs = (Tensor((4, 64)), Tensor((4, 64, 64)))
    part = other[1]
    found = repairs(Failure(specs, message, torch.nn.Identity(), function, (part, index), given))
    ranks = {tuple(len(t.shape) for t in s) for cost, s in found if cost < 0.3}
    assert ranks == {(2, wanted)}


def test_layers_that_are_asked_for_a_setting_hold_it(tmp_path: Path) -> None:
    found = attempted(
        "class Scale(nn.Module):\n    def __init__(self, width):\n        super().__init__()\n"
        "        self.by = nn.Parameter(torch.ones(width))\n\n"
        "    def forward(self, x):\n        return self.by * (x - x.mean(-1, keepdim=True))\n\n\n"
        "class Net(nn.Module):\n    def __init__(self, layer, N):\n        super().__init__()\n"
        "        self.layers = nn.ModuleList([copy.deepcopy(layer) for _ in range(N)])\n"
        "        self.norm = Scale(layer.size)\n\n"
        "    def forward(self, x, mask):\n        for layer in self.layers:\n            x = layer(x, mask)\n"
        "        return self.norm(x)\n",
        tmp_path,
    )
    assert found["reason"] == ""
    assert "StubModule(" in found["source"].split("def get_init_inputs")[1]


def test_a_method_that_a_layer_lacks_answers_with_what_it_is_given() -> None:
    lacks = "AttributeError: 'Linear' object has no attribute 'encode'"
    assert holding("nn.Linear(64, 64)", lacks, "y = self.inner.encode(x, 2)") == [
        "StubModule(nn.Linear(64, 64), encode=lambda x, *_, **__: x)"
    ]
    more = lacks.replace("Linear", "StubModule").replace("encode", "width")
    assert holding("StubModule(nn.Identity(), size=64)", more, "self.inner.width")[0].startswith(
        "StubModule(nn.Identity(), size=64, width="
    )
    assert holding("nn.ReLU()", lacks, "") == []  # another layer's trouble
    assert holding("nn.Linear(64, 64)", lacks.replace("encode", "train"), "") == []


def test_a_pyramid_of_maps_is_given_where_levels_are_taken_by_their_place(tmp_path: Path) -> None:
    found = attempted(
        "class Net(nn.Module):\n    def __init__(self, widths=(16, 32, 48)):\n        super().__init__()\n"
        "        self.last = nn.Conv2d(64, 48, 1)\n"
        "        self.up = nn.ModuleList(nn.Conv2d(48 + w, 48, 3, padding=1) for w in widths)\n\n"
        "    def forward(self, feats):\n        x = self.last(feats[-1])\n        for i in range(2, -1, -1):\n"
        "            x = F.interpolate(x, scale_factor=2)\n"
        "            x = self.up[i](torch.cat([x, feats[i + 1]], 1)).relu()\n        return x\n",
        tmp_path,
    )
    assert found["reason"] == ""
    assert [i["shape"][1] for i in found["inputs"]][-4:] == [16, 32, 48, 64]


@pytest.mark.parametrize(
    "fails",
    [
        lambda x: x[:, :, ::2] + x,
        lambda x: x.flatten(1)[:, :8] * x.flatten(1)[:, 1:],
        lambda x: torch.cat([x, x[:, :, 1:]], 1),
        lambda x: torch.conv2d(x, x.new_zeros(6, 5, 3, 3)),
        lambda x: torch.nn.functional.layer_norm(x, (7,)),
        lambda x: torch.nn.functional.linear(x, x.new_zeros(6, 5)),
    ],
)
def test_a_rehearsed_failure_tells_the_sizes_that_a_true_one_tells(fails: Callable[[torch.Tensor], Any]) -> None:
    class Net(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            return fails(x)

    specs = (Tensor((2, 4, 8, 8)),)
    rehearsed = Rehearsal(Net()).call(specs, None, False)
    with pytest.raises(RuntimeError) as true:
        Net()(torch.zeros(2, 4, 8, 8))
    assert rehearsed is not None
    said, told = differing(str(rehearsed[1])), differing(str(true.value))
    assert told is not None
    assert said in (told, told[::-1])


def test_attention_is_given_more_than_one_token(tmp_path: Path) -> None:
    found = attempted(
        "class Net(nn.Module):\n    def __init__(self, width=32):\n        super().__init__()\n"
        "        self.q, self.k = nn.Linear(width, width), nn.Linear(width, width)\n\n"
        "    def forward(self, queries, keys, values, in_features=None):\n"
        "        q, k = (f(x).view(x.size(0), -1, 32) for f, x in ((self.q, queries), (self.k, keys)))\n"
        "        v = values.view(values.size(0), -1, 32)\n"
        "        return (q @ k.transpose(1, 2)).softmax(-1) @ v\n",
        tmp_path,
    )
    assert found["reason"] == ""
    assert [len(i["shape"]) for i in found["inputs"]] == [3, 3, 3]

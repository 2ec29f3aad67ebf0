"""Parts that are given from outside: called with more than one layer takes, and asked for settings."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from sources import probe
from sources.infer.constructor.configs import text
from sources.infer.constructor.constructions import Constructions
from sources.infer.constructor.parts import STUB, StubModule, in_place_of
from sources.infer.constructor.suspects import ranked
from sources.infer.constructor.trouble import Trouble, kinds, wanted
from sources.infer.forward.variants import filled
from sources.infer.running.progress import Budget
from sources.infer.search import PARTS, _filled
from tests.attempts import attempted


@pytest.fixture(autouse=True, scope="module")
def warmed() -> None:
    probe.warm()


def test_a_stub_answers_with_a_layer_of_the_first_tensor_and_holds_settings() -> None:
    stub = StubModule(nn.Identity(), width=8)
    x = torch.ones(2)
    assert stub.width == 8
    assert stub(None, "mean", hidden=x) is x
    fields = {"body": "<config>", "body.layer": "nn.Identity()", "body.width": "8"}
    assert text("body", fields, "") == "StubModule(layer=nn.Identity(), width=8)"
    assert text("body", {"body": "<config>", "body.width": "8"}, "") == "SimpleNamespace(width=8)"


def test_a_part_that_is_called_and_asked_for_settings(tmp_path: Path) -> None:
    found = attempted(
        "class Net(nn.Module):\n    def __init__(self, backbone, classes):\n        super().__init__()\n"
        "        self.backbone = backbone\n        self.scale = backbone.stride * 2\n"
        "        self.head = nn.Linear(backbone.width, classes)\n\n"
        "    def forward(self, x):\n        return self.head(self.backbone(x, False)) * self.scale\n",
        tmp_path,
    )
    assert found["reason"] == ""
    assert "class StubModule(nn.Module):" in found["source"]


def test_layers_of_a_list_that_are_called_by_keyword_with_more(tmp_path: Path) -> None:
    found = attempted(
        "class Net(nn.Module):\n    def __init__(self, blocks):\n        super().__init__()\n"
        "        self.blocks = nn.ModuleList(blocks)\n\n"
        "    def forward(self, hidden, injected, mask=None):\n        hidden = hidden + injected\n"
        "        for block in self.blocks:\n            hidden = block(hidden=hidden, mask=mask, step=2)\n"
        "        return hidden.relu()\n",
        tmp_path,
    )
    assert found["reason"] == ""
    assert "StubModule(nn.Identity())" in found["source"].split("def get_init_inputs")[1]


def test_layers_of_the_program_that_lack_an_argument_give_way() -> None:
    message = "TypeError: Block.forward() missing 1 required positional argument: 'angles'"
    assert Trouble(message).culprits == {"Block"}
    made = "[Block(64), Block(64)]"
    assert ranked({"width": "64", "blocks": made}, Trouble(message), {}) == {"width": 4, "blocks": 0}
    assert STUB in wanted(message, "hidden = block(hidden)", running=True)
    constructions = Constructions(nn.Identity, {}, "", Budget())
    assert constructions._others("blocks", made, Trouble(message), running=True)[0] == f"[{STUB}, {STUB}]"


def test_what_is_called_for_a_layer_may_make_one_that_takes_more(tmp_path: Path) -> None:
    styled = """class Net(nn.Module):
    def __init__(self, dim, norm_layer):
        super().__init__()
        self.norm = norm_layer(dim)
        self.line = nn.Linear(dim, dim)

    def forward(self, x, style):
        return self.line(self.norm(x, style)) + style
"""
    outcome = attempted(styled, tmp_path)
    assert outcome["reason"] == "", outcome["detail"]
    assert "lambda *_, **__: StubModule" in outcome["source"]


def test_what_holds_settings_and_is_counted(tmp_path: Path) -> None:
    counted = """class Net(nn.Module):
    def __init__(self, width, tokenizer):
        super().__init__()
        self.embed = nn.Embedding(len(tokenizer), width, padding_idx=tokenizer.pad_id)

    def forward(self, tokens):
        return self.embed(tokens).relu()
"""
    outcome = attempted(counted, tmp_path)
    assert outcome["reason"] == "", outcome["detail"]
    assert "Vocabulary(length=" in outcome["source"]


def test_defaults_that_are_no_numbers_are_spelled(tmp_path: Path) -> None:
    text = """class Net(nn.Module):
    def __init__(self, width, most=float("inf"), depth=2):
        super().__init__()
        self.most, self.lines = most, nn.ModuleList(nn.Linear(width, width) for _ in range(depth))

    def forward(self, x):
        for line in self.lines:
            x = line(x)
        return x.clamp(max=self.most)
"""
    known = {"sites": [{"positional": [], "named": {"width": "8", "depth": "3"}}], "defaults": {}, "users": []}
    cut = {"name": "Net", "source": "import torch\nimport torch.nn as nn\n\n\n" + text, "told": known, "lacks": [],
           "header": []}  # fmt: skip
    outcome = probe.attempt_one(cut, 60, tmp_path)
    assert outcome["reason"] == "", outcome["detail"]
    assert "float('inf')" in outcome["source"]


def test_what_makes_a_part_may_make_one_that_holds_settings(tmp_path: Path) -> None:
    text = """class Net(nn.Module):
    def __init__(self, actions, body_fn):
        super().__init__()
        self.body = body_fn()
        self.head = nn.Linear(self.body.feature_dim, actions)
        self.scale = self.body.gain

    def forward(self, x):
        return self.head(self.body(x)) * self.scale
"""
    outcome = attempted(text, tmp_path)
    assert outcome["reason"] == "", outcome["detail"]
    assert "lambda *_, **__: StubModule(nn.Identity(), feature_dim=" in outcome["source"]


def test_a_layer_of_words_may_be_given_more_than_words(tmp_path: Path) -> None:
    text = """
class Net(nn.Module):
    def __init__(self, embeddings, dim=64):
        super().__init__()
        self.embeddings = embeddings
        self.line = nn.Linear(dim, dim)

    def forward(self, words):
        return self.line(self.embeddings(words, step=None))
"""
    outcome = attempted(text, tmp_path)
    assert not outcome["reason"], outcome["detail"]
    assert "StubModule(nn.Embedding(" in outcome["source"]


def test_layers_of_a_list_take_more_than_one_does_and_still_answer() -> None:
    assert in_place_of("[nn.Linear(64, 64), nn.Linear(64, 64)]") == [
        "[StubModule(nn.Linear(64, 64)), StubModule(nn.Linear(64, 64))]"
    ]
    assert in_place_of("[nn.Identity()]") == [f"[{STUB}, {STUB}]"]


def test_pairs_of_numbers_become_pairs_of_layers(tmp_path: Path) -> None:
    assert {"list", "int"} <= kinds("[[2, 2], [2, 2]]")
    assert filled("[[2, 2], [2, 2]]", "nn.Identity()") == "[[nn.Identity(), nn.Identity()] for _ in range(2)]"
    found = attempted(
        "class Pair(nn.Module):\n    def __init__(self, one, other):\n        super().__init__()\n"
        "        self.one, self.other = one, other\n\n    def forward(self, x):\n"
        "        x = x + self.one(x)\n        return x + self.other(x)\n\n\n"
        "class Net(nn.Module):\n    def __init__(self, blocks, route={}):\n        super().__init__()\n"
        "        assert all(len(r) == len(blocks) for r in route.values())\n"
        "        self.pairs = nn.ModuleList([Pair(one, other) for one, other in blocks])\n\n"
        "    def forward(self, x):\n        for pair in self.pairs:\n            x = pair(x)\n"
        "        return x.tanh()\n",
        tmp_path,
    )
    assert found["reason"] == ""


def test_an_empty_sequence_of_layers_is_filled() -> None:
    assert _filled("nn.Sequential()", PARTS[0]) == PARTS[0]
    assert _filled("StubModule(nn.Identity())", PARTS[0]) == f"StubModule({PARTS[0]})"

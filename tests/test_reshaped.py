"""Inputs of which nothing is read but the shape: they matter where the answer follows it, beside others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kdata.record import Input, records
from sources import probe
from sources.infer.running.check import UnfitError, check

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"
NET = HEAD + "class Net(nn.Module):\n    def forward(self, x, like):\n        {body}\n"
GIVEN = "\n\ndef get_inputs():\n    return [torch.randn(2, 3, 8, 8), torch.randn(2, 5, 16, 16)]\n\n\ndef get_init_inputs():\n    return []\n"


@pytest.fixture(autouse=True, scope="module")
def warmed() -> None:
    probe.warm()


def reads(body: str) -> list[str]:
    found = check(NET.format(body=body) + GIVEN, "Net")
    return [i["reads"] for i in found["inputs"]]


def test_an_input_whose_shape_the_answer_follows_matters() -> None:
    assert reads("return F.interpolate(x, size=like.shape[2:]).sin()") == ["values", "shape"]
    assert reads("return x.sin() * like.shape[1]") == ["values", "shape"]  # its values, not its shape, are others
    assert reads("return x.mean() * like") == ["values", "values"]
    assert reads("return x.clamp(max=like.shape[3])") == ["values", "shape"]  # at sizes that the answer comes near to


@pytest.mark.parametrize(
    "body",
    [
        "return x.sin().to(like.dtype)",
        "return x.sin() + 0 * like.mean()",
        "return torch.rand(()) * 0 + torch.arange(len(x)).float() + like.shape[3]",  # the values of neither
    ],
)
def test_what_matters_in_no_way_is_refused(body: str) -> None:
    with pytest.raises(UnfitError) as error:
        reads(body)
    assert error.value.reason == "output ignores an input"


def attempted(text: str, scratch: Path) -> dict[str, Any]:
    told: dict[str, Any] = {"sites": [], "defaults": {}, "users": []}
    return probe.attempt_one({"name": "Net", "source": text, "told": told, "lacks": [], "header": []}, 60, scratch)


def test_a_size_that_is_given_as_a_tensor_is_mined_and_told(tmp_path: Path) -> None:
    body = "y = F.interpolate(x, size=like.shape[2:])\n        return (y * y).sum(1)"
    found = attempted(NET.format(body=body), tmp_path)
    assert found["reason"] == ""
    assert [(i["name"], i["reads"]) for i in found["inputs"]] == [("x", "values"), ("like", "shape")]


def test_a_first_argument_that_is_never_used_is_none(tmp_path: Path) -> None:
    text = HEAD + "class Net(nn.Module):\n    def forward(self, state, x):\n        return x.sin() + x.shape[1]\n"
    found = attempted(text, tmp_path)
    assert found["reason"] == ""
    assert "return [None, torch.randn(" in found["source"]


def test_shards_of_before_tell_that_values_are_read() -> None:
    row = {"name": "x", "dtype": "float32", "shape": [2], "free": [True], "low": 0.0, "high": 1.0}
    assert records([row], Input)[0].reads == "values"


def test_of_a_single_number_the_shape_does_not_do() -> None:
    """Of more numbers the values are read: a softmax of one is one, whatever the number."""
    source = NET.format(body="return x.sin().mean(1) * like.softmax(-1).pow(2).sum()") + GIVEN.replace(
        "2, 5, 16, 16", "1"
    )
    with pytest.raises(UnfitError, match="input 1"):
        check(source, "Net")

"""Networks that are taken by name are in a task, by way of a table of those that we have."""

from __future__ import annotations

import ast
from typing import Any

import pytest
import torch

from sources.text.networks import TABLE, with_networks
from tests.cuts import HEAD, cut

NET = """import torch
import torch.nn as nn
{imports}


class Net(nn.Module):
    def __init__(self, name):
        super().__init__()
        self.body = {body}

    def forward(self, x):
        return self.body(x)
"""
WAYS = {
    "attribute": ("import torchvision", "getattr(torchvision.models, name)(pretrained=True)"),
    "module": ("from torchvision import models", "models.__dict__[name](pretrained=True)"),
    "hub": ("", "torch.hub.load('pytorch/vision', 'resnet18', pretrained=True)"),
}


@pytest.mark.parametrize(("imports", "body"), WAYS.values(), ids=list(WAYS))
def test_networks_that_are_taken_by_name_run_in_a_task(imports: str, body: str) -> None:
    text = cut({"net.py": NET.format(imports=imports, body=body)}, "net.py", "Net")
    space: dict[str, Any] = {}
    exec(text, space)
    assert space["Net"]("resnet18")(torch.randn(2, 3, 32, 32)).shape == (2, 1000)
    assert "VGG" not in text


def test_the_table_holds_what_the_text_names() -> None:
    text = (
        HEAD + "import torchvision as tv\nkinds = ['vgg16_bn', 'mobilenet_v2']\nnet = getattr(tv.models, kinds[0])()\n"
    )
    changed = with_networks(text, ast.parse(text))
    assert f"net = {TABLE}[kinds[0]]()" in changed
    assert "'vgg16_bn': " in changed and "'mobilenet_v2': " in changed and "'resnet152': " not in changed


@pytest.mark.parametrize("text", ["import os\ngetattr(os, name)\n", "from x import models\nmodels.__dict__[name]\n"])
def test_what_is_taken_from_elsewhere_stays(text: str) -> None:
    assert with_networks(text, ast.parse(text)) == text

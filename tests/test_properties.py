"""What a module's property lacks, and names that a file does not bind."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import torch

from tests.cuts import HEAD, cut

REVEALED = """
import torch.nn as nn
from sources.infer.running.properties import reveal

class Net(nn.Module):
    @property
    def width(self):
        return self.part.embedding_size

    @property
    def depth(self):
        return 3

net = Net()
net.part = nn.Embedding(2, 2)
said = []
for _ in range(2):
    try:
        net.width
    except AttributeError as error:
        said.append(str(error))
    reveal()
try:
    net.absent
except AttributeError as error:
    said.append(str(error))
print(*said, (net.depth, hasattr(net, "width"), net.part.num_embeddings), sep=chr(10))
"""


def test_a_property_that_fails_says_what_it_lacks() -> None:
    run = subprocess.run([sys.executable, "-c", REVEALED], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == [
        "'Net' object has no attribute 'width'", "'Embedding' object has no attribute 'embedding_size'",
        "'Net' object has no attribute 'absent'", "(3, False, 2)",
    ]  # fmt: skip


ATTENTION = """
class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.line = nn.Linear(dim, dim)

    def forward(self, x, fast=True):
        if fast:
            return self.line(x)
        return utils.softmax(self.line(x), dim=-1)


class Net(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.attention = Attention(dim)

    def forward(self, x):
        return self.attention(x) + x
"""


def test_a_name_that_nothing_binds_may_stand_behind_a_return() -> None:
    space: dict[str, Any] = {"__name__": "task"}
    exec(cut({"a.py": HEAD + ATTENTION}, "a.py", "Net"), space)
    assert space["Net"](4)(torch.ones(2, 4)).shape == (2, 4)


def test_names_that_a_file_forgot_to_import_mean_what_everybody_means_by_them() -> None:
    text = "import torch.nn as nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return F.relu(x) * np.pi\n"
    space: dict[str, Any] = {"__name__": "task"}
    exec(cut({"a.py": text}, "a.py", "Net"), space)
    assert space["Net"]()(torch.tensor([-1.0, 2.0])).tolist() == pytest.approx([0.0, 2 * torch.pi])
    own = "from b import *\n" + text.replace("np.pi", "1")
    exec(cut({"a.py": own, "b.py": "class F:\n    relu = staticmethod(len)\n"}, "a.py", "Net"), space)
    assert space["Net"]()([1, 2, 3]) == 3

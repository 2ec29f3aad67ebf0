"""What normalising flows ask of their constructors and inputs: masks, nets that are made, shapes that are checked."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from sources import probe
from sources.text.danger import touches_system
from sources.text.methods import main_methods, methods
from tests.attempts import attempted

COUPLING = """
class Coupling(nn.Module):
    def __init__(self, mask, make_net_fn):
        super().__init__()
        mask = torch.as_tensor(mask)
        if mask.dim() != 1:
            raise ValueError("the mask has one dimension")
        self.register_buffer("kept", (mask <= 0).nonzero()[:, 0])
        self.register_buffer("changed", (mask > 0).nonzero()[:, 0])
        self.net = make_net_fn(len(self.kept), 2 * len(self.changed))


class Net(Coupling):
    def __init__(self, mask, make_net_fn, eps=1e-3):
        super().__init__(mask, make_net_fn)
        self.eps = eps

    def forward(self, x, context=None):
        scale, shift = self.net(x[:, self.kept], context).chunk(2, dim=1)
        changed = x[:, self.changed] * (torch.sigmoid(scale) + self.eps) + shift
        return torch.cat([x[:, self.kept], changed], dim=1)
"""
PERMUTED = """
class Net(nn.Module):
    def __init__(self, order, dim=1):
        super().__init__()
        self.dim = dim
        self.register_buffer("order", torch.as_tensor(order))

    def forward(self, x):
        dim, order = self.dim, self.order
        if x.shape[dim] != len(order):
            raise ValueError("as many as are put in order are wanted")
        return torch.index_select(x, dim, order.long()).tanh()
"""
DIAGONAL = """
class Net(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.shape = torch.Size(shape)
        self.mean = nn.Parameter(torch.randn(shape))

    def forward(self, x):
        if x.shape[1:] != self.shape:
            raise ValueError(f"got {x.shape[1:]}")
        return -0.5 * ((x - self.mean) ** 2).flatten(1).sum(1)
"""


@pytest.fixture(autouse=True, scope="module")
def warmed() -> None:
    probe.warm()


@pytest.mark.parametrize("text", [COUPLING, PERMUTED.replace("order, dim=1", "order=range(100), dim=1"), DIAGONAL])
def test_checks_of_ranks_lengths_and_shapes_are_obeyed(text: str, tmp_path: Path) -> None:
    assert attempted(text, tmp_path)["reason"] == ""


def test_the_logarithm_of_a_probability_is_computed() -> None:
    kind = ast.parse(
        "class Normal(nn.Module):\n    def log_metrics(self, x):\n        return torch.exp(x)\n\n"
        "    def log_prob(self, x):\n        return -x ** 2\n\n    def logits(self, x):\n        return self.line(x)\n"
    ).body[0]
    assert isinstance(kind, ast.ClassDef)
    assert set(main_methods(methods([kind]), {})) == {"log_prob", "logits"}


@pytest.mark.parametrize(("line", "said"), [("from os import path", ""), ("from os import remove, path", "os")])
def test_paths_may_be_made_without_touching_anything(line: str, said: str) -> None:
    assert touches_system(f"{line}\nhere = path.join('a', 'b')\n") == said


LIKELIHOOD = """
class Net(nn.Module):
    def forward(self, mean, sigma, x):
        return torch.distributions.Normal(mean, sigma).log_prob(x).sum(-1)
"""
COUNTS = """
class Net(nn.Module):
    def forward(self, x, y):
        return torch.distributions.Poisson(x[..., 0]).log_prob(y[..., 0]) + x[..., 1]
"""


@pytest.mark.parametrize("text", [LIKELIHOOD, COUNTS])
def test_scales_are_positive_and_counts_are_whole(text: str, tmp_path: Path) -> None:
    found = attempted(text, tmp_path)
    assert found["reason"] == "", found["detail"]

"""First guesses of constructor arguments by how they are used, and lengths of sequences among inputs."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from sources.hints.guesses import as_layers_want, values
from sources.hints.uses import Uses
from sources.infer.constructor.constructions import Constructions
from sources.infer.forward.input_guesses import guesses
from sources.infer.inputs import Many, Tensor
from sources.infer.running.progress import Budget
from sources.infer.search import Solution, solve
from sources.probe import load

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"
PROTOTYPES = """
class Net(nn.Module):
    def __init__(self, prototypes):
        super().__init__()
        self.prototypes = nn.Parameter(torch.tensor(prototypes, dtype=torch.float32))

    def forward(self, x):
        near = [self.close(x.view(x.shape[0], 96), self.prototypes[i]) for i in range(4)]
        return torch.stack(near, 1)

    def close(self, x, p):
        return (x - p.view(1, 96)).pow(2).sum(1)
"""
GAME = """
class Net(nn.Module):
    def __init__(self, state_dim, action_dim):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(state_dim[0], 8, 8, 4), nn.ReLU(), nn.Conv2d(8, 8, 4, 2), nn.Flatten())
        self.head = nn.Linear(self.conv(torch.zeros(1, *state_dim)).numel(), action_dim[0])

    def forward(self, x):
        return self.head(self.conv(x))
"""
MASKED = """
class Net(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.score = nn.Linear(dim, 1)

    def forward(self, memory, memory_length):
        there = torch.arange(int(memory_length.max())) < memory_length[:, None]
        return (self.score(memory).squeeze(-1) * there).sum(1)
"""

PROPAGATED = """
class Net(nn.Module):
    def __init__(self, channels, hops):
        super().__init__()
        self.hops = hops
        self.mix = nn.Conv2d(channels, channels, 1)

    def forward(self, x, adj):
        adj = adj + torch.eye(adj.size(0))
        near = adj / adj.sum(1).view(-1, 1)
        for _ in range(self.hops):
            x = torch.einsum("ncwl,vw->ncvl", x, near)
        return self.mix(x)
"""


def _solved(text: str, folder: Path) -> Solution:
    namespace = load(HEAD + text, folder)
    found = solve(namespace["Net"], namespace, HEAD + text)
    assert isinstance(found, Solution), found
    return found


@pytest.mark.parametrize("text", [PROTOTYPES, GAME], ids=["arrays", "samples"])
def test_arguments_are_what_is_done_with_them(text: str, tmp_path: Path) -> None:
    _solved(text, tmp_path)


def test_h_beside_w_is_no_number_of_heads() -> None:
    class Duel(nn.Module):
        def __init__(self, h: int, w: int) -> None:
            super().__init__()

    arguments, _ = next(iter(Constructions(Duel, {"nn": nn, "torch": torch}, "", Budget())))
    assert arguments == {"h": "32", "w": "32"}


def test_lengths_of_sequences_are_as_long_as_these(tmp_path: Path) -> None:
    memory, lengths = _solved(MASKED, tmp_path).specs
    assert isinstance(memory, Tensor)
    assert lengths == Tensor(memory.shape[:1], "full", memory.shape[1])


ENCODER = """
class Net(nn.Module):
    def __init__(self, num_layers, embeddings):
        super().__init__()
        self.num_layers, self.embeddings = num_layers, embeddings

    def forward(self, source):
        length, batch = source.size()
        return self.embeddings(source).mean(0).expand(self.num_layers, batch, -1)
"""


def test_what_is_called_embeddings_and_run_is_a_table_of_them(tmp_path: Path) -> None:
    found = _solved(ENCODER, tmp_path)
    assert found.arguments["embeddings"].startswith("nn.Embedding(")
    assert isinstance(found.specs[0], Tensor)
    assert found.specs[0].kind == "int"


PARTS = """
class Net(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.score = nn.Linear(dim, 1)

    def forward(self, memory):
        x, lengths = self.score(memory[0]).squeeze(-1), None
        lengths = memory[1]
        return (x * (torch.arange(x.shape[1]) < lengths.view(-1, 1))).sum(1)
"""


def test_parts_of_a_tuple_are_what_they_are_passed_on_as(tmp_path: Path) -> None:
    (memory, *_), *_ = guesses(load(HEAD + PARTS, tmp_path)["Net"](64))
    assert isinstance(memory, Many)
    assert memory.items[1] == Tensor((4,), "full", 64)
    assert len(memory.items[0].shape) > 1  # type: ignore[union-attr]


FIRST = """
class Net(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.score = nn.Linear(dim, 1)

    def forward(self, source, lengths=None):
        length, batch, dim = source.shape
        assert lengths.shape == (batch,), "lengths"
        there = torch.arange(int(lengths.max())) < lengths[:, None]
        last = source.reshape(length * batch, dim).index_select(0, (lengths - 1) * batch + torch.arange(batch))
        return (self.score(source.transpose(0, 1)).squeeze(-1) * there).sum(1) + last.sum(1)
"""


def test_optional_lengths_of_sequences_laid_down_time_first(tmp_path: Path) -> None:
    source, lengths = _solved(FIRST, tmp_path).specs
    assert isinstance(source, Tensor)
    assert lengths == Tensor((source.shape[1],), "full", source.shape[0])


HANDED_ON = """
def read(x, readout):
    if readout == 'peak':
        return x.amax(1)
    elif readout == 'middle':
        return x.mean(1)


class Net(nn.Module):
    def __init__(self, dim, readout):
        super().__init__()
        self.lift, self.readout = nn.Linear(dim, dim), readout

    def forward(self, x):
        return self.lift(read(x, self.readout))
"""


def test_words_are_those_that_what_they_are_handed_on_to_knows(tmp_path: Path) -> None:
    assert _solved(HANDED_ON, tmp_path).arguments["readout"] in ("'peak'", "'middle'")


def test_what_is_done_so_many_times_is_done_a_few_times(tmp_path: Path) -> None:
    assert _solved(PROPAGATED, tmp_path).arguments["hops"] == "2"


def test_a_single_number_that_does_nothing_becomes_a_matrix(tmp_path: Path) -> None:
    """Between the nodes of a graph of one node nothing passes, whatever the number."""
    _, adjacency = _solved(PROPAGATED, tmp_path).specs
    assert isinstance(adjacency, Tensor)
    assert len(adjacency.shape) == 2 and min(adjacency.shape) > 1


def test_what_is_added_to_rows_has_one_dimension_and_what_is_added_to_images_one_for_channels() -> None:
    by_name = values("bias_shape", "", Uses())
    assert as_layers_want(by_name, "nn.Conv2d(dim, dim, 3)")[0] == "(64, 1, 1)"
    assert as_layers_want(by_name, "nn.Linear(dim, dim)")[0] == "(64,)"

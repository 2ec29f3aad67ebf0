"""Inputs of several parts, and clips: lists that an assertion counts, windows with three sides, sequences with lengths."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sources.infer.inputs import Many, Plain, Specs, Tensor, all_tensors
from sources.infer.search import Solution, solve

HEAD = "import torch\nimport torch.nn as nn\nfrom torch.nn.utils.rnn import pack_padded_sequence\n\n\n"
PATHS = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 2
        self.slow, self.fast = nn.Conv3d(3, 8, 1), nn.Conv3d(6, 8, 1)

    def forward(self, x):
        assert len(x) == self.count, f"not {self.count} paths"
        return self.slow(x[0]) + self.fast(x[1])
"""
CLIP = """class Net(nn.Module):
    def __init__(self, crop_size=112, num_frames=16):
        super().__init__()
        self.stem = nn.Conv3d(3, 4, 3, stride=(1, 16, 16), padding=1)
        self.pool = nn.AvgPool3d((num_frames, crop_size // 16, crop_size // 16))

    def forward(self, x):
        return self.pool(self.stem(x))
"""
POOLED = CLIP.replace("crop_size", "big").replace("num_frames", "long")  # of which only the message tells
BATCH = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.GRU(48, 16, batch_first=True)

    def forward(self, data):
        vectors = data["vectors"]
        packed = pack_padded_sequence(vectors, data["word_len"], batch_first=True, enforce_sorted=False)
        data["sentence"] = self.words(packed)[1][-1]
        data["answer"] = data["sentence"].tanh()
        return data["answer"]
"""


def specs(text: str, tmp_path: Path) -> Specs:
    """The inputs that are found for a module."""
    path = tmp_path / "task.py"
    path.write_text(HEAD + text)
    namespace: dict[str, Any] = {"__name__": "task", "__file__": str(path)}
    exec(compile(HEAD + text, str(path), "exec"), namespace)
    found = solve(namespace["Net"], namespace, HEAD + text)
    assert isinstance(found, Solution), found
    return found.specs


def test_what_is_to_be_so_long_is_a_list(tmp_path: Path) -> None:
    (found,) = specs(PATHS, tmp_path)
    assert isinstance(found, Many)
    assert [t.shape[1] for t in found.items if isinstance(t, Tensor)] == [3, 6]


def test_a_clip_is_as_long_and_as_large_as_the_module_was_made_for(tmp_path: Path) -> None:
    (found,) = specs(CLIP, tmp_path)
    assert isinstance(found, Tensor)
    assert found.shape[2:] == (16, 112, 112)
    (found,) = specs(POOLED, tmp_path)
    assert isinstance(found, Tensor)
    assert found.shape[2] >= 16
    assert min(found.shape[3:]) >= 97


def test_a_dictionary_holds_what_is_taken_out_of_it_and_not_what_is_laid_into_it(tmp_path: Path) -> None:
    (found,) = specs(BATCH, tmp_path)
    assert isinstance(found, Many)
    assert found.keys == ("vectors", "word_len")
    vectors, lengths = found.items
    assert isinstance(vectors, Tensor)
    assert lengths == Tensor((vectors.shape[0],), "full", vectors.shape[1])


BATCHED = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(24, 8)

    def forward(self, batch):
        obs = batch.obs
        features = obs.obs if hasattr(obs, "obs") else obs
        return self.line(features) * batch.info.mean()
"""


def test_a_part_of_a_record_may_be_called_as_what_it_is_a_part_of(tmp_path: Path) -> None:
    (found,) = specs(BATCHED, tmp_path)
    assert isinstance(found, Many)
    assert found.keys == ("obs", "info")


def test_what_is_handed_on_in_parts_has_as_many_as_are_taken(tmp_path: Path) -> None:
    text = (
        "class Net(nn.Module):\n    def __init__(self, rounds=2):\n        super().__init__()\n"
        "        self.rounds = rounds\n\n    def forward(self, scores, mask):\n"
        "        return self.passed(*scores, mask)\n\n    def passed(self, pairs, triples, mask):\n"
        "        batch, length, _ = pairs.shape\n        _, _, _, last = triples.shape\n        assert length == last\n"
        "        return pairs * triples.sum(3) * mask.unsqueeze(1)\n"
    )
    scores = specs(text, tmp_path)[0]
    assert isinstance(scores, Many)
    assert [len(t.shape) for _, t in all_tensors((scores,))] == [3, 4]


def test_a_number_that_branches_compare_with_is_given(tmp_path: Path) -> None:
    text = (
        "class Net(nn.Module):\n    def forward(self, x, step):\n        if step == 7:\n            return x.exp()\n"
        "        if step == 9:\n            return x * 2\n"
    )
    assert specs(text, tmp_path)[1] == Plain(7)


def test_an_image_and_a_vector_that_is_repeated_over_it_share_the_channels_of_a_convolution(tmp_path: Path) -> None:
    text = (
        "class Net(nn.Module):\n    def __init__(self, width=64, labels=5):\n        super().__init__()\n"
        "        self.stem = nn.Conv2d(3 + labels, width, 7, padding=3)\n\n    def forward(self, x, c):\n"
        "        c = c.view(c.size(0), c.size(1), 1, 1).repeat(1, 1, x.size(2), x.size(3))\n"
        "        return self.stem(torch.cat([x, c], dim=1))\n"
    )
    assert [t.shape[1] for _, t in all_tensors(specs(text, tmp_path))] == [3, 5]

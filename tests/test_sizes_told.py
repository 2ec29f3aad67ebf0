"""Sizes that failures and texts tell: of word vectors, of loops, of turned sequences, of what kwargs are handed on to."""

from __future__ import annotations

from pathlib import Path

import pytest

from sources import probe
from sources.cut.cutting import cut_package
from sources.hints.layouts import Sizes
from sources.infer.forward.usual_shapes import spread_over
from sources.infer.forward.variants import refitted, shortened
from sources.infer.inputs import Tensor
from tests.attempts import attempted
from tests.cuts import HEAD

WORDS = """class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embed = nn.Embedding.from_pretrained(config.field.vocab.vectors, freeze=True)
        self.conv = nn.Conv2d(1, 8, (3, config.words_dim), padding=(2, 0))

    def forward(self, x):
        return self.conv(self.embed(x).unsqueeze(1)).squeeze(3).amax(2)
"""
TURNED = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv1d(24, 16, 9, stride=8), nn.Conv1d(16, 16, 9, stride=2)

    def forward(self, x):
        return self.b(self.a(x.transpose(1, 2)))
"""
LOOPED = """class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.embed, self.cell = nn.Embedding(16, width), nn.GRUCell(width, width)

    def forward(self, tokens):
        states = []
        for sentence in tokens.permute(1, 2, 0):
            state = None
            for word in sentence:
                for _ in range(3):
                    state = self.cell(self.embed(word), state)
            states.append(state)
        return torch.stack(states)
"""
HANDED = """class Inner(nn.Module):
    def __init__(self, features, num_layers=160, hidden_size=1024):
        super().__init__()
        sizes = [features, *[hidden_size] * num_layers]
        self.lines = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))

    def forward(self, x):
        for line in self.lines:
            x = line(x).relu()
        return x


class Net(nn.Module):
    def __init__(self, features, **settings):
        super().__init__()
        self.inner = Inner(features, **settings)

    def forward(self, x):
        return self.inner(x) * 2
"""
NOISED = """class Net(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.embed, self.conv = nn.Linear(1, channels), nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x, sigma):
        sigma = sigma.to(torch.float32).reshape(-1, 1, 1, 1)
        return self.conv(x / (sigma ** 2 + 1).sqrt()) + self.embed(sigma.flatten()[:, None])[:, :, None, None]
"""
DIVIDED = """class Net(nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.heads = heads

    def forward(self, qkv):
        batch, width, length = qkv.shape
        assert width % (3 * self.heads) == 0
        q, k, v = qkv.reshape(batch * self.heads, -1, length).chunk(3, dim=1)
        return torch.einsum("bts,bcs->bct", torch.einsum("bct,bcs->bts", q, k).softmax(-1), v)
"""
UNSET = """class Net(nn.Module):
    def __init__(self, wide):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(wide, wide, 3, 3))
        self.mean, self.beta = nn.Parameter(torch.zeros(wide)), nn.Parameter(torch.zeros(wide))
        self.var = nn.Parameter(torch.zeros(wide))

    def forward(self, x):
        return F.batch_norm(F.conv2d(x, self.weight), self.mean, self.var, bias=self.beta).relu()
"""
FOLDED = """def axis_lengths(shape, lengths):
    if shape[1] % 12:
        raise ValueError(
            f"shape {tuple(shape)} does not fit the axes [['b'], ['three', 'h', 'd'], ['s']] with {lengths}"
        )


class Net(nn.Module):
    def forward(self, x):
        axis_lengths(x.shape, {"three": 3, "h": 4, "b": x.shape[0]})
        a, b, c = x.chunk(3, dim=1)
        return a * b + c
"""
ROWS = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.keys, self.line = nn.Linear(48, 32), nn.Linear(16, 32)

    def forward(self, x, context):
        keys = self.keys(context)
        if keys.dim() != 3:
            raise ValueError(f"shape {tuple(keys.shape)} does not fit the axes [['b'], ['n'], ['h', 'd']] with {dict(h=4)}")
        return self.line(x)[:, :1] + (keys @ keys.transpose(1, 2)).softmax(-1) @ keys
"""


@pytest.fixture(autouse=True, scope="module")
def warmed() -> None:
    probe.warm()


@pytest.mark.parametrize("text", [WORDS, TURNED, LOOPED, HANDED, NOISED, DIVIDED, UNSET, FOLDED, ROWS])
def test_sizes_that_fit_are_found(text: str, tmp_path: Path) -> None:
    outcome = attempted(text, tmp_path)
    assert outcome["reason"] == "", outcome["detail"]


def test_a_window_as_wide_as_words_are_tells_of_both() -> None:
    message = "per channel: (68 x 64). Kernel size: (3 x 300). Kernel size can't be greater than actual input size"
    assert {"width": "64"} in refitted({"width": "300"}, {}, message)
    assert not refitted({"width": "2"}, {}, message.replace("64", "2").replace("300", "3").replace("(3 x", "(3 x"))


def test_images_are_no_sequences() -> None:
    words, images = Tensor((4, 64, 300), "int", 16), Tensor((4, 3, 32, 32))
    assert shortened((words, images)) == (Tensor((4, 4, 4), "int", 16), images)


def test_numbers_that_are_spread_over_images_tell_their_rank() -> None:
    assert spread_over("t = t.float().view(-1, 1, 1, 1)", "t") == 4
    assert spread_over("scale[:, None, None, None] * x") == 4
    assert spread_over("mask[:, None, None] + x") == 0  # of a mask there may be more behind
    assert spread_over("x.view(-1, 1)", "y") == 0


def test_a_registry_comes_with_what_the_settings_say_for_its_key(tmp_path: Path) -> None:
    files = {
        "heads.py": HEAD + "HEADS = {}\n\n\ndef register(name):\n    def add(kind):\n        HEADS[name] = kind\n"
        "        return kind\n    return add\n\n\n"
        "@register('Plain')\nclass PlainHead(nn.Module):\n    def __init__(self, cfg):\n        super().__init__()\n"
        "        self.line = nn.Linear(cfg.MODEL.WIDTH, 4)\n    def forward(self, x):\n        return self.line(x)\n",
        "net.py": HEAD + "from heads import HEADS\n\n\nclass Net(nn.Module):\n    def __init__(self, cfg):\n"
        "        super().__init__()\n        self.head = HEADS[cfg.MODEL.HEAD](cfg)\n"
        "    def forward(self, x):\n        return self.head(x).relu()\n",
        "config.py": "from yacs.config import CfgNode as CN\n_C = CN()\n_C.MODEL = CN()\n_C.MODEL.HEAD = 'Plain'\n"
        "_C.MODEL.WIDTH = 8\n",
    }  # fmt: skip
    payload = {"files": files, "replacements": {}, "cut_points": {}, "part": 0, "parts": 1, "seed": 0, "enough": 9,
               "only": ["Net"]}  # fmt: skip
    (found,) = cut_package(payload, tmp_path)["cuts"]
    assert "class PlainHead" in found["source"]
    files["net.py"] = (
        files["net.py"].replace("HEADS\n", "PlainHead\n").replace("HEADS[cfg.MODEL.HEAD]", "eval(cfg.HEAD)")
    )
    files["config.py"] = "import argparse\nparser = argparse.ArgumentParser()\n"
    files["config.py"] += "parser.add_argument('-HEAD', default='PlainHead')\nargs = parser.parse_args()\n"
    (found,) = cut_package(payload, tmp_path)["cuts"]
    assert "class PlainHead" in found["source"]


def test_what_is_only_asked_whether_it_is_true_is_no_tensor(tmp_path: Path) -> None:
    text = """class Inner(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.line = nn.Linear(width, width)

    def forward(self, x, sparse):
        x = self.line(x)
        return x.relu() if sparse else x.tanh()


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = Inner(width)

    def forward(self, x, adjacent, sparse):
        return torch.bmm(adjacent, self.inner(x, sparse))
"""
    outcome = attempted(text, tmp_path)
    assert outcome["reason"] == "", outcome["detail"]
    assert ", False]" in outcome["source"]


def test_letters_of_a_skeleton_are_what_its_settings_say() -> None:
    sizes = Sizes({"num_person": 2, "num_point": 18, "in_channels": 3}, 108, 108)
    assert sizes.shape(("N", "C", "T", "V", "M")) == (4, 3, 64, 18, 2)
    assert Sizes({"in_channels": 3}, 108, 108).shape(("N", "T", "C"))[-1] == 108  # of a sequence that may be embedded

"""What programs for older versions of torch say: layers for its stacks, which give their layers more by now."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from sources.cut.slicer import Slicer
from sources.cut.writer import cut as write_cut
from sources.mine import replacements
from sources.probe import load, warm
from sources.text.masks import of_truth
from sources.text.on_cpu import respelled
from sources.text.symbols import Package
from tests.attempts import attempted
from tests.cuts import HEAD, cut

LAYERS = """import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(width, 2)
        self.line = nn.Linear(width, width)

    def forward(self, src, src_mask=None,
                src_key_padding_mask=None):
        return self.line(src)


class Other(nn.Module):
    def forward(self, x, src_mask, src_key_padding_mask=None):
        return x


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.stack = nn.TransformerEncoder(Layer(width), 2)

    def forward(self, x):
        return self.stack(x)
"""
TIMM = (
    "from timm.layers import create_conv2d\n\n\ndef layer(x):\n    return create_conv2d(4, 4, 3, depthwise=True)(x)\n"
)


def _text(text: str, symbol: str) -> str:
    return write_cut(Slicer(Package({"a.py": text}, replacements())), "a.py", symbol).source


def test_a_layer_for_torchs_stack_takes_what_that_gives_it_now(tmp_path: Path) -> None:
    source = _text(LAYERS, "Net")
    assert load(source, tmp_path)["Net"](8)(torch.ones(2, 3, 8)).shape == (2, 3, 8)
    assert "is_causal" not in _text(LAYERS, "Other")


def test_convolutions_of_timms_maker_may_be_of_each_channel(tmp_path: Path) -> None:
    assert load(_text(TIMM, "layer"), tmp_path)["layer"](torch.ones(1, 4, 8, 8)).shape == (1, 4, 8, 8)


@pytest.mark.parametrize("old", ["cumproduct", "sometrue", "alltrue", "round_", "Infinity", "NINF", "NaN", "bool8"])
def test_names_that_numpy_no_longer_has_are_said_as_others(old: str) -> None:
    (found,) = respelled(ast.parse(f"np.{old}"))
    assert eval(found[1], {"np": np}) is not None


def test_what_a_class_calls_as_python_2_did_stays_its_own() -> None:
    tree = ast.parse(
        "class Table:\n    def iteritems(self): return self.rows.itervalues()\n    x = iteritems\nTable().iteritems()"
    )
    assert [said for _, said in respelled(tree)] == ["self.rows.values"]


def test_convolutions_of_old_pad_with_zeros() -> None:
    text = """
from torch.nn.modules.conv import _ConvNd


class Net(_ConvNd):
    def __init__(self, width=4):
        sizes = {"width": width}
        width = [size for name, size in sizes.iteritems() if sizes.has_key(name)][0]
        super(Net, self).__init__(width, width, (3, 3), (1, 1), (1, 1), (1, 1), False, (0, 0), 1, True)

    def forward(self, x):
        return F.conv2d(x, self.weight, self.bias, self.stride, self.padding)
"""
    space: dict[str, Any] = {}
    exec(cut({"net.py": HEAD + text}, "net.py", "Net"), space)
    assert space["Net"]()(torch.ones(1, 4, 5, 5)).shape == (1, 4, 5, 5)


def test_versions_are_compared_by_what_setuptools_was_asked_for() -> None:
    text = """
import pkg_resources as pkg


def newer(current, least):
    return pkg.parse_version(current) >= pkg.parse_version(least)


class Net(nn.Module):
    def forward(self, x, newest=newer(torch.__version__, "1.10.0")):
        return x + newest
"""
    space: dict[str, Any] = {}
    exec(cut({"net.py": HEAD + text}, "net.py", "Net"), space)
    assert space["Net"]()(1) == 2


def test_what_torch_no_longer_has_is_computed_as_it_was() -> None:
    text = """
from torch import ifft as back


class Net(nn.Module):
    def forward(self, x, square):
        pairs = torch.rfft(x, 1, normalized=True)
        whole = torch.rfft(x, 2, onesided=False)
        values, vectors = torch.symeig(square, eigenvectors=True)
        found = back(torch.fft(whole, 2), 2)[..., 0]
        return torch.irfft(pairs, 1, True, signal_sizes=(5,)), found, vectors @ values.diag() @ vectors.T, whole


class Solver(nn.Module):
    def forward(self, x, square):
        x, _ = torch.gesv(x, square)
        return torch.gels(square @ x, square)[0], torch.fft.rfft(x), torch.potrf(square)


class Turning(nn.Module):
    def forward(self, square):
        return torch.eig(square, eigenvectors=True)
"""
    space: dict[str, Any] = {}
    exec(cut({"net.py": HEAD + text}, "net.py", "Net"), space)
    x = torch.randn(3, 5)
    square = x @ x.T + torch.eye(3)
    once, again, same, whole = space["Net"]()(x, square)
    torch.testing.assert_close(once, x)
    torch.testing.assert_close(torch.view_as_complex(whole), torch.fft.fft2(x))
    torch.testing.assert_close(again, whole[..., 0])
    torch.testing.assert_close(same, square, atol=1e-4, rtol=1e-4)
    exec(cut({"net.py": HEAD + text}, "net.py", "Turning"), space)
    turn = torch.tensor([[0.0, -2.0], [2.0, 0.0]])
    values, vectors = space["Turning"]()(turn)
    (value, _), (real, imaginary) = values, vectors.T
    torch.testing.assert_close(turn @ real, value[0] * real - value[1] * imaginary)  # of the first of the two
    torch.testing.assert_close(turn @ imaginary, value[0] * imaginary + value[1] * real)
    exec(cut({"net.py": HEAD + text}, "net.py", "Solver"), space)
    solved, spectrum, upper = space["Solver"]()(x, square)
    torch.testing.assert_close(square @ solved, x, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(upper.T @ upper, square)
    assert spectrum.is_complex()


def test_masks_were_bytes_that_could_be_subtracted(tmp_path: Path) -> None:
    text = """class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.line = nn.Linear(width, width)

    def forward(self, x):
        hidden = x.eq(0) | (x > 1)
        kept = (1 - hidden).byte()
        x = self.line(x).masked_fill(hidden.byte(), -1e9)
        return x * kept.float() + (1 - (x > 0.5)) * 2 + (1 - x)
"""
    warm()  # or each fork imports torch's compiler
    outcome = attempted(text, tmp_path)
    assert (outcome["reason"], outcome["detail"]) == ("", "train")
    assert "torch.logical_not((x > 0.5))) * 2 + (1 - x)" in outcome["source"]
    assert of_truth(plain := "def f(x):\n    return 1 - x\n") == plain


MARKS = """
class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, mean, rate):
        mean.mul_(1 - rate).add_(rate * x.mean())
        ctx.mark_dirty(x, mean)
        return x.mul_(2)


class Counted(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(1))

    def forward(self, x):
        return Doubled.apply(torch.relu(x), self.mean, 0.1)
"""


def test_a_function_marks_only_what_it_returns_as_changed() -> None:
    source = cut({"m.py": HEAD + MARKS}, "m.py", "Counted")
    assert "ctx.mark_dirty(x)" in source
    space: dict[str, Any] = {}
    exec(source, space)
    assert space["Counted"]()(torch.ones(2, requires_grad=True)).tolist() == [2.0, 2.0]  # refused as it stood


def test_a_view_of_a_bias_is_written_to() -> None:
    text = HEAD + (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.conv = nn.Conv2d(3, 6, 1)\n"
        "        b = self.conv.bias.view(2, -1)\n        b[:, 1] += 4.0\n        c = torch.zeros(3)\n        c[1] += 1.0\n\n"
        "    def forward(self, x):\n        return self.conv(x)\n"
    )
    source = _text(text, "Net")
    assert "b.data[:, 1] += 4.0" in source
    assert "c[1] += 1.0" in source

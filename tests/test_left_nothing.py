"""Arguments that a constructor may do without and its module may not; layers of detectron2 that bend their windows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from sources.infer.search import Solution, solve
from sources.mine import replacements

HEAD = "import math\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"
STRIDE = """def pad(x, size, stride):
    return F.pad(x, (0, (math.ceil(x.shape[-1] / stride) - 1) * stride + size - x.shape[-1]))


class Net(nn.AvgPool1d):
    def __init__(self, kernel_size: int, stride=None):
        super().__init__(kernel_size, kernel_size)
        self.stride = stride

    def forward(self, x):
        x = pad(x, self.kernel_size[0], self.stride)
        return F.avg_pool1d(x, self.kernel_size, self.stride)
"""
CHANNELS = """class Blur:
    def __init__(self, channels, size):
        self.channels, self.size = channels, size

    def __call__(self, x):
        window = torch.ones(1, 1, self.size, self.size).repeat(self.channels, 1, 1, 1) / self.size**2
        x = F.pad(x, (1, 1, 1, 1), "reflect")
        return F.conv2d(x, window, groups=x.shape[1])


class Net(nn.Module):
    def __init__(self, channels: int = 0, size: int = 3):
        super().__init__()
        self.blur = Blur(channels, size)

    def forward(self, x):
        return self.blur(x)
"""


DROP = """class Net(nn.Module):
    def __init__(self, drop_prob=None):
        super().__init__()
        self.drop_prob = drop_prob

    def forward(self, x):
        if self.drop_prob == 0.0 or not self.training:
            return x
        keep = 1 - self.drop_prob
        return x.div(keep) * (keep + torch.rand(x.shape[0])).floor().view(-1, *[1] * (x.dim() - 1))
"""


@pytest.mark.parametrize(
    ("text", "name", "likely"),
    [(STRIDE, "stride", range(1, 5)), (CHANNELS, "channels", (64,)), (DROP, "drop_prob", (0.1, 0.5, 1, 2, 4, 64))],
)
def test_what_was_left_nothing_is_given(text: str, name: str, likely: Any, tmp_path: Path) -> None:
    path = tmp_path / "task.py"
    path.write_text(HEAD + text)
    namespace: dict[str, Any] = {"__name__": "task", "__file__": str(path)}
    exec(compile(HEAD + text, str(path), "exec"), namespace)
    found = solve(namespace["Net"], namespace, HEAD + text)
    assert isinstance(found, Solution), found
    assert float(found.arguments[name]) in likely


def test_windows_that_are_not_bent_convolve() -> None:
    ops: dict[str, Any] = {}
    exec(replacements()["torchvision.ops"], ops)
    text = replacements()["detectron2.layers"].replace("from torchvision.ops import deform_conv2d, roi_align", "")
    space: dict[str, Any] = {"deform_conv2d": ops["deform_conv2d"]}
    exec(text, space)
    layer = space["ModulatedDeformConv"](4, 6, 3, padding=1, groups=2, norm=torch.nn.ReLU())
    x, offset, mask = torch.randn(2, 4, 8, 8), torch.zeros(2, 18, 8, 8), torch.ones(2, 9, 8, 8)
    wanted = torch.relu(torch.nn.functional.conv2d(x, layer.weight, layer.bias, padding=1, groups=2))
    torch.testing.assert_close(layer(x, offset, mask), wanted, atol=1e-4, rtol=1e-4)


RECURRENT = """class Net(nn.Module):
    def __init__(self, emb_size: int = 0, hidden_size: int = 0, vocab_size: int = 0, padding_idx: int = 1):
        super().__init__()
        self.words = nn.Embedding(vocab_size, emb_size, padding_idx=padding_idx)
        self.rnn = nn.GRU(emb_size, hidden_size, batch_first=True)

    def forward(self, words):
        return self.rnn(self.words(words))[0]
"""
LEVELS = """class Net(nn.Module):
    def __init__(self, levels, width):
        super().__init__()
        self.lines = nn.ModuleList()
        for level in range(len(levels)):
            layer = nn.Conv2d(levels[level]["width"], width, levels[level]["kernel_size"])
            self.lines.append(layer)

    def forward(self, x):
        return sum(line(x).mean((2, 3)) for line in self.lines)
"""


@pytest.mark.parametrize("text", [RECURRENT, LEVELS])
def test_sizes_that_were_left_zero_and_dictionaries_in_lists_are_given(text: str, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(HEAD + text)
    space: dict[str, Any] = {"__file__": str(tmp_path / "net.py")}
    exec(compile(HEAD + text, space["__file__"], "exec"), space)
    solution = solve(space["Net"], space, HEAD + text)
    assert isinstance(solution, Solution)
    built = space["Net"](**{name: eval(said) for name, said in solution.arguments.items()})
    assert built.rnn.hidden_size > 0 if text == RECURRENT else len(built.lines) > 1

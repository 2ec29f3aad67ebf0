"""Arguments of one size of which one is wrong, and how configurations, modules and messages are said."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import torch

from sources.hints.guesses import values
from sources.hints.uses import Uses
from sources.text.danger import touches_system
from tests.attempts import attempted
from tests.cuts import HEAD, cut

BANK = """class Pre(nn.Module):
    def __init__(self, inside, hidden=256, out=128):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(inside, hidden), nn.Linear(hidden, out)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


class Bank(nn.Module):
    def __init__(self, channels, count):
        super().__init__()
        self.convs = nn.ModuleList([nn.Conv1d(channels, channels, 1) for _ in range(count)])

    def forward(self, x):
        return sum(conv(x) for conv in self.convs)


class Net(nn.Module):
    def __init__(self, embed_dims, num_chars, note_dims, bank_dims, count):
        super().__init__()
        self.embedding = nn.Embedding(num_chars, embed_dims)
        self.notes = nn.Embedding(num_chars, note_dims)
        self.pre = Pre(embed_dims)
        self.bank = Bank(bank_dims, count)

    def forward(self, x):
        notes = self.notes(x)
        x = self.pre(self.embedding(x)).transpose(1, 2)
        x = self.bank(x)
        return x, notes
"""
KEYED = """class Net(nn.Module):
    def __init__(self, configs):
        super().__init__()
        self.width = configs.hidden_size
        self.act = getattr(F, configs.hidden_act) if "hidden_act" in configs.keys() else F.relu
        self.fc = nn.Linear(configs.input_size, self.width)

    def forward(self, x):
        return self.act(self.fc(x))
"""
UPSAMPLED = """class Net(nn.Module):
    def __init__(self, channels, upsample_scales):
        super().__init__()
        self.ups = nn.ModuleList([nn.Conv2d(1, 1, (1, 2 * s + 1), padding=(0, s)) for s in upsample_scales])
        self.scales = upsample_scales
        self.out = nn.Conv1d(channels, 256, 1)

    def forward(self, x):
        x = x.unsqueeze(1)
        for scale, up in zip(self.scales, self.ups):
            x = up(x.repeat_interleave(scale, -1))
        return self.out(x.squeeze(1))
"""

GOT = """class Net(nn.Module):
    def __init__(self, bias, **model_kwargs):
        super().__init__()
        self.width, self.count = int(model_kwargs.get("rnn_units")), int(model_kwargs.get("num_rnn_layers", 1))
        self.layers = nn.ModuleList([nn.Linear(self.width, self.width, bias) for _ in range(self.count)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).tanh()
        return x
"""


def test_of_sizes_alike_the_one_of_the_part_that_failed_is_changed(tmp_path: Path) -> None:
    outcome = attempted(BANK, tmp_path)
    assert outcome["reason"] == "", outcome["detail"]
    assert re.search(r"^bank_dims = 128$", outcome["source"], re.M)


@pytest.mark.parametrize("text", [KEYED, UPSAMPLED, GOT])
def test_mappings_are_asked_for_keys_and_scales_are_small(text: str, tmp_path: Path) -> None:
    outcome = attempted(text, tmp_path)
    assert outcome["reason"] == "", outcome["detail"]
    assert "[32, 64]" not in outcome["source"]


def test_modules_are_imported_from_torch_and_asked_for_devices() -> None:
    helper = "__device = 'cpu'\n\n\ndef get_device():\n    return __device\n"
    net = (
        "from torch import distributed as tdist, nn as nn\n\nimport dist\n\n\nclass Net(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n"
        "        self.share = torch.ones(3, device=dist.get_device()) / tdist.get_world_size()\n\n"
        "    def forward(self, x):\n        other = torch.ones(3, device=x.get_device())\n"
        "        return x * self.share + other\n"
    )
    text = cut({"models/net.py": HEAD + net, "dist.py": helper}, "models/net.py", "Net")
    assert "device=get_device()" in text and "device=x.device" in text and "def get_world_size" in text
    space: dict[str, Any] = {"__name__": "task"}
    exec(text, space)
    assert torch.equal(space["Net"]()(torch.ones(3)), 2 * torch.ones(3))


def test_a_message_may_say_its_own_module() -> None:
    said = "import sys\n\n\ndef f(mode):\n    assert mode in 'ab', 'wrong mode in [%s]' % sys.modules[__name__]\n"
    assert not touches_system(said)
    assert touches_system(said.replace("sys.modules[__name__]", "sys.modules['os']"))
    assert touches_system("import sys\n\n\ndef f(name):\n    return getattr(sys.modules[__name__], name)\n")
    assert touches_system("import sys\n\n\ndef f():\n    return sys.modules[__name__].os\n")


def test_steps_are_counted() -> None:
    assert [values(name, "", Uses())[0] for name in ("num_steps", "time_steps")] == ["2", "64"]
    names = ("eps", "norm_eps", "epsilon", "layernorm_eps", "rms_norm_eps")
    assert {values(name, "", Uses())[0] for name in names} == {"1e-5"}

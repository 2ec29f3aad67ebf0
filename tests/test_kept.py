"""Small general leads: what is only kept, parts that do nothing, flags, letters, tiny starts, sizes by other names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from sources.cut.slicer import Slicer
from sources.cut.writer import cut as write_cut
from sources.fetch.texts import wanted
from sources.hints.guesses import values
from sources.hints.uses import Uses
from sources.infer.constructor.constructions import Told
from sources.infer.inputs import Plain, all_tensors
from sources.infer.rewritten.drawn import drawn
from sources.infer.search import Solution, solve
from sources.text.symbols import Package

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"
KEEPS = (
    "import sys\nfrom absent import Coder, bits\n" + HEAD + "here = sys.modules[__name__]\n\n\n"
    "def odd(x):\n    return getattr(here, 'even')(x)\n\n\n"
    "class Net(nn.Module):\n    def __init__(self, dim):\n        super().__init__()\n        self.line = nn.Linear(dim, dim)\n"
    "        self.coder, self.writer = Coder(8), bits.Writer(mode='fast')\n"
    "    def forward(self, x, strange=False):\n        if strange:\n            return odd(self.writer.write(x))\n"
    "        return self.line(x)\n"
)


def test_what_a_constructor_only_makes_and_keeps_may_be_absent() -> None:
    done = write_cut(Slicer(Package({"net.py": KEEPS})), "net.py", "Net")
    namespace: dict[str, Any] = {}
    exec(compile(done.source, "cut", "exec"), namespace)
    assert namespace["Net"](4)(torch.ones(2, 4)).shape == (2, 4)
    assert {"absent.Coder", "absent.bits", "what uses sys"} <= set(done.lacks)


def solved(text: str, folder: Path) -> Solution:
    path = folder / "cut.py"
    path.write_text(HEAD + text)
    namespace: dict[str, Any] = {}
    exec(compile(HEAD + text, str(path), "exec"), namespace)
    found = solve(namespace["Net"], namespace, HEAD + text)
    assert isinstance(found, Solution), found
    return found


def test_a_module_that_only_calls_its_parts_is_given_some_that_compute(tmp_path: Path) -> None:
    text = "class Net(nn.Module):\n    def __init__(self, encoder):\n        super().__init__()\n        self.encoder = encoder\n\n"
    found = solved(text + "    def forward(self, x):\n        return self.encoder(x)\n", tmp_path)
    assert found.arguments["encoder"] == "nn.Linear(64, 64)"


def test_an_empty_list_of_parts_is_filled_where_nothing_is_computed(tmp_path: Path) -> None:
    text = "class Net(nn.Module):\n    def __init__(self, blocks):\n        super().__init__()\n        self.blocks = blocks\n\n"
    text += "    def forward(self, x):\n        for block in self.blocks:\n            x = block(x)\n        return x\n"
    path = tmp_path / "cut.py"
    path.write_text(HEAD + text)
    namespace: dict[str, Any] = {}
    exec(compile(HEAD + text, str(path), "exec"), namespace)
    told = Told(({"positional": ["nn.ModuleList([])"], "named": {}},))
    found = solve(namespace["Net"], namespace, HEAD + text, told)
    assert isinstance(found, Solution), found
    assert found.arguments["blocks"] == "nn.ModuleList([nn.Linear(64, 64), nn.Linear(64, 64)])"


def test_a_flag_asks_for_tensors(tmp_path: Path) -> None:
    text = (
        "class Net(nn.Module):\n    def forward(self, x, names=None, return_logits=False):\n"
        "        y = x.exp()\n        return y if return_logits else str(y.shape)\n"
    )
    assert solved(text, tmp_path).specs[1:] == (Plain(None), Plain(True))


def test_a_size_that_was_unpacked_before_it_is_tested_is_found(tmp_path: Path) -> None:
    text = (
        "class Net(nn.Module):\n    def forward(self, points):\n        b, n, c = points.shape\n        last = points.shape[-1]\n"
        "        if last == 4:\n            return points.exp()\n        elif last == 6:\n            return points.sin()\n"
        "        else:\n            raise ValueError('boxes of another kind')\n"
    )
    ((_, tensor),) = all_tensors(solved(text, tmp_path).specs)
    assert tensor.shape[-1] in (4, 6)


def test_a_word_stays_a_word_though_its_letters_are_counted() -> None:
    assert values("vocab", "str", Uses(listed=True))[0].startswith("'")
    assert values("vocab", "", Uses(listed=True))[0].startswith("[")


def test_variances_are_positive() -> None:
    assert values("sigma2", "", Uses(array=True))[0] == "torch.rand(64, 64).add(0.5).numpy()"
    assert values("mu", "", Uses(array=True))[0] == "torch.randn(64, 64).numpy()"


@pytest.mark.parametrize(
    ("start", "changed"),
    [("nn.init.normal_(w, mean=0, std=1e-4)", True), ("nn.init.uniform_(w, -1e-3, 1e-3)", True),
     ("nn.init.normal_(w, 0, 0.02)", False), ("nn.init.normal_(w)", False), ("nn.init.normal_(bias, 0, 1e-4)", False)],
)  # fmt: skip
def test_weights_that_start_as_next_to_nothing_are_drawn(start: str, changed: bool) -> None:
    text = f"class Net:\n    def init_weights(self, w, bias):\n        {start}\n"
    assert (drawn(text) != text) is changed


def test_a_small_deviation_by_default_is_a_larger_one() -> None:
    assert "init_std=0.1" in drawn("class Net:\n    def __init__(self, init_std=0.0001):\n        pass\n")


def test_configurations_are_read_wherever_they_are() -> None:
    assert wanted("tools/cfgs/kitti/second.yaml")
    assert wanted("options/train/net.json")
    assert not wanted("data/labels.json")


TAKES = (
    "import torch.nn as nn\nfrom . import coders\n\n\nclass Net(nn.Module):\n    def __init__(self, cfg):\n"
    "        super().__init__()\n        self.coder = getattr(coders, cfg['coder'])(cfg['scale'])\n"
    "    def forward(self, x):\n        return self.coder.encode(x)\n"
)
CODERS = (
    "class Linear:\n    def __init__(self, scale):\n        self.scale = scale\n    def encode(self, x):\n"
    "        return x * self.scale\n\n\nclass Other(Linear):\n    pass\n"
)


def test_what_getattr_takes_out_of_a_module_by_a_word_that_is_said_comes_along() -> None:
    package = Package({"net/__init__.py": "", "net/head.py": TAKES, "net/coders.py": CODERS})
    source = write_cut(Slicer(package), "net/head.py", "Net", said=["Linear"]).source
    assert "Other" not in source
    namespace: dict[str, Any] = {}
    exec(compile(source, "cut", "exec"), namespace)
    assert namespace["Net"]({"coder": "Linear", "scale": 3.0})(torch.ones(2)).tolist() == [3, 3]

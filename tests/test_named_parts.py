"""Arguments: classes that a parameter is called after, what a package says for several names, sizes that were too few."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sources.hints.hints import Hints
from sources.infer.constructor.constructions import Constructions, Told
from sources.infer.forward.variants import constructed, rescaled, reshaped
from sources.infer.running.progress import Budget
from sources.text.symbols import Package
from sources.text.targets import Here
from tests.attempts import attempted

HEAD = "import torch\nimport torch.nn as nn\n\n\n"
USER = HEAD + (
    "class Net(nn.Module):\n    def __init__(self, mixer, settings):\n        super().__init__()\n"
    "        self.mixer, self.settings = mixer, settings\n        self.mixer = mixer\n"
    "    def forward(self, x):\n        return self.mixer(x) * self.settings.scale\n"
)
PART = HEAD + (
    "class Mixer(nn.Module):\n    def __init__(self, width):\n        super().__init__()\n"
    "        self.line = nn.Linear(width, width)\n    def forward(self, x):\n        return self.line(x), x\n"
)
LEVELS = """class Net(nn.Module):
    def __init__(self, rates, windows):
        super().__init__()
        self.ups = nn.ModuleList(
            nn.ConvTranspose1d(8, 8, window, rate, padding=(window - rate) // 2) for rate, window in zip(rates, windows)
        )
        self.count = len(rates[0])
"""
ACTED = (
    HEAD
    + """class Net(nn.Module):
    def __init__(self, act, in_ch, out_ch=None):
        super().__init__()
        self.conv_in, self.conv_out = nn.Conv2d(in_ch, in_ch, 3), nn.Conv2d(in_ch, out_ch or in_ch, 3)
        self.act = act

    def forward(self, x):
        h = self.conv_in(self.act(x))
        return self.conv_out(self.act(h))
"""
)


def _named(files: dict[str, str]) -> dict[str, Any]:
    sites = Hints(Package(files)).sites(Here("nets/a.py", "Net"))
    return dict(sites[0].spelled(lambda h: h.name)["named"]) if sites else {}


def test_a_part_that_is_run_may_be_of_the_class_it_is_called_after() -> None:
    assert _named({"nets/a.py": USER, "nets/b.py": PART}) == {"mixer": "Mixer(width=64)"}
    assert _named({"nets/a.py": USER, "nets/b.py": PART, "other/c.py": PART}) == {"mixer": "Mixer(width=64)"}
    assert not _named({"nets/a.py": USER, "one/b.py": PART, "other/c.py": PART})  # either may be meant
    assert not _named({"nets/a.py": USER, "nets/b.py": PART.replace("def forward", "def encode")})


def test_what_a_package_says_for_several_names_is_tried_together() -> None:
    namespace: dict[str, Any] = {"__name__": "task"}
    exec(HEAD + LEVELS, namespace)
    told = Told((), {"rates": "[[2], [2]]", "windows": "[[4], [4]]", "unknown": "3"})
    search = Constructions(namespace["Net"], namespace, HEAD + LEVELS, Budget(), told, tries=2)
    assert next(iter(search), None) is None
    assert any(
        "[[2], [2]]" in seen and "[[4], [4]]" in seen for seen in search.agenda._costs
    )  # by the keys, which tell all of each


def test_a_count_that_leaves_less_than_nothing_is_larger() -> None:
    message = "RuntimeError: Trying to create tensor with negative dimension -100: [4, -100]"
    first, second = rescaled({"width": "64", "seq_len": "8", "kind": "'a'"}, message)
    assert first == {"width": "64", "seq_len": "172", "kind": "'a'"}
    assert second["width"] == "228"


def test_rows_of_a_matrix_are_as_long_as_its_view_asks_for() -> None:
    message = "RuntimeError: shape '[1, 64, 1, 1, 2]' is invalid for input of size 4096"
    given = {"anchors": "torch.randn(64, 64).numpy()", "other": "torch.randn(8, 64)"}
    assert reshaped(given, message) == [given | {"anchors": "torch.randn(64, 2).numpy()"}]
    assert not reshaped(given, message.replace("4096", "100"))


def test_a_list_of_sizes_is_as_long_as_another_list_asks_for(tmp_path: Path) -> None:
    outcome = attempted(DETECT, tmp_path)
    assert not outcome["reason"], outcome["detail"]
    assert len(outcome["inputs"]) == 3


DETECT = """
class Net(nn.Module):
    def __init__(self, anchors=((1, 2), (3, 4), (5, 6)), ch=()):
        super().__init__()
        self.nl = len(anchors)
        self.m = nn.ModuleList(nn.Conv2d(x, 4, 1) for x in ch)

    def forward(self, x):
        return torch.cat([self.m[i](x[i]).flatten() for i in range(self.nl)])
"""


def test_a_class_that_is_called_with_a_tensor_is_a_layer(tmp_path: Path) -> None:
    message = "conv2d() received an invalid combination of arguments - got (GELU, Parameter, tuple)"
    given = {"act": "nn.GELU", "norm": "nn.LayerNorm", "kind": "'GELU'"}
    assert constructed(given, message) == [given | {"act": "nn.GELU()"}]
    assert not constructed(given, "GELUs")
    outcome = attempted(ACTED, tmp_path)
    assert not outcome["reason"], outcome["detail"]

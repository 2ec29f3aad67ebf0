"""Networks whose layers a configuration lists by name, as YOLO's do, built from what the repository's YAML files say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sources import mine, probe
from sources.hints.hints import Hints
from sources.mine import replacements
from sources.text.symbols import Package
from tests.cuts import HEAD, cut

TEXT = """
import contextlib
from copy import deepcopy


class Conv(nn.Module):
    def __init__(self, c1, c2, k=1, s=1, act=True):
        super().__init__()
        self.conv = nn.Conv2d(c1, c2, k, s, k // 2)
        self.act = nn.SiLU() if act else nn.Identity()

    def forward(self, x):
        return self.act(self.conv(x))


class Detect(nn.Module):
    def __init__(self, nc, anchors, ch=()):
        super().__init__()
        self.m = nn.ModuleList(nn.Conv2d(x, (nc + 5) * len(anchors[0]) // 2, 1) for x in ch)

    def forward(self, x):
        return [m(i) for m, i in zip(self.m, x)]


class Net(nn.Module):
    def __init__(self, cfg="net.yaml", ch=3):
        super().__init__()
        if isinstance(cfg, dict):
            self.yaml = cfg
        else:
            import yaml
            with open(cfg) as f:
                self.yaml = yaml.safe_load(f)
        ch = self.yaml["ch"] = self.yaml.get("ch", ch)
        self.model = parse_model(deepcopy(self.yaml), ch=[ch])
        self.forward(torch.zeros(1, ch, 128, 128))

    def forward(self, x):
        y = []
        for m in self.model:
            if m.f != -1:
                x = y[m.f] if isinstance(m.f, int) else [x if j == -1 else y[j] for j in m.f]
            x = m(x)
            y.append(x)
        return x


def parse_model(d, ch):
    anchors, nc, gd, gw = d["anchors"], d["nc"], d["depth_multiple"], d["width_multiple"]
    layers, c2 = [], ch[-1]
    for i, (f, n, m, args) in enumerate(d["backbone"] + d["head"]):
        m = eval(m) if isinstance(m, str) else m
        for j, a in enumerate(args):
            with contextlib.suppress(NameError):
                args[j] = eval(a) if isinstance(a, str) else a
        if m is Conv:
            c1, c2 = ch[f], int(args[0] * gw)
            args = [c1, c2, *args[1:]]
        elif m is Detect:
            args.append([ch[x] for x in f])
        else:
            c2 = ch[f]
        m_ = m(*args)
        m_.f = f
        layers.append(m_)
        if i == 0:
            ch = []
        ch.append(c2)
    return nn.Sequential(*layers)
"""
SETTINGS = """
nc: 4
depth_multiple: 1.0
width_multiple: 16.0
anchors:
  - [1, 2, 3, 4]
  - [5, 6, 7, 8]
backbone:
  [[-1, 1, Conv, [64, 3, 2]],
   [-1, 1, Conv, [64, 3, 2]],
   [-1, 1, nn.Upsample, [None, 2, "nearest"]]]
head:
  [[-1, 1, Conv, [32, 1, 1, False]],
   [[2, 3], 1, Detect, [nc, anchors]]]
"""


def test_layers_are_those_that_a_repositorys_configuration_lists(tmp_path: Path) -> None:
    texts = {"net.py": HEAD + TEXT}
    source = cut(texts, "net.py", "Net")
    assert "eval(" not in source
    words = {"anchors", "nc", "depth_multiple", "width_multiple", "backbone", "head", "ch"}
    defaults = Hints(Package(texts, replacements()), [SETTINGS]).defaults(words, "Net")
    told: dict[str, Any] = {"sites": [], "users": [], "defaults": defaults}
    made = {"name": "Net", "source": source, "told": told, "lacks": [], "header": []}
    outcome = probe.attempt_one(made, mine.LARGE, tmp_path)
    assert not outcome["reason"], outcome
    assert "'nn.Upsample'" in outcome["source"]


def test_what_a_word_means_is_a_definition_a_variable_or_a_plain_value() -> None:
    text = """
class Net(nn.Module):
    def forward(self, x, word="F.relu"):
        scale = 2
        found = eval(word) if isinstance(word, str) else word
        return found(x) if callable(found) else x * found
"""
    space: dict[str, Any] = {}
    exec(cut({"net.py": HEAD + text}, "net.py", "Net"), space)
    net = space["Net"]()
    assert [net(-3, word) if word == "scale" else net(2, 5) for word in ("scale", "")] == [-6, 10]
    meant_by = space["meant_by"]
    assert meant_by("None", {}) is None
    assert meant_by("nn.ReLU", space) is space["nn"].ReLU
    assert meant_by("[(512, 10, 5)] + [(512, 3 - 1, -2)] * 2", {}) == [(512, 10, 5), (512, 2, -2), (512, 2, -2)]
    with pytest.raises(NameError, match="nearest"):
        meant_by("nearest", {})

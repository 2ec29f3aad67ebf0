"""Frameworks are looked through, and cut, a few folders at a time, and tell what they tell as a whole."""

from __future__ import annotations

import ast
import weakref
from pathlib import Path
from typing import Any

import pytest

from sources import mine
from sources.cut import survey
from sources.cut.cutting import cut_package
from sources.text.scope import walk

HEAD = "import torch\nimport torch.nn as nn\n"
FILES = {
    "frame/__init__.py": "",
    "frame/layers/__init__.py": "",
    "frame/layers/gate.py": HEAD + "\n\nclass Gate(nn.Module):\n    def __init__(self, width, scale=3):\n"
    "        super().__init__()\n        self.linear = nn.Linear(width, width)\n        self.scale = scale\n\n"
    "    def forward(self, x):\n        return self.linear(x) * self.scale\n",
    "frame/models/__init__.py": "",
    "frame/models/net.py": HEAD + "from ..layers.gate import Gate\n\n\nclass Net(nn.Module):\n"
    "    def __init__(self, config):\n        super().__init__()\n        width = 48\n"
    "        self.gates = nn.ModuleList([Gate(width, scale=5), Gate(config.width)])\n\n"
    "    def forward(self, x):\n        return self.gates[1](self.gates[0](x))\n",
    "frame/models/twin.py": HEAD + "\n\nclass Twin(nn.Module):\n    def __init__(self, width, scale=3):\n"
    "        super().__init__()\n        self.linear = nn.Linear(width, width)\n        self.scale = scale\n\n"
    "    def forward(self, x):\n        return self.linear(x) * self.scale\n",
    "frame/broken.py": "def (:\n",
}


def package(part: int = 0, parts: int = 1, **more: Any) -> dict[str, Any]:
    return {"files": FILES, "replacements": mine.replacements(), "cut_points": {"frame": "MODELS = ()\n"},
            "part": part, "parts": parts, "seed": 0, "enough": 1 << 30, **more}  # fmt: skip


@pytest.fixture
def folder_by_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey, "MAX_AT_ONCE", 1)


def test_a_framework_cut_folder_by_folder_is_cut_as_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = cut_package(package(), tmp_path / "a")
    monkeypatch.setattr(survey, "MAX_AT_ONCE", 1)
    assert cut_package(package(), tmp_path / "b") == at_once
    assert {c["symbol"] for c in at_once["cuts"]} == {"Gate", "Net"}
    assert [(r["symbol"], r["reason"]) for r in at_once["refused"]] == [("Twin", "duplicate")]
    assert list(at_once["broken"]) == ["frame/broken.py"]


def test_trees_that_were_looked_at_are_forgotten() -> None:
    whole = survey.Whole.of(package())
    looked, hints = whole.look(["frame/layers/gate.py"])
    file = looked.file("frame/layers/gate.py")
    assert file is not None
    kept = weakref.ref(file.tree)
    del looked, hints, file
    whole.look([])
    assert kept() is None


def test_calls_in_other_folders_are_told(tmp_path: Path, folder_by_folder: None) -> None:
    (gate,) = (c for c in cut_package(package(), tmp_path)["cuts"] if c["symbol"] == "Gate")
    assert gate["told"]["sites"] == [{"positional": ["48"], "named": {"scale": "5"}}]
    assert gate["told"]["defaults"]["scale"] == "3"


def test_parts_of_a_survey_that_travelled_make_the_whole(tmp_path: Path, folder_by_folder: None) -> None:
    known = survey.survey_package(package(), tmp_path)
    parts = [cut_package(package(part, 2, survey=known), tmp_path / str(part)) for part in range(2)]
    whole = cut_package(package(), tmp_path / "whole")
    for kind in ("cuts", "refused"):
        found = [(c["path"], c["symbol"]) for p in parts for c in p[kind]]
        assert sorted(found) == sorted((c["path"], c["symbol"]) for c in whole[kind])
    assert all(len({c["path"] for c in p["cuts"]}) == 1 for p in parts)


def test_a_walk_finds_what_asts_own_finds_in_its_order() -> None:
    tree = ast.parse(FILES["frame/models/net.py"])
    assert walk(tree) == [n for n in ast.walk(tree) if not isinstance(n, ast.expr_context)]

"""One class through the whole of what mining tries with it, in this process."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sources import mine, probe
from sources.cut.cutting import cut_package

HEAD = "import copy\nimport numpy as np\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"


def attempted(text: str, scratch: Path, defaults: Mapping[str, str] = MappingProxyType({})) -> dict[str, Any]:
    """The outcome for the class ``Net`` of a text, of which nothing is known but a package's ``defaults``."""
    told: dict[str, Any] = {"sites": [], "defaults": dict(defaults), "users": []}
    cut = {"name": "Net", "source": HEAD + text, "told": told, "lacks": [], "header": []}
    return probe.attempt_one(cut, mine.LARGE, scratch)


def cut_and_attempted(text: str, symbol: str, scratch: Path) -> dict[str, Any]:
    """The outcome for a class of a package of one file, cut out of it with what the file tells of it."""
    payload = {"files": {"net.py": text}, "replacements": mine.replacements(), "cut_points": {}, "part": 0, "parts": 1,
               "seed": 0, "enough": 99}  # fmt: skip
    (found,) = [c for c in cut_package(payload, scratch)["cuts"] if c["symbol"] == symbol]
    return probe.attempt_one(found | {"header": []}, mine.LARGE, scratch)

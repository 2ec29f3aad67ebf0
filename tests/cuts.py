"""Texts of packages, and one class cut out of them."""

from __future__ import annotations

from sources.cut.slicer import Slicer
from sources.cut.writer import cut as write_cut
from sources.mine import replacements
from sources.text.symbols import Package

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"


def cut(texts: dict[str, str], path: str, symbol: str) -> str:
    """The text of a class of the package's file, with what it needs."""
    return write_cut(Slicer(Package(texts, replacements())), path, symbol).source

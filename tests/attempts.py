"""One class through the whole of what mining tries with it, in this process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sources import mine, probe

HEAD = "import copy\nimport numpy as np\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"


def attempted(text: str, scratch: Path) -> dict[str, Any]:
    """The outcome for the class ``Net`` of a text, of which nothing else is known."""
    told: dict[str, Any] = {"sites": [], "defaults": {}, "users": []}
    cut = {"name": "Net", "source": HEAD + text, "told": told, "lacks": [], "header": []}
    return probe.attempt_one(cut, mine.LARGE, scratch)

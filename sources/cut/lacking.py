"""What the definitions of a package need of packages that are absent, so that these can be fetched as source.

Runs inside the sandbox: no hostile text is parsed outside.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from sources.cut.modules import candidates
from sources.cut.slicer import SliceError, Slicer
from sources.cut.survey import Whole
from sources.fetch import requirements
from sources.text.importable import ALLOWED, STANDARD
from sources.text.targets import Here

MAX_ASKED = 8  # packages at once
_IMPORTS = re.compile(r"^[ \t]*(?:from[ \t]+(\w+)|import[ \t]+(\w[^\n#;]*))", re.M)


def asks(whole: Whole, slicer: Slicer, payload: Mapping[str, Any]) -> list[list[str]]:
    """Absent packages, each with the requirement by which it is fetched; those that most definitions need first.

    None of a framework, of which most need nothing else, nor where there are more definitions than ``enough``: others
    take the place of those that lack something.
    """
    if whole.framework:
        return []
    known, asked = requirements.stated(payload["files"]), set(payload["asked"])
    package = slicer.package
    if not (package.roots or _imported(whole.code, known, asked)):
        return []
    wanted = payload.get("only")
    shapes = {c.shape: c for c in reversed(candidates(package))
              if not c.refused and (wanted is None or c.symbol in wanted)}  # fmt: skip
    if len(shapes) > payload["enough"]:
        return []
    for c in shapes.values():
        with contextlib.suppress(SliceError):  # what it lacks is noted
            slicer.closure(Here(c.path, c.symbol), method=next(iter(c.methods), "forward"))
    needed = sorted(package.asked.items(), key=lambda item: (-item[1], item[0]))
    found = [[name, requirements.wanted(name, known)] for name, _ in needed if name not in asked]
    return [ask for ask in found if ask[1]][:MAX_ASKED]


def _imported(code: Mapping[str, str], known: Mapping[str, str], asked: Collection[str]) -> bool:
    """Whether any file may import what could be fetched: a look at the text that costs nothing."""
    own = {part.removesuffix(".py") for path in code for part in path.split("/")}
    names = {name for text in code.values() for name in _named(text)} - ALLOWED - STANDARD - own - set(asked)
    return any(requirements.wanted(name, known) for name in names)


def _named(text: str) -> Iterator[str]:
    """The packages that a text imports something of: ``import math, torch`` names two."""
    for source, several in _IMPORTS.findall(text):
        yield from [source] if source else re.findall(r"(?:^|,)\s*(\w+)", several)

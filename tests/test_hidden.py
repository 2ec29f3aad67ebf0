"""Which files of a repository hide our replacement of a package, and what a first search spares those that count."""

from __future__ import annotations

import re

import pytest

from sources.infer.warming import warm
from sources.mine import replacements
from sources.text.symbols import Package
from sources.text.targets import Here

NET = "from pytorch_lightning import LightningModule\n\n\nclass Net(LightningModule):\n    pass\n"
OURS = Here("pytorch_lightning.py", "LightningModule")


@pytest.mark.parametrize(
    ("others", "path"),
    [
        ({"examples/pytorch_lightning/train.py": "x = 1\n"}, ""),  # named after it
        ({"src/pytorch_lightning/__init__.py": "class LightningModule:\n    pass\n"}, "src/pytorch_lightning/__init__.py"),
        ({"pytorch_lightning/base.py": "x = 1\n"}, "none"),
        ({"lib/pytorch_lightning.py": "class LightningModule:\n    pass\n"}, "lib/pytorch_lightning.py"),
    ],
)  # fmt: skip
def test_a_folder_that_is_no_package_hides_nothing(others: dict[str, str], path: str) -> None:
    found = Package({"net.py": NET, **others}, replacements()).lookup("net.py", "LightningModule")
    assert (found == OURS) == (not path)
    assert path in ("", "none") or found == Here(path, "LightningModule")


def test_patterns_are_compiled_before_a_search_that_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    warm()
    compiled: list[str] = []
    compiler = re._compiler  # type: ignore[attr-defined]
    before = compiler.compile
    monkeypatch.setattr(compiler, "compile", lambda p, flags=0: compiled.append(p) or before(p, flags))
    warm()
    assert len(compiled) < 10

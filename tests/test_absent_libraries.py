"""Compiled libraries, which no task has: what tells whether they are here says no, and who calls them is not tried."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sources.cut.lacking import _imported
from sources.infer.forward.asserted import of_absent
from tests.cuts import HEAD, cut

OPTIONAL = (
    HEAD
    + """
try:
    {}
    COMPILED = True
except Exception:
    COMPILED = False


class Net(nn.Module):
    def forward(self, x):
        return torch.ops.ours.double(x) if COMPILED else 2 * x
"""
)
REDEFINED = """
try:
    from ops import twice
except ImportError:
    twice = None


def twice(x):
    return 2 * x


class Net(nn.Module):
    def forward(self, x):
        return twice(x)
"""
NONE = """
kernel = None


def call(given, x):
    y = x if given else None
    if given is None:
        return kernel.forward(
            x)
    return y.forward(x)
"""


@pytest.mark.parametrize(
    ("load", "there"),
    [("torch.ops.load_library('ours.so')", False), ("library = ctypes.CDLL('ours.so')", False),
     ("torch.ones(2).sum()", True)],
)  # fmt: skip
def test_what_loads_a_library_fails(load: str, there: bool) -> None:
    assert f"COMPILED = {there}" in cut({"net.py": OPTIONAL.format(load)}, "net.py", "Net")


def test_what_is_defined_after_it_was_imported_counts() -> None:
    files = {"ops.py": "def twice(x):\n    return x + x\n", "net.py": HEAD + REDEFINED}
    assert "2 * x" in cut(files, "net.py", "Net") and "x + x" not in cut(files, "net.py", "Net")
    files["net.py"] = HEAD + REDEFINED.replace("\n\n\nclass", "\n\n\nfrom ops import twice\n\n\nclass")
    assert "x + x" in cut(files, "net.py", "Net")


def test_a_script_of_hydras_makes_what_a_configuration_holds() -> None:
    text = f"import hydra\n{HEAD}\n\nclass Net(nn.Module):\n    def __init__(self, part):\n        super().__init__()\n"
    text += (
        "        self.part = hydra.utils.instantiate(part)\n\n    def forward(self, x):\n        return self.part(x)\n"
    )
    assert "def instantiate(config" in cut({"net.py": text}, "net.py", "Net")


def test_a_package_may_be_imported_in_one_line_with_others() -> None:
    assert _imported({"net.py": "import math, torch, gates as g  # all\n"}, {}, ())
    assert not _imported({"net.py": "import math, torch  # gates, too\nfrom math import pi, e\n"}, {}, ())


@pytest.mark.parametrize(("given", "absent"), [(None, True), (False, False)])
def test_a_name_that_is_none_whatever_is_given_is_told(given: bool | None, absent: bool, tmp_path: Path) -> None:
    file, space = tmp_path / "net.py", dict[str, Any]()
    file.write_text(NONE)
    exec(compile(NONE, str(file), "exec"), space)
    with pytest.raises(AttributeError) as caught:
        space["call"](given, 1)
    assert of_absent(caught.value, str(file)) is absent

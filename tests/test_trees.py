"""Settings of settings: trees of them that a program assigns, and configurations that name a class."""

from __future__ import annotations

from sources.hints.hints import Hints
from sources.text.symbols import Package

PARTS = {"MODEL": ("WIDTH", "DEPTH", "KIND"), "DATA": ("FRAMES", "SIDE", "DEPTH"), "NORM": ("KIND", "EPS", "WIDTH")}
NAMES = ["MODEL", "DATA", "NORM", "WIDTH", "DEPTH", "KIND", "FRAMES", "SIDE", "EPS"]


def _tree(count: int = 99) -> str:
    lines = [f"_C.{part}.{name} = {i}" for part, names in PARTS.items() for i, name in enumerate(names, 1)]
    return "_C = Node()\n" + "\n".join(lines[:count]) + "\n"


def test_a_setting_is_that_of_its_part() -> None:
    found = Hints(Package({"defaults.py": _tree()})).defaults(NAMES)
    assert (found["MODEL.DEPTH"], found["DATA.DEPTH"], found["NORM.WIDTH"]) == ("2", "3", "3")
    assert "DATA.SIDE" not in Hints(Package({"defaults.py": _tree()})).defaults(["DATA", "FRAMES"])
    assert not [n for n in Hints(Package({"net.py": _tree(3)})).defaults(NAMES) if "." in n]  # no tree


def test_a_configuration_that_names_a_class_is_that_classes() -> None:
    texts = ["MODEL: {KIND: Other, WIDTH: 9}\nNORM: {EPS: 9}", "MODEL: {KIND: Net, WIDTH: 7, DEPTH: '(4, 5)'}",
             "MODEL: {KIND: Net, WIDTH: 8, DEPTH: 8}\nNORM: {EPS: 8, KIND: 8}\nDATA: {DEPTH: 8}"]  # fmt: skip
    hints = Hints(Package({"defaults.py": _tree()}), texts)
    found = hints.defaults(NAMES, "Net")  # as the plainest of its configurations says, and the program else
    assert (found["MODEL.WIDTH"], found["MODEL.DEPTH"], found["NORM.EPS"]) == ("7", "(4, 5)", "2")
    assert hints.defaults(NAMES, "Unknown")["MODEL.WIDTH"] == "1"

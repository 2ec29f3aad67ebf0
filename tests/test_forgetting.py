"""What is parsed of packages beside a repository is let go of where it is much, and cuts stay what they are."""

from __future__ import annotations

import pytest

from sources.cut.slicer import Slicer
from sources.cut.writer import cut
from sources.mine import replacements
from sources.text import symbols
from sources.text.roots import Roots
from sources.text.symbols import Package
from sources.text.targets import Here
from tests.test_backbones import NETS, wheel

USERS = "import timm\nimport torch.nn as nn\n" + "".join(
    f"\n\nclass {name}(nn.Module):\n    def __init__(self, backbone='tiny_net'):\n        super().__init__()\n"
    f"        self.net = timm.create_model(backbone, num_classes={classes})\n\n"
    "    def forward(self, x):\n        return self.net(x)\n"
    for name, classes in (("One", 5), ("Two", 7))
)  # fmt: skip


def beside() -> Roots:
    return Roots([("timm-1.0-py3-none-any.whl", wheel(NETS), "timm")])


def test_cuts_are_the_same_where_other_packages_are_let_go_of_in_between(monkeypatch: pytest.MonkeyPatch) -> None:
    def every() -> tuple[list[str], int]:
        slicer = Slicer(Package({"a.py": USERS}, replacements(), roots=beside()))
        sources, kept = list[str](), 0
        for name in ("One", "Two", "One"):
            sources.append(cut(slicer, "a.py", name).source)
            slicer.forget()
            kept = sum(path in slicer.package.roots for path in slicer.package._files)
        return sources, kept

    whole, parsed = every()
    assert "def tiny_net" in whole[0]
    assert parsed > 0
    monkeypatch.setattr(symbols, "MAX_BESIDE", 0)
    assert every() == (whole, 0)


def test_of_what_is_passed_over_only_what_may_bind_a_name_is_read_and_little_of_it_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = {f"net/part_{i}.py": f"class Part{i}: ...\n" for i in range(9)}
    texts["net/part_3.py"] += "# before Part7\n"  # read for it, and in vain
    texts["net/__init__.py"] = "".join(f"from .part_{i} import *\n" for i in range(9))
    texts["use.py"] = "from net import Part7\n"
    package = Package(texts, about=["use.py"])
    assert package.lookup("use.py", "Part7") == Here("net/part_7.py", "Part7")
    assert {*package._files} == {"use.py", "net/__init__.py", "net/part_7.py"}
    assert not package.forget()
    monkeypatch.setattr(symbols, "MAX_PASSED_OVER", 0)
    assert package.forget()
    assert {*package._files} == {"use.py"}


def test_a_search_for_names_keeps_no_text_of_wide_characters() -> None:
    text = f"# \N{SNAKE}\n{'x = 1  # of many' * 100}\n"
    roots = Roots([("gates-1.0-py3-none-any.whl", wheel({"gates/__init__.py": text}), "gates")])
    (path,) = roots
    assert roots.says(path, "absent", "many")
    assert not roots.says(path, "absent")
    assert roots[path] == text
    assert {type(kept) for kept in roots._searched.values()} == {bytes}

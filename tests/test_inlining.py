"""Definitions of absent packages: found, fetched without a run, cut out, and told of with their licences."""

from __future__ import annotations

import hashlib
import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from filters import licence
from kdata import publish, rows
from kdata.record import Candidate, Definition, Dropped, Inlined, Origin, Pair, SourceFile, Task
from sources import mine
from sources.cut.lacking import MAX_ASKED
from sources.cut.slicer import MAX_FOREIGN, Slicer
from sources.cut.writer import cut as write_cut
from sources.explain import explain
from sources.fetch import foreign, pypi
from sources.fetch.requirements import stated, wanted
from sources.fetch.texts import MAX_FILE, SourceError
from sources.text.roots import Roots
from sources.text.symbols import Package
from sources.text.targets import Here, Missing
from tests import factories
from tests.wheels import wheel

HEAD = "import torch\nimport torch.nn as nn\n"
NET = HEAD + "from gates.soft import Gate\n\n\nclass Net(nn.Module):\n    def __init__(self, dim=8):\n        super().__init__()\n" \
    "        self.gate = Gate(dim)\n\n    def forward(self, x):\n        return self.gate(x) + x\n"  # fmt: skip
GATE = HEAD + "from .base import scale\n\n\nclass Gate(nn.Module):\n    def __init__(self, dim):\n        super().__init__()\n" \
    "        self.line = nn.Linear(dim, dim)\n\n    def forward(self, x):\n        return scale(torch.sigmoid(self.line(x)))\n"  # fmt: skip
GATES = {"gates/__init__.py": "from .soft import *\n", "gates/soft.py": GATE,
         "gates/base.py": "def scale(x):\n    return x * 2\n", "gates/evil.py": "raise SystemExit('run')\n"}  # fmt: skip


def metadata(name: str, version: str, licence: str) -> str:
    said = f"License-Expression: {licence}\n" if licence else ""
    return f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n{said}"


class Shop:
    """A folder of archives that is the only package index there is, and an index that asks it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "shop"
        self.folder.mkdir()
        self.cache = folder / "cache"
        self.index = foreign.Index(self.cache)

    def wheel(self, name: str, version: str, files: dict[str, Any], licence: str = "Apache-2.0", tag: str = "py3-none-any") -> None:  # fmt: skip
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            told = {f"{name}-{version}.dist-info/METADATA": metadata(name, version, licence)}
            for path, text in {**told, **files}.items():
                archive.writestr(path, text)
        (self.folder / f"{name}-{version}-{tag}.whl").write_bytes(out.getvalue())

    def sdist(self, name: str, version: str, files: dict[str, str], licence: str = "MIT") -> None:
        with tarfile.open(self.folder / f"{name}-{version}.tar.gz", mode="w:gz") as archive:
            for path, text in {**files, "PKG-INFO": metadata(name, version, licence)}.items():
                info = tarfile.TarInfo(f"{name}-{version}/{path}")
                info.size = len(text.encode())
                archive.addfile(info, io.BytesIO(text.encode()))

    def cut(self, files: dict[str, str], licenses: tuple[str, ...] = ("MIT",)) -> dict[str, Definition | Dropped]:
        """Definitions of a repository, and what was dropped of it, by symbol."""
        step = mine.cut_step(inline=True)
        found = mine._cut(repository(files, licenses), 1 << 30, 0, mine.Meter(), self.index)
        assert step.parameters["inline"]
        return {f.symbol if isinstance(f, Definition) else f.name.split(":")[-1]: f for f in found}


def repository(files: dict[str, str], licenses: tuple[str, ...] = ("MIT",)) -> list[SourceFile]:
    return [SourceFile(Origin("git", "a/net", "0" * 40, p, licenses), text) for p, text in files.items()]


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    made = Shop(tmp_path)
    for name, value in {"CONFIG_FILE": "/dev/null", "INDEX_URL": (tmp_path / "empty").as_uri(),
                        "EXTRA_INDEX_URL": "", "FIND_LINKS": made.folder.as_uri()}.items():  # fmt: skip
        monkeypatch.setenv(f"PIP_{name}", value)
    return made


def definition(found: Any) -> Definition:
    assert isinstance(found, Definition), found
    return found


def test_what_a_class_needs_of_an_absent_package_becomes_part_of_its_task(shop: Shop) -> None:
    shop.wheel("gates", "1.2", GATES)
    net = definition(shop.cut({"net.py": NET})["Net"])
    assert "class Gate(nn.Module)" in net.source
    assert "def scale(x)" in net.source
    assert net.lacks == ()
    (inlined,) = net.origin.inlined
    assert inlined.package == "gates==1.2"
    assert inlined.revision.startswith("1.2 sha256:")
    assert inlined.licenses == ("Apache-2.0",)
    assert net.origin.licenses == ("Apache-2.0", "MIT")
    (task,) = mine.step().function([net])
    assert isinstance(task, Task)
    assert task.origin == net.origin
    assert "with parts of gates==1.2 (Apache-2.0)" in task.source


def test_without_the_option_or_the_package_the_reason_stays(shop: Shop) -> None:
    assert definition(next(iter(mine.cut_step().function(repository({"net.py": NET}))))).lacks == ("gates.soft.Gate",)
    net = definition(shop.cut({"net.py": NET})["Net"])
    assert (net.lacks, net.origin.inlined, net.origin.licenses) == (("gates.soft.Gate",), (), ("MIT",))
    (lost,) = mine.step().function([net])
    assert isinstance(lost, Dropped)
    assert lost.reason == "needs a package that is absent"


def test_a_stated_requirement_chooses_the_version_and_is_kept(shop: Shop) -> None:
    shop.wheel("gates", "1.2", GATES)
    shop.wheel("gates", "2.0", {**GATES, "gates/base.py": "def scale(x):\n    return x * 3\n"})
    newest = definition(shop.cut({"net.py": NET})["Net"])
    assert newest.origin.inlined[0].package == "gates==2.0"
    pinned = {"net.py": NET, "requirements.txt": "torch\ngates==1.2  # newer ones differ\n"}
    assert definition(shop.cut(pinned)["Net"]).origin.inlined[0].package == "gates==1.2"
    for file in shop.folder.iterdir():
        file.unlink()
    again = shop.cut({"net.py": NET})["Net"]
    assert again == newest


def test_source_distributions_of_other_layouts_and_names(shop: Shop) -> None:
    shop.sdist("taming-transformers", "0.1", {"src/taming/__init__.py": "", "src/taming/soft.py": GATE,
                                              "src/taming/base.py": GATES["gates/base.py"], "tests/taming.py": ""})  # fmt: skip
    net = definition(shop.cut({"net.py": NET.replace("gates", "taming")})["Net"])
    assert net.origin.inlined[0].package == "taming-transformers==0.1"
    assert net.origin.licenses == ("MIT",)
    assert "class Gate" in net.source


def test_a_compiled_package_stays_absent_unless_it_holds_the_source(shop: Shop) -> None:
    shop.wheel("gates", "1.0", {"gates/__init__.py": "from .soft import Gate\n", "gates/soft.cpython-311.so": b"\x7fELF"},
               tag="cp311-cp311-manylinux_2_28_x86_64")  # fmt: skip
    assert definition(shop.cut({"net.py": NET})["Net"]).lacks == ("gates.soft.Gate",)
    shop.wheel("gates", "1.1", {**GATES, "gates/_c.so": b"\x7fELF"}, tag="cp36-cp36m-win_amd64")
    fresh = foreign.Index(shop.folder.parent / "other")
    shop.index = fresh
    assert definition(shop.cut({"net.py": NET})["Net"]).origin.inlined[0].package == "gates==1.1"


def test_packages_of_packages_are_fetched_and_roots_see_nothing_of_the_repository(shop: Shop) -> None:
    shop.wheel("gates", "1.0", {"gates/__init__.py": "", "gates/soft.py": GATE.replace(".base", "net.scales")})
    files = {"net/__init__.py": "", "net/model.py": NET, "net/scales.py": "def scale(x):\n    return x * 7\n"}
    circle = definition(shop.cut(files)["Net"])
    assert "x * 7" not in circle.source
    shop.wheel("net", "0.9", {"net/__init__.py": "", "net/scales.py": "from gates.soft import Gate\nscale = abs\n"}, "")
    shop.index = foreign.Index(shop.folder.parent / "other")
    net = definition(shop.cut(files)["Net"])
    assert "scale = abs" in net.source
    assert [i.package for i in net.origin.inlined] == ["gates==1.0", "net==0.9"]
    assert net.origin.inlined[1].licenses == (foreign.UNKNOWN,)


def test_names_that_both_define_are_kept_apart(shop: Shop) -> None:
    shop.wheel("gates", "1.2", GATES)
    text = NET.replace("return self.gate(x) + x", "return scale(self.gate(x)) + Gate_2(x)") + (
        "\n\ndef scale(x):\n    return x - 1\n\n\ndef Gate_2(x):\n    return x\n"
    )
    source = definition(shop.cut({"net.py": text})["Net"]).source
    namespace: dict[str, Any] = {}
    exec(compile(source, "cut", "exec"), namespace)
    assert source.count("def scale") == 2
    assert namespace["Net"](8)(namespace["torch"].ones(2, 8)).shape == (2, 8)


def test_replacements_and_own_modules_go_before(shop: Shop) -> None:
    layers = HEAD + "class DropPath(nn.Module):\n    foreign = True\n\n\nclass Late(nn.Module):\n" \
        "    def forward(self, x):\n        return x * 5\n"  # fmt: skip
    shop.wheel("timm", "9.0", {"timm/__init__.py": "", "timm/layers/__init__.py": "from .drop import *\n",
                               "timm/layers/drop.py": layers})  # fmt: skip
    text = HEAD + "from timm.layers import DropPath, Late\nimport timm\n\n\nclass Net(nn.Module):\n    def __init__(self):\n" \
        "        super().__init__()\n        self.drop = DropPath(0.1)\n        self.late = Late()\n" \
        "        self.again = timm.layers.drop.Late()\n\n    def forward(self, x):\n" \
        "        return self.drop(self.late(x)) + self.again(x)\n"  # fmt: skip
    source = definition(shop.cut({"net.py": text})["Net"]).source
    assert "foreign = True" not in source
    assert source.count("class Late") == 1
    own = {"net.py": text, "timm/layers.py": HEAD + "class DropPath(nn.Module):\n    mine = True\n"}
    assert "mine = True" in definition(shop.cut(own)["Net"]).source


def test_a_class_whose_base_is_of_an_absent_package_becomes_a_candidate(shop: Shop) -> None:
    shop.wheel("gates", "1.2", GATES)
    text = (
        HEAD
        + "from gates.soft import Gate\n\n\nclass Wide(Gate):\n    def forward(self, x):\n        return self.line(x) * 4\n"
    )
    assert "class Wide(Gate)" in definition(shop.cut({"net.py": text})["Wide"]).source


def test_huge_and_hostile_archives_provide_nothing(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign, "MAX_ARCHIVE", 4096)
    shop.wheel("gates", "1.2", {**GATES, "gates/data.bin": bytes(range(256)) * 64, "gates/more.bin": b"".join(
        (i * i % 65521).to_bytes(2, "big") for i in range(9000))})  # fmt: skip
    assert definition(shop.cut({"net.py": NET})["Net"]).lacks
    bombs = Roots([("gates-1.0-py3-none-any.whl", wheel({"gates/soft.py": b"#" * (MAX_FILE + 1), "gates/__init__.py": b""}), "gates"),
                   ("a-1.0-py3-none-any.whl", b"PK no archive", "a"), ("no name", b"", "b"),
                   ("c-1.0-py3-none-any.whl", wheel({"../c/__init__.py": b"x = 1", "/c/d.py": b""}), "c")])  # fmt: skip
    assert bombs.bases == ["_roots/gates==1.0"]
    assert bombs["_roots/gates==1.0/gates/soft.py"] == ""
    package = Package({"net.py": NET}, roots=bombs)
    assert package.lookup("net.py", "Gate") == Missing("gates.soft.Gate", "gates")


def test_only_files_that_are_needed_are_unpacked() -> None:
    files = {f"gates/other{i}.py": f"x{i} = 1\n".encode() for i in range(50)}
    init = "".join(f"from .other{i} import *\n" for i in range(50)) + "from .soft import Gate\n"
    data = wheel({**files, "gates/__init__.py": init.encode(), "gates/soft.py": GATE.encode()})
    package = Package({"net.py": NET}, roots=Roots([("gates-1.0-py3-none-any.whl", data, "gates")]))
    assert package.lookup("net.py", "Gate") == Here("_roots/gates==1.0/gates/soft.py", "Gate")
    assert sorted(package._files) == ["_roots/gates==1.0/gates/soft.py", "net.py"]


def test_an_index_out_of_reach_is_one_line_and_mining_goes_on(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/simple")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    found = shop.cut({"net.py": NET + "\n\nfrom ungates import other\nclass More(nn.Module):\n    def forward(self, x):\n"
                      "        return other(x)\n"})  # fmt: skip
    assert definition(found["Net"]).lacks == ("gates.soft.Gate",)
    assert [r.message.count("\n") for r in caplog.records] == [0]
    assert "are not fetched" in caplog.text
    troubled = found[""]
    assert isinstance(troubled, Dropped)
    assert troubled.reason == mine.NOT_FETCHED


def test_packages_that_are_of_no_use_are_not_asked_for() -> None:
    files = {
        "requirements.txt": "gates>=1,<2 ; python_version>'3'\n-r other.txt\ngit+https://x/y\nmmcv_full==1.3.0\n",
        "sub/requirements-dev.txt": "gates==1.5\n",
        "setup.py": "setup(install_requires=['utils==3.1', 'x y'], packages=find_packages(exclude=['strangers']))",
        "pyproject.toml": "[project]\ndependencies = ['inner[all]==4']\n", "broken/pyproject.toml": "[[",
        "setup.cfg": "[options]\ninstall_requires =\n  lone>2\n",
        "environment.yml": "dependencies:\n  - numpy\n  - art=1.13=py3_1\n  - pip:\n    - 'far==0.6'\n  - name: 3\n",
    }  # fmt: skip
    known = stated(files)
    assert known == {"gates": "==1.5", "mmcv-full": "==1.3.0", "utils": "==3.1", "inner": "==4", "lone": ">2",
                     "art": "==1.13", "far": "==0.6"}  # fmt: skip
    assert wanted("gates", known) == "gates==1.5"
    assert wanted("mmcv", known) == "mmcv-full==1.3.0"
    assert wanted("mmcv", {}) == "mmcv"
    assert wanted("utils", known) == "utils==3.1"
    assert [wanted(m, {}) for m in ("utils", "cv2", "apex", "_private")] == ["", "", "", ""]
    for text in ("a @ http://x/y.whl", "a[b]", "a; python_version > '3'", "no name"):
        with pytest.raises(SourceError):
            foreign._checked(text)


def test_no_more_is_asked_for_than_is_decent(shop: Shop) -> None:
    names = [f"absent{i}" for i in range(40)]
    text = HEAD + "".join(f"import {n}\n" for n in names) + "class Net(nn.Module):\n    def forward(self, x):\n        " \
        + "; ".join(f"x = {n}.f(x)" for n in names) + "\n        return x\n"  # fmt: skip
    asked: list[str] = []
    shop.index.get = lambda requirement: asked.append(requirement)  # type: ignore[method-assign]
    shop.cut({"net.py": text})
    assert len(asked) == MAX_ASKED * mine.MAX_ASKING


def test_every_licence_counts_when_rows_are_filtered_and_published(tmp_path: Path) -> None:
    taken = (Inlined("gates==1.2", "1.2 sha256:0", ("GPL-3.0-only",), "https://pypi.org/project/gates/1.2/"),)
    pair = relocated(factories.pairs()[0], ("GPL-3.0-only", "MIT"), taken)
    assert licence.check(pair) == "licence not permissive: GPL-3.0-only"
    assert licence.check(relocated(pair, ("MIT", foreign.UNKNOWN), taken)) is not None
    assert rows.pair(rows.table([rows.row(pair)]).to_pylist()[0]) == pair
    lines = [(x["repository"], x["license"], x["pairs"]) for x in publish.license_manifest([pair])]
    assert ("gates", "GPL-3.0-only", 1) in lines
    older = rows.row(pair)
    del older["inlined"]
    assert rows.pair(older).task.origin.inlined == ()


def relocated(pair: Pair, licenses: tuple[str, ...], inlined: tuple[Inlined, ...]) -> Pair:
    from dataclasses import replace

    task = replace(pair.task, origin=replace(pair.task.origin, licenses=licenses, inlined=inlined))
    candidate: Candidate = replace(pair.candidate, task=task)
    return Pair(candidate, pair.receipt)


def test_explained_as_it_is_mined(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.wheel("gates", "1.2", GATES)
    monkeypatch.setenv("KDATA_CACHE", str(shop.cache))
    told = "\n".join(explain(repository({"net.py": NET}), "Net", inline=True))
    assert "with parts of: gates==1.2" in told
    assert "a task" in told


def test_a_repository_without_a_licence_stays_without() -> None:
    fetched = foreign.Fetched(foreign.Index(Path("/nowhere")))
    origin = fetched.origin(Origin("git", "a/net", "0", "net.py"), [["gates==1.2", "gates/soft.py"]])
    assert origin.licenses == ()
    assert origin.inlined[0].licenses == (foreign.UNKNOWN,)


Archive = Callable[[Any, int], tuple[str, bytes]]


def test_of_one_version_the_pure_wheel_is_taken(shop: Shop) -> None:
    for tag in ("cp311-cp311-manylinux_2_28_x86_64", "py3-none-any"):
        shop.wheel("gates", "1.2", GATES, tag=tag)
    shop.sdist("gates", "1.2", {"gates/__init__.py": ""})
    shop.wheel("gates", "2.0rc1", GATES)
    shop.wheel("early", "2.0rc1", GATES)
    fetch: Archive = pypi.archive
    assert fetch(foreign._checked("gates"), 1 << 20)[0] == "gates-1.2-py3-none-any.whl"
    assert fetch(foreign._checked("early"), 1 << 20)[0] == "early-2.0rc1-py3-none-any.whl"


def test_imports_that_may_fail_leave_their_own_definitions(shop: Shop) -> None:
    shop.wheel("gates", "1.2", GATES)
    text = HEAD + "try:\n    from gates.soft import Gate\nexcept ImportError:\n    pass\n\n\nclass Gate(nn.Module):\n" \
        "    mine = True\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n" \
        "        self.gate = Gate()\n\n    def forward(self, x):\n        return self.gate(x)\n"  # fmt: skip
    assert "mine = True" in definition(shop.cut({"net.py": text, "docs/gates/readme.py": ""})["Net"]).source


def test_what_needs_too_much_of_its_package_stays_absent(shop: Shop) -> None:
    deep = "".join(f"def f{i}(x):\n    return f{i + 1}(x)\n\n\n" for i in range(MAX_FOREIGN + 1)) + "f0 = f0\n"
    shop.wheel(
        "gates",
        "1.2",
        {**GATES, "gates/base.py": f"{deep}\ndef f{MAX_FOREIGN + 1}(x):\n    return x\n\n\nscale = f0\n"},
    )
    net = definition(shop.cut({"net.py": NET})["Net"])
    assert net.lacks == ("gates==1.2.Gate",)
    assert net.origin.inlined == ()


def test_what_an_inlined_package_needs_too_much_of_another_for_stays_absent(shop: Shop) -> None:
    deep = "".join(f"def f{i}(x):\n    return f{i + 1}(x)\n\n\n" for i in range(MAX_FOREIGN + 1))
    shop.wheel("depths", "3", {"depths.py": f"{deep}def f{MAX_FOREIGN + 1}(x):\n    return x\n"})
    base = "from depths import f0\n\n\ndef scale(x, deep=False):\n    return f0(x) if deep else x * 2\n"
    shop.wheel("gates", "1.2", {**GATES, "gates/base.py": base})
    net = definition(shop.cut({"net.py": NET})["Net"])
    assert "class Gate(nn.Module)" in net.source
    assert net.lacks == ("depths==3.f0",)


def test_a_circle_of_changes_runs() -> None:
    text = HEAD + "class Made:\n    pass\n\n\ndef make():\n    return Made()\n\n\nMade.make = staticmethod(make)\n\n\n" \
        "class Net(nn.Module):\n    def forward(self, x):\n        return Made.make() and x\n"  # fmt: skip
    source = write_cut(Slicer(Package({"net.py": text})), "net.py", "Net").source
    namespace: dict[str, Any] = {}
    exec(compile(source, "cut", "exec"), namespace)
    assert isinstance(namespace["Made"].make(), namespace["Made"])


def test_what_is_imported_for_hints_may_be_what_a_package_imports_late() -> None:
    init = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .soft import Gate\nelse:\n    import sys\n"
    data = wheel({"gates/__init__.py": init.encode(), "gates/soft.py": GATE.encode()})
    package = Package(
        {"n.py": "from gates import Gate\n"}, roots=Roots([("gates-1.0-py3-none-any.whl", data, "gates")])
    )
    assert package.lookup("n.py", "Gate") == Here("_roots/gates==1.0/gates/soft.py", "Gate")


def test_a_run_asks_the_index_so_often_and_no_more(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign, "MAX_LOOKUPS", 1)
    shop.wheel("gates", "1.2", GATES)
    assert shop.index.get("gates") is not None
    assert shop.index.get("gates==1.2") is None
    assert "1 were looked up" in shop.index.trouble
    assert shop.index.get("gates") is not None


def test_an_archive_that_is_not_what_the_index_says_is_refused(shop: Shop) -> None:
    shop.wheel("gates", "1.2", GATES)
    (wheel,) = shop.folder.iterdir()
    page = shop.folder / "index.html"
    for digest, fits in ((hashlib.sha256(wheel.read_bytes()).hexdigest(), True), ("0" * 64, False)):
        page.write_text(f'<a href="../{wheel.name}#sha256={digest}">{wheel.name}</a>')
        if wheel.parent == shop.folder:
            wheel = wheel.rename(shop.folder.parent / wheel.name)
        assert (foreign.Index(shop.folder.parent / digest).get("gates") is not None) is fits

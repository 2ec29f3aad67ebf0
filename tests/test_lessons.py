"""Mining: what failed for want of arguments or inputs learns them from tasks that are made of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from torch import nn

from kdata.record import Definition, Dropped, Origin, SourceFile, Task
from kdata.sandbox.worker import Answer, JobError, Worker
from sources import mine, probe, taught
from sources.cut.cutting import cut_package
from sources.explain import explain
from sources.infer.constructor.configs import CONFIG, Config
from sources.infer.inputs import Many, Tensor
from sources.infer.search import Solution
from sources.isolation import isolated
from sources.lessons import WANTING
from sources.watch.capture import NamespaceVocabulary, arguments_of, decoded, encoded, install, spec_of, spelled

HEAD = "import torch\nimport torch.nn as nn\n"
# No search finds the one width that will do; who uses the class calls its forward, which shows in no other way.
BLOCK = """

class Picky(nn.Module):
    def __init__(self, key):
        super().__init__()
        self.scale = nn.Parameter(torch.full(({'seventeen': 1}[key],), 0.5))

    def forward(self, x):
        if x.shape[-1] * 7919 % 1009 != 269:
            raise ValueError("no")
        return x.cumsum(-1) * self.scale
"""
NET = """

class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.into, self.inner = nn.Linear(width, 51), Picky('seventeen')

    def forward(self, x):
        return self.inner.forward(self.into(x))
"""


def files(texts: dict[str, str]) -> list[SourceFile]:
    return [SourceFile(Origin("local", "pkg", "1", path, ("MIT",)), text) for path, text in texts.items()]


def mined(texts: dict[str, str], limit: int | None = None) -> tuple[dict[str, Task], dict[str, str]]:
    found = [d for d in mine.cut_step().function(files(texts)) if isinstance(d, Definition)]
    made = list(mine.step(limit).function(found))
    assert len(made) == len(found)
    dropped = {d.name.split(":")[-1]: d.reason for d in made if isinstance(d, Dropped)}
    return {t.symbol: t for t in made if isinstance(t, Task)}, dropped


def test_a_block_learns_its_arguments_and_inputs_from_the_task_that_is_made_of_it() -> None:
    tasks, _ = mined({"net.py": HEAD + BLOCK + NET})
    assert set(tasks) == {"Net", "Picky"}
    assert tasks["Picky"].inputs[0].shape[-1] == 51
    assert not tasks["Picky"].inputs[0].free[-1]
    assert "class Net" not in tasks["Picky"].source
    alone, dropped = mined({"net.py": HEAD + BLOCK})
    assert not alone
    assert dropped["Picky"] in WANTING


ALIKE = """

class Plain(nn.Module):
    def __init__(self, key, width=51):
        super().__init__()
        self.out = nn.Linear(width, 4)

    def forward(self, x, marks):
        return self.out(x) + self.out(marks)


class Alike(nn.Module):
    def __init__(self, key, width=51):
        super().__init__()
        self.scale = nn.Parameter(torch.full((1,), 0.5))

    def forward(self, x, marks):
        if x.shape[-1] * 7919 % 1009 != 269:
            raise ValueError("no")
        return x.cumsum(-1) * self.scale - marks
"""


def test_a_class_learns_from_one_that_takes_the_same() -> None:
    tasks, _ = mined({"net.py": HEAD + ALIKE})
    assert set(tasks) == {"Plain", "Alike"}
    other, dropped = mined({"net.py": HEAD + ALIKE.replace("x, marks", "x, y", 1).replace("out(marks", "out(y")})
    assert set(other) == {"Plain"}
    assert dropped["Alike"] in WANTING


def test_what_turns_out_equal_counts_once() -> None:
    twin = {"reason": "", "source": "x = 1\n", "name": "Net", "inputs": []}
    worker = Scripted(lambda cut: twin | {"source": f"# {cut['name']}\nx = 1\n"})
    outcomes = list(mine.tried(cast("Worker", worker), definitions(["A", "B", "C"]), 2, 60, mine.Meter()))
    assert [o["reason"] for _, o in outcomes] == ["", "duplicate", "duplicate"]


def test_it_is_explained_as_it_is_mined() -> None:
    told = list(explain(files({"net.py": HEAD + BLOCK + NET}), "Picky"))
    assert "  arguments and inputs: learnt from Net, a task too" in told


def test_a_limit_that_is_reached_ends_the_work() -> None:
    tasks, dropped = mined({"net.py": HEAD + BLOCK + NET}, limit=1)
    assert set(tasks) == {"Net"}
    assert dropped["Picky"] in (*WANTING, "limit reached")


def test_namesakes_are_told_apart(tmp_path: Path) -> None:
    other = HEAD + "class Picky(nn.Module):\n    def forward(self, x):\n        return x.relu()\n"
    net = HEAD + (
        "from a import Picky\nimport b\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.one, self.two = Picky('seventeen'), b.Picky()\n"
        "    def forward(self, x):\n        return self.two(self.one(x))\n"
    )
    texts = {"a.py": HEAD + BLOCK, "b.py": other, "net.py": net, "copy.py": HEAD + BLOCK}
    work = {"files": texts, "replacements": {}, "cut_points": {}, "part": 0, "parts": 1, "seed": 0, "enough": 9}
    answer = isolated(lambda: {"reason": "", **cut_package(work, tmp_path)}, 30)
    holds = {c["symbol"]: c["told"]["holds"] for c in answer["cuts"]}["Net"]
    source = next(c["source"] for c in answer["cuts"] if c["symbol"] == "Net")
    assert set(holds) == {"a.py:Picky", "b.py:Picky"}
    assert len(set(holds.values())) == 2
    assert "relu" in source.split(f"class {holds['b.py:Picky']}(")[1].split("class ")[0]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    probe.warm()
    monkeypatch.setattr(taught, "INFER_SECONDS", 1)


def teacher(source: str, name: str = "Net") -> dict[str, Any]:
    answer = encoded(Solution({}, (Tensor((4, 8)),)))
    return {"source": source, "name": name, "symbol": name, "wanted": "Picky", "answer": answer}


@pytest.mark.parametrize("ending", ["while True: pass", "__import__('os')._exit(1)", "raise BaseException"])
def test_a_teacher_that_hangs_or_dies_is_left(ending: str, quick: None, tmp_path: Path) -> None:
    bad = HEAD + BLOCK + NET.replace("return self", f"{ending}\n        return self")
    cut = {"source": HEAD + BLOCK, "name": "Picky", "lacks": [], "told": {"sites": [], "defaults": {}}, "header": []}
    work = {"operators": 60, "enough": 2}
    lost = taught.attempt({"cuts": [cut | {"teachers": [teacher(bad)]}], **work}, tmp_path)
    assert [o["reason"] for o in lost] in (["not taught"], ["inputs not inferred"])
    good = taught.attempt({"cuts": [cut | {"teachers": [teacher(bad), teacher(HEAD + BLOCK + NET)]}], **work}, tmp_path)
    assert [(o["reason"], o.get("taught")) for o in good] == [("", "Net")]


class Scripted:
    """A worker that answers first tries from a script, and loses every second try."""

    def __init__(self, answer: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        self.answer, self.lost = answer, 0

    def call(self, job: str, payload: dict[str, Any], _: Any) -> Any:
        if job == "sources.taught:attempt":
            self.lost += 1
            raise JobError("crash", "gone")
        return Answer([self.answer(c) for c in payload["cuts"]], (), 1.0, {})


def definitions(names: Sequence[str]) -> list[Definition]:
    origin = Origin("local", "pkg", "1", "net.py", ("MIT",))
    holds = '{"holds": {"net.py:Picky": "Picky", "net.py:Other": "Other"}}'
    return [Definition(origin, n, n, f"class {n}: pass\n", holds if n == "Net" else "{}") for n in names]


def test_a_lost_second_try_loses_no_outcome() -> None:
    def answer(cut: dict[str, Any]) -> dict[str, Any]:
        if cut["name"] != "Net":
            return {"reason": WANTING[0], "detail": cut["name"]}
        return {"reason": "", "source": "x = 1\n", "name": "Net", "inputs": [], "solved": {"source": ""}}

    worker = Scripted(answer)
    found = definitions(["Picky", "Net", "Other"])
    outcomes = list(mine.tried(cast("Worker", worker), found, None, 60, mine.Meter()))
    assert sorted((n, o["reason"]) for n, o in outcomes) == [(0, WANTING[0]), (1, ""), (2, WANTING[0])]
    assert worker.lost == 3  # both, and each by itself


def test_definitions_of_a_file_are_mined_in_one_part() -> None:
    def of(number: int) -> Definition:
        return Definition(Origin("local", "pkg", "1", f"{number % 2}/{number % 4}.py"), f"N{number}", "N", "")

    found = [of(n) for n in range(16)]
    parts = [mine.share(found, part, 4) for part in range(4)]
    assert sorted(d.symbol for p in parts for d in p) == sorted(d.symbol for d in found)
    assert [len({d.origin.path for d in p}) for p in parts] == [1, 1, 1, 1]
    assert [d.symbol for d in parts[0]] == ["N0", "N4", "N8", "N12"]


class Inner(nn.Module):
    def __init__(self, config: Any, table: torch.Tensor) -> None:
        super().__init__()
        self.width, self.table = config.width, table

    def forward(self, x: torch.Tensor) -> Any:
        return x + self.width


class Outer(Inner):
    def forward(self, x: torch.Tensor) -> Any:
        return super().forward(x[:, :1])


def test_configurations_tables_and_direct_calls_are_seen() -> None:
    def seen() -> dict[str, Any]:
        found: dict[str, Solution] = {}
        install({Inner: "Inner", Outer: "Outer"}, {}, found, forwards=True)
        config = Config("args", {"args": CONFIG, "args.width": "3", "other": "1"}, {}, {})
        for kind in (Inner, Outer):
            kind(config, torch.rand(9, 9)).forward(torch.randn(4, 6))
        return {"reason": "", **{name: encoded(s) for name, s in found.items()}}

    found = isolated(seen, 5)  # in a fork: classes that construct otherwise stay so
    assert not found["reason"], found
    assert found["Inner"][0] == {"config": CONFIG, "config.width": "3", "table": "torch.rand((9, 9))"}
    assert decoded(found["Outer"]).specs == (Tensor((4, 6)),)  # not what its base was given


def test_a_function_shows_what_it_calls_by_forward(quick: None, tmp_path: Path) -> None:
    use = "\n\ndef use():\n    return Picky('seventeen').forward(torch.randn(2, 51))\n"
    user = {"source": HEAD + BLOCK + use, "name": "use", "wanted": "Picky"}
    assert decoded(probe._seen(user, tmp_path)["Picky"]).specs == (Tensor((2, 51)),)


def test_values_are_spelled_as_what_they_are() -> None:
    words = NamespaceVocabulary({"Linear": nn.Linear})
    assert spelled(nn.Linear, words) == "nn.Linear"
    for value in (torch.tensor([1, 2]), torch.eye(9), torch.full((40,), 3.0), torch.tensor(2.5).numpy()):
        again = eval(spelled(value, words), {"torch": torch})
        assert torch.equal(torch.as_tensor(again), torch.as_tensor(value))
        assert type(again) is type(value)
    drawn = eval(spelled(torch.randint(3, 7, (50,)), words), {"torch": torch})
    assert drawn.dtype == torch.int64
    assert 3 <= int(drawn.min()) <= int(drawn.max()) < 7
    assert spec_of(torch.rand(4, 8)) == Tensor((4, 8), "unit")
    assert spec_of({"image": torch.randn(4, 8)}) == Many((Tensor((4, 8)),), "dict", ("image",))
    assert arguments_of(nn.Identity(), words) == {}

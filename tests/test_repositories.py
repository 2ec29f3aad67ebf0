"""Cutting many repositories at once: none sees the files of another."""

from __future__ import annotations

from kdata.record import Definition, Dropped, Origin, SourceFile
from sources import mine, repositories

LAYERS = "import torch.nn as nn\n\n\nclass Scale(nn.Module):\n    def forward(self, x):\n        return x * {factor}\n"
MODEL = """import torch.nn as nn
from layers import Scale


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = Scale()

    def forward(self, x):
        return self.scale(x) + {offset}
"""


def files(name: str, factor: int, offset: int) -> list[SourceFile]:
    texts = {"layers.py": LAYERS.format(factor=factor), "model.py": MODEL.format(offset=offset)}
    return [SourceFile(Origin("stack-v2", name, "1", path), text) for path, text in texts.items()]


def cut(found: list[SourceFile], limit: int | None = None, seed: int = 0) -> list[Definition | Dropped]:
    return list(repositories.cut_step(limit, seed).function(found))


def test_definitions_take_what_they_need_from_their_own_repository() -> None:
    found = [d for d in cut([*files("a/a", 2, 3), *files("b/b", 5, 7)]) if isinstance(d, Definition)]
    texts = {(d.origin.repository, d.name): d.source for d in found}
    assert set(texts) == {("a/a", "Net"), ("a/a", "Scale"), ("b/b", "Net"), ("b/b", "Scale")}
    assert "x * 2" in texts["a/a", "Net"] and "x * 5" not in texts["a/a", "Net"]
    assert "x * 5" in texts["b/b", "Net"] and "x * 2" not in texts["b/b", "Net"]


def test_copies_count_once_and_the_limit_ends_it() -> None:
    many = [f for i in range(4) for f in files(f"a/{i}", i // 2, 1)]
    reasons = [d.reason for d in cut(many) if isinstance(d, Dropped)]
    assert reasons.count("duplicate") == 4
    limited = cut(many, 1)
    assert sum(isinstance(d, Definition) for d in limited) <= mine.CUTS_PER_TASK + 1
    assert [d.reason for d in limited if isinstance(d, Dropped)].count("limit reached") >= 1
    assert limited == cut(list(reversed(many)), 1)
    assert limited != cut(many, 1, seed=1)


def test_one_repository_is_cut_as_ever() -> None:
    one = files("a/a", 2, 3)
    assert cut(one) == list(mine.cut_step(None, 0).function(one))
    assert repositories.cut_step(3).output(["x"]) == mine.cut_step(3).output(["x"])

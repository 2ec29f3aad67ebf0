"""Mining: a long program is cut down to what some runs of it reach."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
import torch

from kdata.task import execute
from sources import mine, probe
from sources.cut.unreached import without_unreached
from sources.watch.reach import shortened

UGLY = '''
from __future__ import annotations
import math
import torch
import functools, itertools
from torch import nn

TABLE = {
    "a": 1,
}
USED = 2


class Never(dict):
    """Never made."""

    def __getitem__(self, key):
        return super().__getitem__(key)

    def helper(self):
        return TABLE


def decorated(f):
    @functools.wraps(f)
    def inner(*a):
        if not a:
            # nothing given
            raise ValueError
        return f(*a)
    return inner


def unneeded(x):
    return math.sqrt(x)


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * USED

    @staticmethod
    def backward(ctx, g):
        return g * USED


class Net(nn.Module):
    def __init__(self, dim, kind="plain", extra=None):
        super().__init__()
        self.kind, self.extra = kind, extra
        if kind == "plain":
            self.layer = nn.Linear(dim, dim)
        elif kind == "deep":  # many of them
            self.layer = nn.Sequential(*[nn.Linear(dim, dim) for _ in range(3)])
        else:
            raise KeyError(kind)

    @property
    def wide(self):
        return unneeded(self.layer.weight.shape[0])

    def __repr__(self):
        return f"Net {self.kind}"

    def chunks(self, x):
        if self.extra is not None:
            yield self.extra
            return
        yield x

    @decorated
    def twice(self, x): return Twice.apply(x) if x.requires_grad else x * USED

    def forward(self, x, mask=None):
        if x.shape[1] % 2:
            x = torch.cat([x, x[:, -1:]], 1)
        try:
            x = self.layer(x)
        except TypeError:
            x = unneeded(x)
            return x
        for part in self.chunks(x):
            x = self.twice(part)
        if mask is None: return x
        if isinstance(mask, Never):
            mask = mask.helper()
        return x * mask


batch = 4
length = 6
dim = 8


def get_inputs():
    return [torch.randn(batch, length, dim)]


def get_init_inputs():
    return [dim]
'''


def test_what_no_run_reaches_is_left_out_and_all_else_stays() -> None:
    short = shortened(UGLY, "Net", {})["source"]
    names = {n.name for n in ast.walk(ast.parse(short)) if isinstance(n, ast.ClassDef | ast.FunctionDef)}
    assert names == {"decorated", "inner", "Twice", "Net", "__init__", "__repr__", "forward", "backward", "chunks",
                     "twice", "get_inputs", "get_init_inputs"}  # fmt: skip
    assert "TABLE" not in short
    assert "import math" not in short
    assert "import functools" in short
    assert short.count("raise NotImplementedError") == 3
    assert "raise ValueError" in short
    program = execute(short, "Net", values={"length": 7})  # an odd one was tried
    assert program.build()(*program.inputs()).shape == (4, 8, 8)
    inputs = [torch.randn(4, 6, 8, requires_grad=True)]
    answers = []
    for text in (UGLY, short):
        torch.manual_seed(0)
        answers.append(execute(text, "Net").build()(*inputs))
    assert torch.equal(*answers)
    answers[1].sum().backward()
    with pytest.raises(NotImplementedError):
        execute(short, "Net").build()(*inputs, torch.ones(1))


def test_what_decides_how_a_function_is_read_stays() -> None:
    text = "def f(x):\n    if x:\n        return 1\n    yield 2\n\n\ndef g(x):\n    if x:\n        y = 2\n        return y\n"
    short = without_unreached(text, {1, 2, 3, 7, 8}, ["f", "g"])
    assert list(execute(short + "\n\ndef get_inputs(): ...\n", "f").namespace["f"](1)) == []
    assert "yield 2" in short
    assert short.count("raise NotImplementedError") == 1
    assert "y = 2" not in short


ABSTRACT = """
import abc
from abc import abstractmethod
import torch
from torch import nn


class Base(nn.Module, abc.ABC):
    @abstractmethod
    def shift(self, x):
        \"\"\"Move.\"\"\"

    @abc.abstractmethod
    def mode(self): ...

    @abstractmethod
    def sample(self):
        raise NotImplementedError


class Net(Base):
    def shift(self, x):
        return x + 1

    def mode(self):
        return torch.zeros(2)

    def sample(self):
        return torch.ones(2)

    def forward(self, x):
        return self.shift(x) * 2


def get_inputs():
    return [torch.randn(3, 4)]


def get_init_inputs():
    return []
"""


def test_what_is_abstract_goes_with_what_no_run_reaches_of_it() -> None:
    short = shortened(ABSTRACT, "Net", {})["source"]
    names = [n.name for n in ast.walk(ast.parse(short)) if isinstance(n, ast.FunctionDef)]
    assert sorted(names) == ["forward", "get_init_inputs", "get_inputs", "shift", "shift"]
    assert "abc.abstractmethod" not in short and "@abstractmethod" in short


STEPPED = """import torch
from torch import nn

width = 256
stride = 64


class Net(nn.Module):
    def __init__(self, width, stride):
        super().__init__()
        self.stride = stride
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        for _ in range(100_000_000 // self.stride**4):
            x = self.layer(x)
        if self.stride == 1:
            x = self.small(x)
        return x

    def small(self, x):
        return x + 1


def get_inputs():
    return [torch.randn(8, width)]


def get_init_inputs():
    return [width, stride]
"""


def test_a_size_of_one_that_takes_more_than_a_task_may_is_left() -> None:
    short = shortened(STEPPED, "Net", {})["source"]  # a hundred million layers would take a day
    assert "def small" not in short


@pytest.fixture(scope="module", autouse=True)
def _warm() -> None:
    probe.warm()


def _outcome(text: str, tmp_path: Path, operators: int = mine.LARGE) -> dict[str, Any]:
    told: dict[str, Any] = {"sites": [], "defaults": {}}
    return probe.attempt_one({"source": text, "name": "Net", "lacks": [], "told": told}, operators, tmp_path)


@pytest.mark.parametrize("most", [1500, 9000])
def test_a_long_definition_is_a_short_task(most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "LONG", 1000)
    monkeypatch.setattr(probe, "MAX_SOURCE", most)
    line = "            x = torch.nn.functional.conv1d(x, self.weights[x.shape[0]], self.other_{0}[{0}])\n"
    cold = "".join(map(line.format, range(20)))
    text = ("import torch\n\n\nclass Net(torch.nn.Module):\n    def __init__(self, dim, kernels=False):\n"
            "        super().__init__()\n        self.layer, self.kernels = torch.nn.Linear(dim, dim), kernels\n\n"
            "    def forward(self, x):\n        if self.kernels:\n" + cold + "        return self.layer(x).relu()\n")  # fmt: skip
    outcome = _outcome(text, tmp_path)
    assert outcome["reason"] == ""
    assert len(outcome["source"]) < 1000
    assert outcome["inputs"][0]["free"][0] is True


@pytest.mark.parametrize(("most", "reason"), [(1500, "too large"), (9000, "")])
def test_what_stays_long_is_no_task_where_that_is_too_long(
    most: int, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "LONG", 1000)
    monkeypatch.setattr(probe, "MAX_SOURCE", most)
    line = "        x = torch.nn.functional.softplus(x, beta=1.0, threshold=20.0) + 0.000001 * x  # {}\n"
    text = ("import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n"
            + "".join(map(line.format, range(25))) + "        return x\n")  # fmt: skip
    outcome = _outcome(text, tmp_path)
    assert outcome["reason"] == reason
    assert not reason or "of what it reaches" in outcome["detail"]

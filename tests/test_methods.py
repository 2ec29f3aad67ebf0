"""Classes without a forward: by which method they compute, and which of them are none by themselves."""

from __future__ import annotations

import ast

import pytest

from kdata.record import Definition, Dropped, Origin, SourceFile, Task
from sources import mine
from sources.cut.modules import candidates
from sources.text.methods import main_methods, methods, unfinished, unset
from sources.text.symbols import Package

NETS = """import attr
import pytorch_lightning as pl
import torch
import torch.nn as nn
import torch.nn.functional as F
from importlib.util import find_spec
from pytorch_lightning.utilities import rank_zero_only, rank_zero_warn

HAS_GYM = find_spec("gym") is not None


class Codec(nn.Module):
    def __init__(self, dim=8, hidden=16):
        super().__init__()
        self.down, self.up = nn.Linear(dim, hidden), nn.Linear(hidden, dim)

    def reset_parameters(self, x):
        return nn.init.zeros_(x) * 2

    def decode(self, z):
        return self.up(z)

    def encode(self, x, scale=1.0):
        return F.relu(self.down(x)) * scale


class Given(nn.Module):
    def __init__(self, shape=(2, 8)):
        super().__init__()
        self.shape = torch.Size(shape)

    def log_prob(self, x, condition=None, scale=2.0):
        if x.shape[1:] != self.shape:
            raise ValueError("another shape")
        if condition is None:
            raise ValueError("it is given something")
        return scale * (x - condition.reshape(x.shape)).abs().flatten(1).sum(1)


class Base(nn.Module):
    def embed(self, x):
        raise NotImplementedError

    def forward(self, x):
        return self.embed(x) * 2


class Doubled(Base):
    def embed(self, x):
        return torch.tanh(x) + x


class Holder(nn.Module):
    def names(self):
        return list(self._modules)


class Trained(pl.LightningModule):
    def __init__(self, hidden=16, classes=4):
        super().__init__()
        self.save_hyperparameters()
        rank_zero_warn("old")
        self.net = nn.Linear(self.hparams.hidden, self.hparams.classes)

    @rank_zero_only
    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.mse_loss(self.net(x), y)
        self.log("loss", loss)
        return loss


@attr.s(eq=False, repr=False)
class Declared(nn.Module):
    n_in = attr.ib(default=8)
    n_out = attr.ib(default=16, validator=lambda i, a, x: x >= 1)

    def __attrs_post_init__(self):
        super().__init__()
        self.proj = nn.Linear(self.n_in, self.n_out)

    def forward(self, x):
        return self.proj(x)


def use(codec, x):
    return codec.encode(x)
"""


@pytest.fixture(scope="module")
def mined() -> tuple[dict[str, Task], dict[str, str]]:
    origin = Origin("git", "x/nets", "1", "nets.py", ("MIT",))
    cut = list(mine.cut_step().function([SourceFile(origin, NETS)]))
    made = list(mine.step().function([d for d in cut if isinstance(d, Definition)]))
    lost = {d.name.rpartition(":")[2]: d.reason for d in [*cut, *made] if isinstance(d, Dropped)}
    return {t.symbol: t for t in made if isinstance(t, Task)}, lost


def test_classes_without_a_forward_are_called_by_their_main_method(
    mined: tuple[dict[str, Task], dict[str, str]],
) -> None:
    tasks, lost = mined
    assert set(tasks) >= {"Codec", "Doubled", "Trained", "Declared"}
    assert tasks["Codec"].entry_point == "CodecEncode"  # of the two, the one that is called
    assert "called by its method encode" in tasks["Codec"].source
    assert "return self.encode(x)" in tasks["Codec"].source
    assert "def decode" not in tasks["Codec"].source
    assert "return self.training_step(batch, batch_idx)" in tasks["Trained"].source
    assert {"Base": "abstract", "Holder": "no forward"}.items() <= lost.items()


def test_what_a_method_takes_for_none_may_have_to_be_given(mined: tuple[dict[str, Task], dict[str, str]]) -> None:
    source = mined[0]["Given"].source
    assert "def forward(self, x, condition=None):\n        return self.log_prob(x, condition=condition)" in source
    assert len(mined[0]["Given"].inputs) == 2


def known(text: str) -> dict[str, ast.FunctionDef]:
    return methods([n for n in ast.parse(text).body if isinstance(n, ast.ClassDef)])


def test_a_method_that_always_calls_one_that_is_left_open_is_left_open() -> None:
    found = known(
        "class A:\n"
        "    def core(self, x):\n        raise NotImplementedError\n"
        "    def one(self, x):\n        return self.core(x) + 1\n"
        "    def two(self, x):\n        return self.one(x) * self.one(x)\n"
        "    def three(self, x):\n        return self.core(x) if self.a else x * 2\n"
        "    def four(self, x):\n        return self(x) * 2\n"
        "    def circle(self, x):\n        return self.circle(x) * 2\n"
        "    def hook(self, x):\n        pass\n"
    )  # fmt: skip
    assert [n for n in found if unfinished(found, n)] == ["core", "one", "two", "four"]
    assert unfinished(found, "forward")
    assert main_methods(found, {}) == ("three", "circle")
    assert not unfinished(
        known("class A:\n    def encode(self, x):\n        return x\n    forward = encode\n"), "forward"
    )


def test_a_class_that_has_no_forward_and_generates_by_it_is_left_to_subclasses() -> None:
    text = (
        "import torch\nimport torch.nn as nn\n\n\nclass PreTrained(nn.Module):\n    def embeddings(self):\n        return self.line\n"
        "    def step(self, ids):\n        return torch.cat([ids, self(ids)])\n"
        "    def generate(self, ids, longest=9):\n        while len(ids) < longest:\n            ids = self.step(ids)\n"
        "        return ids\n\n\nclass Language(PreTrained):\n    def forward(self, ids):\n        return ids * 2\n"
    )
    found = {c.symbol: (c.refused, tuple(c.methods)) for c in candidates(Package({"a.py": text}))}
    assert found == {"PreTrained": ("abstract", ()), "Language": ("", ())}


def test_a_base_above_two_others_comes_after_both() -> None:
    text = (
        "import torch.nn as nn\n\n\nclass Top(nn.Module):\n    def forward(self, x):\n        raise NotImplementedError\n"
        "\n\nclass Left(Top):\n    pass\n\n\nclass Right(Top):\n    def forward(self, x):\n        return x * 2\n"
        "\n\nclass Both(Left, Right):\n    pass\n"
    )
    found = {c.symbol: c.refused for c in candidates(Package({"a.py": text}))}
    assert found == {"Top": "abstract", "Left": "abstract", "Right": "", "Both": ""}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("class Base(nn.Module):\n    def forward(self, x):\n        return self.encode(x)\n", True),
        ("class Base(nn.Module):\n    def forward(self, x):\n        return self.encode(x) if x else x\n", False),
        ("class Base(nn.Module):\n    def forward(self, x):\n        return self.inner(x)\n"
         "    def inner(self, x):\n        return self.encode(x)\n", True),
        ("class Base(nn.Module):\n    def __init__(self):\n        self.encode = nn.Linear(2, 2)\n"
         "    def forward(self, x):\n        return self.encode(x)\n", False),
        ("class Base(nn.Module):\n    def __init__(self):\n        self.add_module('encode', nn.Linear(2, 2))\n"
         "    def forward(self, x):\n        return self.encode(x)\n", False),
        ("class Base(nn.Module):\n    def __init__(self, parts):\n        self.__dict__.update(parts)\n"
         "    def forward(self, x):\n        return self.encode(x)\n", False),
        ("class Base(nn.LSTM):\n    def forward(self, x):\n        return self.encode(x)\n", False),
        ("class Base(nn.Module):\n    def __getattr__(self, name):\n        return len\n"
         "    def forward(self, x):\n        return self.encode(x)\n", False),
    ],
)  # fmt: skip
def test_what_forward_always_calls_and_nothing_sets_is_left_to_subclasses(text: str, expected: bool) -> None:
    (kind,) = [n for n in ast.parse(text).body if isinstance(n, ast.ClassDef)]
    assert unset([kind], always=True) is expected


def test_what_stands_behind_the_end_of_a_forward_asks_for_nothing() -> None:
    end = "        return x\n        y = self.former(x)\n        return y\n"
    kept = "        if len(x):\n            return x\n        return self.former(x)\n"
    for body, expected in ((end, False), (kept, True)):
        node = ast.parse(f"class Net(nn.Module):\n    def forward(self, x):\n{body}").body[0]
        assert isinstance(node, ast.ClassDef)
        assert [unset([node]), unset([node], always=True)] == [expected, expected]

"""Mining: tasks are cut out of packages, run alone, and survive ugly and hostile code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kdata.record import Definition, Dropped, Origin, SourceFile, Task
from kdata.task import sizes
from sources.explain import explain
from sources.mine import cut_step, replacements, step, write_tasks
from sources.modules import candidates
from sources.slicer import SliceError, Slicer
from sources.symbols import Package
from sources.writer import cut as write_cut

ROOT = Path(__file__).resolve().parents[1]
HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"


def mine(
    texts: dict[str, str], limit: int | None = None, part: int = 0, parts: int = 1
) -> tuple[dict[str, Task], dict[str, str]]:
    """Tasks by symbol, and reasons by symbol or path."""
    files = [SourceFile(Origin("local", "pkg", "1", path, ("MIT",)), text) for path, text in texts.items()]
    cuts = list(cut_step(limit).function(files))
    definitions = [d for d in cuts if isinstance(d, Definition)]
    refused = [d for d in cuts if isinstance(d, Dropped)]
    found = [*refused, *step(limit, part, parts).function(definitions)]
    tasks = {t.symbol: t for t in found if isinstance(t, Task)}
    return tasks, {d.name.split(":")[-1]: d.reason for d in found if isinstance(d, Dropped)}


def cut(texts: dict[str, str], path: str, symbol: str) -> str:
    return write_cut(Slicer(Package(texts, replacements())), path, symbol).source


PACKAGE = {
    "net/__init__.py": "from .layers import *\n",
    "net/layers/__init__.py": "from .norm import RMSNorm\nfrom . import act\n__all__ = ['RMSNorm', 'act']\n",
    "net/layers/norm.py": HEAD + "EPS = 1e-6  # guards the root\n\n\nclass RMSNorm(nn.Module):\n"
    "    def __init__(self, dim, eps=EPS):\n        super().__init__()\n        self.eps = eps\n"
    "        self.weight = nn.Parameter(torch.ones(dim))\n\n    def unused(self):\n        return os.getcwd()\n\n"
    "    def forward(self, x):\n        # root of the mean square\n"
    "        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight\n",
    "net/layers/act.py": HEAD + "def swish(x):\n    return x * torch.sigmoid(x)\n",
    "net/block.py": HEAD + "from net import layers\nfrom net.layers import RMSNorm\nfrom .registry import register\n"
    "from absent_package import thing\n\n\n@register('block')\nclass Block(nn.Module):\n"
    "    def __init__(self, dim, hidden_dim):\n        super().__init__()\n        print('made')\n"
    "        self.norm = RMSNorm(dim)\n        self.up = nn.Linear(dim, hidden_dim)\n"
    "        self.down = nn.Linear(hidden_dim, dim)\n\n    def forward(self, x: 'Strange') -> 'Stranger':\n"
    "        return x + self.down(layers.act.swish(self.up(self.norm(x))))\n\n\n"
    "class Lost(nn.Module):\n    def forward(self, x):\n        return thing(x)\n",
    "net/registry.py": "def register(name):\n    return lambda x: x\n",
}


def test_a_cut_holds_what_it_needs_and_no_more() -> None:
    source = cut(PACKAGE, "net/block.py", "Block")
    assert "# guards the root" in source
    assert "# root of the mean square" in source
    assert "def swish" in source
    for gone in (
        "unused",
        "print",
        "register",
        "Strange",
        "absent_package",
        "layers.act",
        "import torch.nn.functional",
    ):
        assert gone not in source
    namespace: dict[str, object] = {}
    exec(compile(source, "cut", "exec"), namespace)
    assert "Block" in namespace


def test_an_unused_method_at_the_end_is_left_out() -> None:
    text = (
        HEAD
        + "class M(nn.Module):\n    def forward(self, x):\n        return x.relu()\n\n    def last(self) -> Absent:\n        pass\n"
    )
    source = cut({"m.py": text}, "m.py", "M")
    assert "last" not in source
    assert source.endswith("return x.relu()\n")


def test_what_cannot_stand_alone_says_why() -> None:
    _, reasons = mine({"lost.py": HEAD + "from absent_package import thing, Base\n"
                       "class Lost(nn.Module):\n    def forward(self, x):\n        return thing(x)\n"
                       "class Kept(nn.Module):\n    def __init__(self, quick=False):\n        super().__init__()\n"
                       "        self.quick = quick\n    def forward(self, x):\n"
                       "        return thing(x) if self.quick else x.relu()\n"})  # fmt: skip
    assert reasons == {"Lost": "needs a package that is absent"}
    with pytest.raises(SliceError) as error:
        cut({"m.py": HEAD + "from absent import Base\nclass M(Base):\n    pass\n"}, "m.py", "M")
    assert error.value.reason == "needs a package that is absent"


def test_equal_names_of_two_files_are_told_apart() -> None:
    texts = {
        "a.py": "def scale(x):\n    return x * 2\n",
        "b.py": "import a\ndef scale(x):\n    return a.scale(x) + 1\n",
        "c.py": "from b import scale\ndef both(x):\n    return scale(x)\n",
    }
    namespace: dict[str, object] = {}
    exec(compile(cut(texts, "c.py", "both"), "cut", "exec"), namespace)
    assert namespace["both"](3) == 7  # type: ignore[operator]


def test_definitions_that_mention_each_other_come_in_an_order_that_executes() -> None:
    text = HEAD + (
        "class Loss(nn.Module):\n    def __add__(self, other):\n        return Sum(self, other)\n"
        "class Sum(Loss):\n    pass\n"
        "class L1(Loss):\n    def forward(self, x, y):\n        return (x - y).abs().mean()\n"
    )
    exec(compile(cut({"m.py": text}, "m.py", "L1"), "cut", "exec"), {})


def test_what_is_computed_from_the_absent_is_absent() -> None:
    text = HEAD + (
        "import os\nfrom absent import Mixin, load\nHERE = os.path.dirname(__file__)\nKERNEL = load(HERE)\n"
        "class M(nn.Module, Mixin):\n    def forward(self, x):\n        return KERNEL(x) if x.is_cuda else x.relu()\n"
    )
    source = cut({"m.py": text}, "m.py", "M")
    assert "KERNEL = None" in source
    assert "class Mixin:\n    pass" in source
    exec(compile(source, "cut", "exec"), {})


def test_explain_tells_where_a_definition_is_lost() -> None:
    files = [SourceFile(Origin("local", "pkg", "1", "nets.py", ("MIT",)), ACCOUNTED)]
    assert any("lost: output constant" in line for line in explain(files, "Constant"))
    assert "nets.py:NoForward: not cut: no forward ()" in list(explain(files, "NoForward"))
    with pytest.raises(ValueError, match="is called 'Nobody'"):
        list(explain(files, "Nobody"))


def test_ugly_files_are_read_or_refused() -> None:
    texts = {
        "circle_a.py": "from circle_b import *\nfrom circle_b import x\n",
        "circle_b.py": "from circle_a import *\nfrom circle_a import x\n",
        "shadow.py": "import torch.nn as nn\ntorch = 1\nclass M(nn.Module):\n    def forward(self, x):\n        return x * torch\n",
        "torch.py": "x = 1\n",
        "two.py": "print 'python 2'\n",
        "broken.py": "class :\n",
        "deep.py": "x = " + "(" * 3000 + ")" * 3000 + "\n",
        "long.py": "x = 1\n" * 50_000,
        "uses.py": "from circle_a import x\nimport torch.nn as nn\nclass U(nn.Module):\n    def forward(self, y):\n        return x\n",
    }
    package = Package(texts)
    found = {c.symbol for c in candidates(package)}
    assert {"M", "U"} <= found
    for path in texts:
        package.file(path)
    assert set(package.broken) == {"two.py", "broken.py", "deep.py"}
    assert "# circle_a.x is not here and not needed\nx = None\n" in write_cut(Slicer(package), "uses.py", "U").source


def test_a_type_hint_in_parentheses_goes_whole() -> None:
    text = HEAD + (
        "class Shape:\n    pass\n\n\nclass Scale(nn.Module):\n"
        "    def forward(self, x, by: (Shape | None) = None) -> (Shape):\n"
        "        kept: ((Shape | None)) = by\n        return x * 2 if kept is None else x\n"
    )
    source = cut({"n.py": text}, "n.py", "Scale")
    assert "def forward(self, x, by = None):\n        kept = by\n" in source
    compile(source, "cut", "exec")


def test_dead_branches_of_absent_packages_are_left_out() -> None:
    text = HEAD + (
        "try:\n    from apex import fused\n    HAS_APEX = True\nexcept ImportError:\n    HAS_APEX = False\n"
        "def norm(x):\n    if HAS_APEX:\n        return fused(x)\n    return F.normalize(x)\n"
    )
    assert "fused" not in cut({"n.py": text}, "n.py", "norm")


ACCOUNTED = (
    HEAD
    + """
class Mlp(nn.Module):
    def __init__(self, in_features, hidden_features, act=nn.GELU):
        super().__init__()
        self.fc1, self.act, self.fc2 = nn.Linear(in_features, hidden_features), act(), nn.Linear(hidden_features, in_features)

    def forward(self, x):
        return self.fc2(self.act(self.fc1(x)))


class Renamed(nn.Module):
    def __init__(self, in_features, hidden_features, act=nn.GELU):
        super().__init__()
        self.fc1, self.act, self.fc2 = nn.Linear(in_features, hidden_features), act(), nn.Linear(hidden_features, in_features)

    def forward(self, x):
        return self.fc2(self.act(self.fc1(x)))


class Attend(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        assert dim % num_heads == 0
        self.num_heads, self.qkv = num_heads, nn.Linear(dim, dim * 3)

    def forward(self, x, mask):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        weights = (q @ k.transpose(-1, -2)).masked_fill(~mask[:, None], -1e4).softmax(-1)
        return (weights @ v).transpose(1, 2).reshape(b, n, d)


class Lookup(nn.Module):
    def __init__(self, vocab_size, dim):
        super().__init__()
        self.table = nn.Embedding(vocab_size, dim)

    def forward(self, ids):
        return self.table(ids)


class NoForward(nn.Module):
    pass


class Constant(nn.Module):
    def forward(self, x):
        return x * 0


class Ignores(nn.Module):
    def forward(self, x, y):
        return x.relu()


class View(nn.Module):
    def forward(self, x):
        return x.flatten(1)


class Random(nn.Module):
    def forward(self, x):
        return x + torch.rand_like(x)


class Infinite(nn.Module):
    def forward(self, x):
        return x / 0.0


class KeywordOnly(nn.Module):
    def __init__(self, *, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, 2 * channels, 3)

    def forward(self, x):
        return self.conv(x)


def smooth_l1(prediction, target):
    return F.smooth_l1_loss(prediction, target, reduction="sum") / prediction.shape[0]
"""
)


@pytest.fixture(scope="module")
def accounted() -> tuple[dict[str, Task], dict[str, str]]:
    return mine({"nets.py": ACCOUNTED, "old.py": "print 'x'\n"})


def test_every_definition_is_accounted_for(accounted: tuple[dict[str, Task], dict[str, str]]) -> None:
    tasks, reasons = accounted
    assert set(tasks) == {"Mlp", "Attend", "Lookup", "KeywordOnly", "smooth_l1", "Ignores"}
    assert "features), None]" in tasks["Ignores"].source  # what it does not look at is left out
    assert reasons == {
        "Renamed": "duplicate", "NoForward": "no forward", "Constant": "output constant",
        "View": "computes nothing", "Random": "nondeterministic",
        "Infinite": "not finite", "old.py": "does not parse",
    }  # fmt: skip


def test_sizes_that_belong_together_are_one_constant(accounted: tuple[dict[str, Task], dict[str, str]]) -> None:
    tasks, _ = accounted
    mlp, attend, lookup = tasks["Mlp"], tasks["Attend"], tasks["Lookup"]
    assert {s.name for s in sizes(mlp.source)} >= {"in_features", "hidden_features", "batch_size"}
    assert "return [in_features, hidden_features]" in mlp.source
    assert mlp.source.count("in_features = ") == 1
    assert "num_heads" in attend.source.split("get_init_inputs")[1]
    assert attend.inputs[0].free == (True, True, True)
    assert "torch.randint(0, vocab_size, " in lookup.source
    assert lookup.inputs[0].dtype == "int64"
    assert "[[], {'channels': channels}]" in tasks["KeywordOnly"].source


def test_a_task_runs_alone_in_a_fresh_process(
    accounted: tuple[dict[str, Task], dict[str, str]], tmp_path: Path
) -> None:
    tasks, _ = accounted
    write_tasks(tasks.values(), tmp_path)
    index = [json.loads(line) for line in (tmp_path / "index.jsonl").read_text().splitlines()]
    assert {i["symbol"] for i in index} == set(tasks)
    check = (
        "import sys, json\nfor name, entry in json.loads(sys.argv[1]):\n    space = {'__name__': 'task'}\n"
        "    exec(open(name).read(), space)\n    given = space['get_init_inputs']()\n"
        "    named = given[1] if len(given) == 2 and isinstance(given[0], list) else {}\n"
        "    module = space[entry](*(given[0] if named else given), **named)\n"
        "    assert module(*space['get_inputs']()) is not None\n"
    )
    names = json.dumps([(str(tmp_path / i["file"]), i["entry_point"]) for i in index])
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    subprocess.run([sys.executable, "-I", "-c", check, names], check=True, env=environment, cwd=tmp_path)


SCRIPT = (
    HEAD
    + """
import argparse
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

parser = argparse.ArgumentParser()
parser.add_argument("--latent", type=int, default=20)
opt = parser.parse_args()


class Recurrent(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.lstm = nn.LSTM(dim, opt.latent, batch_first=True)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True)
        return pad_packed_sequence(self.lstm(packed)[0], batch_first=True)[0]


class Step(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.linear, self.heads = nn.Linear(dim, dim * 3), heads

    def forward(self, x):
        assert x.shape[1] == 77 and x.shape[2] % 7 == 0
        return self.linear(x) * 2


class Stack(nn.Module):
    def __init__(self, step, layers):
        super().__init__()
        assert isinstance(step, Step)
        self.layers = nn.ModuleList([step] * layers)

    def forward(self, x, bias):
        assert bias.shape == (3, 77, 14)
        return self.layers[0](x).sum(1) + bias.sum()


class Registered(nn.Module):
    def __init__(self, block, widths):
        super().__init__()
        self.blocks = nn.ModuleList(block(w, 2) for w in widths)

    def forward(self, x):
        return sum(b.linear(x[..., : b.linear.in_features]).sum() for b in self.blocks)


def tiny():
    return Registered(Step, [6, 12])


if __name__ == "__main__":
    print(Stack(Step(14, heads=2), 2)(torch.randn(3, 77, 14), torch.randn(3, 77, 14)))
"""
)


def test_scripts_and_calls_tell_arguments_and_inputs() -> None:
    tasks, reasons = mine({"script.py": SCRIPT})
    assert reasons == {}
    assert "opt = SimpleNamespace(latent=20)" in tasks["Recurrent"].source
    assert "torch.full((batch_size,), sequence_length)" in tasks["Recurrent"].source
    assert tasks["Stack"].inputs[1].shape == tasks["Step"].inputs[0].shape == (3, 77, 14)
    assert "class Stack" not in tasks["Step"].source
    assert "Registered(" not in tasks["Step"].source
    assert "return [Step, [" in tasks["Registered"].source


def test_parts_and_limits_divide_the_work(accounted: tuple[dict[str, Task], dict[str, str]]) -> None:
    tasks, reasons = accounted
    halves = [mine({"nets.py": ACCOUNTED, "old.py": "print 'x'\n"}, part=p, parts=2) for p in (0, 1)]
    assert {t.id for half, _ in halves for t in half.values()} == {t.id for t in tasks.values()}
    assert set(halves[0][0]) & set(halves[1][0]) == set()
    few, dropped = mine({"nets.py": ACCOUNTED}, limit=2)
    assert len(few) == 2
    assert "limit reached" in dropped.values()
    assert len(few) + len(dropped) == len(tasks) + len(reasons) - 1  # without old.py
    with pytest.raises(ValueError, match="parts are numbered"):
        step(part=2, parts=2)


def test_hostile_code_harms_nothing(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("whole")
    good = "class Good(nn.Module):\n    def forward(self, x):\n        return x.relu() + 1\n"
    base = "class {0}(nn.Module):\n    def forward(self, x):\n        {1}\n        return x.relu()\n"
    texts = {
        "good.py": HEAD + good,
        "exit.py": HEAD + base.format("Exit", "torch.os._exit(0)"),
        "hang.py": HEAD + base.format("Hang", "while True: pass"),
        "stubborn.py": HEAD
        + "class Stubborn(nn.Module):\n    def forward(self, x):\n        while True:\n            try:\n"
        "                while True: pass\n            except BaseException: pass\n",
        "memory.py": HEAD + base.format("Memory", "keep = [torch.ones(1 << 28) for _ in range(1000)]"),
        "forks.py": HEAD
        + "import time\n"
        + base.format("Forks", "[time.sleep(60) for _ in range(20) if torch.os.fork() == 0]"),
        "kills.py": HEAD + base.format("Kills", "torch.os.kill(torch.os.getppid(), 9)"),
        "deletes.py": HEAD
        + "DONE = torch.os.remove(%r)\n" % str(victim)
        + "class Deletes(nn.Module):\n    def forward(self, x):\n        return x.relu() if DONE is None else x\n",
        "shouts.py": HEAD + base.format("Shouts", "torch.sys.stdout.write('x' * 20_000_000)"),
        "plain.py": HEAD + "import os\n" + base.format("Plain", "os.remove('x')"),
    }
    tasks, reasons = mine(texts)
    assert "Good" in tasks
    assert reasons["Hang"] == reasons["Stubborn"] == "timeout"
    assert {"Exit", "Memory", "Deletes"} <= set(reasons)
    assert reasons["Plain"] == "touches the system"
    assert victim.read_text() == "whole"

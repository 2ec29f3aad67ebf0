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
from sources.mine import cut_step, step, write_tasks

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


def test_what_cannot_stand_alone_says_why() -> None:
    _, reasons = mine({"lost.py": HEAD + "from absent_package import thing, Base\n"
                       "class Lost(nn.Module):\n    def forward(self, x):\n        return thing(x)\n"
                       "class Kept(nn.Module):\n    def __init__(self, quick=False):\n        super().__init__()\n"
                       "        self.quick = quick\n    def forward(self, x):\n"
                       "        return thing(x) if self.quick else x.relu()\n"})  # fmt: skip
    assert reasons == {"Lost": "needs a package that is absent"}


def test_explain_tells_where_a_definition_is_lost() -> None:
    files = [SourceFile(Origin("local", "pkg", "1", "nets.py", ("MIT",)), ACCOUNTED)]
    assert any("lost: output constant" in line for line in explain(files, "Constant"))
    assert "nets.py:NoForward: not cut: no forward ()" in list(explain(files, "NoForward"))
    with pytest.raises(ValueError, match="is called 'Nobody'"):
        list(explain(files, "Nobody"))


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
    assert set(tasks) == {"Mlp", "Attend", "Lookup", "KeywordOnly", "smooth_l1", "Ignores", "Random"}
    assert "torch.rand" not in tasks["Random"].source.split("def get_inputs")[0]  # what it draws is an input
    assert "features), None]" in tasks["Ignores"].source  # what it does not look at is left out
    assert reasons == {
        "Renamed": "duplicate", "NoForward": "no forward", "Constant": "output constant",
        "View": "computes nothing",
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
    assert tasks["Stack"].inputs[1].shape == (3, 77, 14)
    assert tasks["Step"].inputs[0].shape[1:] == (77, 14)
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
    assert {"Exit", "Memory"} <= set(reasons)
    assert "remove" not in tasks["Deletes"].source  # what could not be deleted is not tried again
    assert reasons["Plain"] == "touches the system"
    assert victim.read_text() == "whole"

"""Modules that take records: from a package, through task files, to a verified pair; and the class that a file is about."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from kdata.align import step as align
from kdata.record import Candidate, Definition, Origin, SourceFile, Task
from kdata.task import find_entry_point
from kdata.verbs import read_all
from kdata.verify.judge import judge
from kdata.verify.options import Options
from sources.infer.inputs import Many, Tensor
from sources.infer.rewritten.adapters import adapted
from sources.infer.rewritten.answers import answered
from sources.infer.search import Solution
from sources.mine import cut_step, step, write_tasks
from sources.probe import load

MASKED = """
import torch.nn as nn


class Masked(nn.Module):
    def __init__(self, scale: float = 2.0):
        super().__init__()
        self.scale = scale

    def forward(self, tensor_list):
        x, mask = tensor_list.tensors, tensor_list.mask
        return (x * self.scale).masked_fill(mask, 0.0)
"""
INPUTS = "\n\ndef get_inputs():\n    return [1]\n"


def test_a_module_that_takes_a_record_becomes_a_verified_pair(tmp_path: Path) -> None:
    file = SourceFile(Origin("local", "pkg", "1", "masked.py", ("MIT",)), MASKED)
    definitions = [d for d in cut_step().function([file]) if isinstance(d, Definition)]
    (mined,) = (t for t in step().function(definitions) if isinstance(t, Task))
    assert (mined.symbol, mined.entry_point) == ("Masked", "MaskedOfTensors")
    assert [i.name for i in mined.inputs] == ["tensors", "mask"]
    write_tasks([mined], tmp_path)
    (read,) = read_all([str(tmp_path)], Task)
    assert (read.id, read.entry_point) == (mined.id, mined.entry_point)
    (candidate,) = align.step().function([read])
    assert isinstance(candidate, Candidate), candidate
    receipt = judge(read, candidate, Options(targets=()))
    assert receipt.verdict == "verified", receipt.detail


class Named(nn.Module):
    """It takes records whose parts have names that parameters cannot have, or that other inputs have."""

    def forward(self, data: SimpleNamespace, x: torch.Tensor, parts: dict[str, Any]) -> torch.Tensor:
        made: torch.Tensor = data.x + 2 * x + 3 * parts["a-b"] + 4 * parts["in"] + 5 * parts["of"].x
        return made


def test_parts_of_records_keep_apart_whatever_they_are_called() -> None:
    ones = [Tensor((n,)) for n in range(1, 6)]
    record, inner = Many((ones[0],), "record", ("x",)), Many((ones[4],), "record", ("x",))
    parts = Many((ones[2], ones[3], inner), "dict", ("a-b", "in", "of"))
    namespace: dict[str, Any] = {"Named": Named}
    cut, solution = adapted({"name": "Named", "source": ""}, namespace, Solution({}, (record, ones[1], parts)))
    assert sorted(map(str, solution.specs)) == sorted(map(str, ones))
    values = [torch.tensor(10.0 ** (t.shape[0] - 1)) for t in solution.specs if isinstance(t, Tensor)]
    assert namespace[cut["name"]]()(*values) == 54321


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("class Model(nn.Module): ...\nclass Other(nn.Module): ...", "Model"),
        ("class Model(nn.Module): ...\nclass Told(Model): ...", "Told"),
        ("class Model(nn.Module): ...\nclass ModelNew(Model): ...", "Model"),
        ("class Part(nn.Module): ...\nclass Whole(nn.Module):\n    def f(self): return Part()", "Whole"),
        ("class Base(nn.Module): ...\nclass Derived(Base): ...", "Derived"),
        ("class Part(torch.nn.Module): ...\nclass Stem(nn.Sequential):\n    def f(self): return Part()", "Stem"),
        ("class Whole(nn.Module):\n    def f(self): return TABLE\nclass Late(nn.Module): ...\nTABLE = {'l': Late}", "Whole"),
        ("class Net(nn.Module):\n    def f(self): super(Net, self).f()\nclass Settings: ...", "Net"),
    ],
)  # fmt: skip
def test_the_class_that_a_file_is_about(text: str, name: str) -> None:
    assert find_entry_point(text + INPUTS) == name


# torch's own class has no constraints of arguments: who asks for them is told that they are not implemented
OWN = (
    "class Squashed(torch.distributions.Distribution):\n    def __init__(self, mean):\n"
    "        self.mean_of_normal, self.normal = mean, Normal(mean, 1.0)\n\n\n"
    "class Held(torch.distributions.Distribution):\n    def __init__(self, inner):\n        self.inner = inner\n\n\n"
)


def test_a_policy_answers_with_what_its_distributions_are_made_of(tmp_path: Path) -> None:
    source = (
        "import torch\nimport torch.nn as nn\nfrom torch.distributions import Categorical, Independent, Normal\n\n\n"
        "class Policy(nn.Module):\n    def __init__(self, dim=6):\n        super().__init__()\n"
        "        self.mean = nn.Linear(dim, 2)\n\n    def forward(self, x, y, *more):\n        mean = self.mean(x)\n"
        "        return Independent(Normal(mean, mean.exp()), 1), {'kind': Categorical(logits=y)}, None, mean\n"
    )
    namespace = load(source, tmp_path)
    given = Solution({}, (Tensor((4, 6)), Tensor((4, 3))))
    cut, solution = answered({"source": source, "name": "Policy"}, given, namespace)
    assert cut["name"] == "PolicyOfTensors"
    assert (
        "return answer[0].base_dist.loc, answer[0].base_dist.scale, answer[1]['kind'].logits, answer[3]\n"
        in cut["source"]
    )
    module = load(cut["source"], tmp_path)["PolicyOfTensors"]()
    x, y = torch.ones(4, 6), torch.rand(4, 3)
    mean, scale, logits, last = module(x, y)
    assert torch.equal(scale, last.exp())
    assert torch.equal(mean, last)
    assert torch.allclose(logits, y.log_softmax(-1))
    own = source.replace("class Policy", OWN + "class Policy").replace("Categorical(logits=y)", "Held(Squashed(y))")
    assert (
        "answer[1]['kind'].inner.mean_of_normal, answer[3]"
        in answered({"source": own, "name": "Policy"}, given, load(own, tmp_path))[0]["source"]
    )
    text = source.replace("Categorical(logits=y)", "y").replace("Independent(Normal(mean, mean.exp()), 1)", "mean")
    plain = {"source": text, "name": "Policy"}
    assert answered(plain, solution, load(text, tmp_path))[0] is plain

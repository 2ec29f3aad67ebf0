"""Alignment: what comes out is Triton that a person can read, that fits every size, and that the judge verifies."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from kdata.align.errors import AlignError
from kdata.align.families import family
from kdata.align.step import align_file, step, trace_operators
from kdata.record import Candidate, Dropped, Origin, Task
from kdata.task import TaskError
from kdata.verify.judge import judge
from kdata.verify.options import Options

HEAD = "import math\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
TASKS = {
    "softmax": (
        "def forward(self, x):\n        return torch.softmax(x, -1)",
        "rows = 4096\ncols = 393216\n",
        "[torch.rand(rows, cols)]",
    ),
    "matmul": (
        "def forward(self, a, b):\n        return a @ b.T",
        "n = 2048 * 2\n",
        "[torch.rand(n, 64), torch.rand(96, 64)]",
    ),
    "several outputs": (
        "def forward(self, x):\n        return {'mean': x.mean(1), 'max': x.max(1).values}, [x.argmin(1)]",
        "",
        "[torch.rand(8, 33)]",
    ),
    "structured inputs": (
        "def forward(self, pair, scale):\n        return pair[0] * scale + pair['b' if False else 1]",
        "",
        "[[torch.rand(5, 7), torch.rand(5, 7)], 3]",
    ),
    "cat": (
        "def forward(self, x, y):\n        return torch.cat([x, y.sin()], 1).cumsum(1)",
        "",
        "[torch.rand(4, 9), torch.rand(4, 6)]",
    ),
    "pool": (
        "def forward(self, x):\n        return F.adaptive_avg_pool2d(F.max_pool2d(x, 3, 2, 1), 3)",
        "",
        "[torch.rand(2, 3, 14, 15)]",
    ),
    "loss": (
        "def forward(self, x, y):\n        return F.cross_entropy(x, y, label_smoothing=0.1)",
        "",
        "[torch.rand(16, 10), torch.randint(0, 10, (16,))]",
    ),
}
LAYERS = {
    "linear": ("nn.Sequential(nn.Linear(32, 48), nn.GELU(), nn.Linear(48, 32))", "torch.rand(16, 32)"),
    "convolution": ("nn.Sequential(nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.ReLU())", "torch.rand(2, 3, 16, 16)"),
    "depthwise": ("nn.Conv2d(6, 6, 3, groups=6)", "torch.rand(2, 6, 9, 9)"),
    "transposed": ("nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1)", "torch.rand(2, 4, 7, 7)"),
    "batch norm in train mode": ("nn.BatchNorm2d(6)", "torch.rand(4, 6, 5, 5)"),
    "layer norm": ("nn.LayerNorm(40)", "torch.rand(6, 40)"),
    "attention": ("nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)", "torch.rand(2, 8, 32)"),
    "recurrent": ("nn.GRUCell(12, 20)", "torch.rand(5, 12)"),
}


def functional(name: str) -> str:
    forward, constants, inputs = TASKS[name]
    return f"{HEAD}\nclass Model(nn.Module):\n    {forward}\n\n{constants}\ndef get_inputs():\n    return {inputs}\n\ndef get_init_inputs():\n    return []\n"


def layered(name: str) -> str:
    layer, inputs = LAYERS[name]
    return (
        f"{HEAD}\nclass Model(nn.Module):\n    def __init__(self):\n        super(Model, self).__init__()\n        self.layer = {layer}\n\n"
        f"    def forward(self, x):\n        return self.layer(x)\n\ndef get_inputs():\n    return [{inputs}]\n\ndef get_init_inputs():\n    return []\n"
    )


def aligned(source: str, tmp_path: Path) -> Candidate:
    path = tmp_path / "task.py"
    path.write_text(source)
    return align_file(path)


@pytest.mark.parametrize("source", [functional(n) for n in TASKS] + [layered(n) for n in LAYERS], ids=[*TASKS, *LAYERS])
def test_candidate_is_pure_and_verified(source: str, tmp_path: Path) -> None:
    candidate = aligned(source, tmp_path)
    imported = {
        a.name if isinstance(n, ast.Import) else n.module
        for n in ast.walk(ast.parse(candidate.source)) if isinstance(n, ast.Import | ast.ImportFrom) for a in n.names
    }  # fmt: skip
    assert imported <= {"torch", "torch.nn", "triton", "triton.language", "math"}
    assert not candidate.left_to_aten
    assert "in_ptr" not in candidate.source and "tmp" not in candidate.source
    receipt = judge(candidate.task, candidate, Options(targets=()))
    assert receipt.verdict == "verified", f"{receipt.reason}: {receipt.detail}"


def test_sizes_keep_the_names_of_the_task(tmp_path: Path) -> None:
    source = aligned(functional("softmax"), tmp_path).source
    assert "def softmax_kernel(" in source and "rows, cols = x.shape" in source
    assert "393216" not in source, "no size of the task may be baked in"


def test_dropout_is_traced_in_eval_mode(tmp_path: Path) -> None:
    source = layered("linear").replace("nn.GELU()", "nn.Dropout(0.5)")
    candidate = aligned(source, tmp_path)
    assert judge(candidate.task, candidate, Options(targets=())).mode == "eval"


@pytest.mark.parametrize(
    ("forward", "reason"),
    [
        ("x + torch.rand_like(x)", "random"),
        ("torch.nonzero(x)", "left to ATen"),
        ("torch.linalg.svd(x).S", "left to ATen"),
        ("torch.linalg.cholesky(x @ x.T)", "left to ATen"),
        ("torch.bincount((x * 8).long().flatten(), minlength=9) / 2", "left to ATen"),
    ],
)
def test_what_cannot_be_aligned_says_why(forward: str, reason: str, tmp_path: Path) -> None:
    source = functional("softmax").replace("torch.softmax(x, -1)", forward)
    with pytest.raises(AlignError) as found:
        aligned(source, tmp_path)
    assert reason in str(found.value) and "\n" not in str(found.value)


def test_no_task(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="get_inputs"):
        aligned("class Model: pass", tmp_path)


def test_stage_accounts_for_every_task() -> None:
    good, bad = functional("cat"), functional("softmax").replace("torch.softmax(x, -1)", "torch.linalg.svd(x).S")
    tasks = [Task.make(s, "Model", Origin("local", "here", "", f"{i}.py")) for i, s in enumerate((good, bad))]
    outcomes = list(step().function(tasks))
    assert [type(o) for o in outcomes] == [Candidate, Dropped]
    assert {o.task.id if isinstance(o, Candidate) else o.id for o in outcomes} == {t.id for t in tasks}


def test_alignment_is_deterministic(tmp_path: Path) -> None:
    assert aligned(layered("convolution"), tmp_path) == aligned(layered("convolution"), tmp_path)


def test_operators_and_families() -> None:
    operators = trace_operators(layered("convolution"))
    assert operators == ("convolution", "relu")
    assert family(operators) == "convolution" and family(("add", "mul")) == "elementwise"
    assert family(("addmm", "gelu", "addmm")) == "linear and activation"

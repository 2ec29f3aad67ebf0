"""Problems of TritonBench-T as tasks: which calls are taken, how they are written, what is left out, how it is scored."""

from __future__ import annotations

import ast
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tritonbench_files import LEFT_OUT, PROBLEMS, WEAK, text, write_suite

from cards import scores
from filters import leakage
from kdata.record import Dropped, Pair
from kdata.tritonbench import problems
from kdata.tritonbench.calls import NoCallError, read
from kdata.tritonbench.literals import Drawn
from sft import tables
from sft.answers import Request
from sft.chat import prompt
from sft.eval_options import EvalOptions
from sft.evaluate import evaluate
from sft.suites import Suite, read_suite
from tests import factories

KERNEL = """```python
import torch
import triton
import triton.language as tl


@triton.jit
def scaled_relu_kernel(x_ptr, y_ptr, count, SCALE: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < count)
    tl.store(y_ptr + offsets, tl.maximum(x, 0.0) * {scale}, mask=offsets < count)


class ModelNew(torch.nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        grid = (triton.cdiv(x.numel(), 64),)
        scaled_relu_kernel[grid](x, y, x.numel(), SCALE=self.scale, BLOCK=64)
        return y
```"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_suite(tmp_path_factory.mktemp("suite") / "TritonBench")


@pytest.fixture(scope="module")
def suite(folder: Path) -> Suite:
    return read_suite("tritonbench", str(folder))


def source(suite: Suite, name: str) -> str:
    return next(p.task.source for p in suite.problems if p.name == name)


def test_what_cannot_be_a_task_is_left_out_with_its_reason(suite: Suite) -> None:
    assert {d.name: d.reason for d in suite.left_out} == LEFT_OUT
    assert {p.name: p.level for p in suite.problems} == {
        name: level for name, (*_, level) in PROBLEMS.items() if name not in LEFT_OUT
    }
    assert [p.level for p in suite.problems] == sorted(p.level for p in suite.problems)
    assert next(d.detail for d in suite.left_out if d.name == "trained") == "model: a Small"


def test_the_largest_call_is_taken_that_is_a_task(suite: Suite) -> None:
    task = source(suite, "scaled_relu")  # of the four calls two change what they are given
    assert task.startswith(PROBLEMS["scaled_relu"][0].strip())
    assert task.endswith("""

class Model(torch.nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, x):
        return scaled_relu(x, scale=self.scale)


def get_inputs():
    x = torch.rand(2, 2) * 7.0 - 4.0
    return [x]


def get_init_inputs():
    scale = 0.5
    return [scale]
""")


def test_flags_stay_and_sizes_are_shared(suite: Suite) -> None:
    task = source(suite, "norm_dropout")
    assert "def __init__(self, normalized_shape, p):" in task
    assert "return norm_dropout(x, self.normalized_shape, self.p, training=False)" in task
    assert "    n = 6\n    y, flag = (torch.randn(3, n), False)\n    return [y]\n" in task
    assert "    n = 6\n    return [n, 0.3]\n" in task


def test_tensors_that_are_written_out_are_drawn_where_that_does(suite: Suite) -> None:
    task = source(suite, "labels")
    assert "scores = torch.rand(3, 2) * 4.0 + 0.5" in task
    assert "target = torch.tensor([-1, 1])[torch.randint(0, 2, (3,))]" in task
    assert "return [scores, target, [torch.full((3,), 1.0)]]" in task
    assert "return [torch.tensor([[2.0, 1.0], [1.0, 3.0]])]" in source(suite, "inverse")


@pytest.mark.parametrize(
    ("written", "drawn"),
    [
        ("torch.tensor([[1, 3, 2], [4, 6, 5]])", "torch.randint(1, 7, (2, 3))"),
        ("torch.tensor([True, False])", "torch.rand(2) < 0.5"),
        ("torch.tensor([0.25, 1.25], dtype=torch.float64)", "torch.rand(2, dtype=torch.float64) + 0.25"),
        ("torch.tensor([0.0, 1.0])", "torch.rand(2)"),
        ("torch.tensor([0.1, 0.3])", "torch.rand(2) * 0.2 + 0.1"),
        ("torch.tensor([5, 5], dtype=torch.int8)", "torch.full((2,), 5, dtype=torch.int8)"),
        ("torch.tensor(3.0)", None), ("torch.tensor([])", None), ("torch.tensor([[1], [2, 3]])", None),
        ("torch.tensor([x, 1.0])", None), ("torch.tensor(['a'])", None), ("torch.tensor([1j])", None),
        ("torch.tensor([1e400, 0.0])", None), ("numpy.array([1.0])", None),
    ],
)  # fmt: skip
def test_literals(written: str, drawn: str | None) -> None:
    change = Drawn()
    assert ast.unparse(change.visit(ast.parse(written))) == ast.unparse(ast.parse(drawn or written))
    assert change.count == (drawn is not None)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.replace("#" * 146, ""), "no line divides"),
        (lambda t: t.replace("def scaled_relu(", "def scaled_relu(:"), "not Python"),
        (lambda t: t.replace("def scaled_relu(x", "scaled_relu = lambda x: (x"), "not Python|no function"),
        (lambda t: t.replace("= scaled_relu(", "= relu("), "does not call"),
    ],
)
def test_a_file_of_another_form_is_told(change: Any, words: str) -> None:
    with pytest.raises(NoCallError, match=words):
        read(change(text("scaled_relu")), "scaled_relu")


def test_the_suite_is_found_from_every_path(folder: Path, suite: Suite) -> None:
    data = folder / "data"
    for path in (data, data / "TritonBench_T_v1", data / "TritonBench_T_v1.jsonl"):
        assert problems.texts(str(path)) == problems.texts(str(folder))
    one = read_suite("tritonbench", str(data / "TritonBench_T_v1" / "scaled_relu.py")).problems
    assert one == [p for p in suite.problems if p.name == "scaled_relu"]
    with pytest.raises(ValueError, match="no tritonbench problems of level 5"):
        read_suite("tritonbench", str(data / "TritonBench_T_v1" / "scaled_relu.py"), [5])
    with pytest.raises(ValueError, match="no tritonbench problems that can be a task: random"):
        read_suite("tritonbench", str(data / "TritonBench_T_v1" / "noise.py"))
    for absent in ("tests/kernels", "nowhere"):
        with pytest.raises(ValueError, match="holds no TritonBench-T"):
            read_suite("tritonbench", absent)


def test_what_lies_beside_a_file_is_not_it(tmp_path: Path) -> None:
    place = write_suite(tmp_path / "suite") / "data" / "TritonBench_T_v1"
    (place / "a_folder.py").mkdir()
    assert sorted(problems.texts(str(place))) == sorted(PROBLEMS)
    (place / "other.parquet").write_text("no")
    with pytest.raises(ValueError, match=r"other\.parquet is not a parquet file"):
        leakage.read_problems(str(place / "other.parquet"))


def test_bad_statistics_are_told(tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "suite")
    (suite / "data" / "TritonBench_T_v1.jsonl").write_text('{"file": 1}\n')
    with pytest.raises(ValueError, match=r"jsonl holds no TritonBench-T"):
        problems.read(str(suite / "data" / "TritonBench_T_v1" / "ones.py"))


def test_answers_are_judged_and_the_left_out_are_told(folder: Path, suite: Suite, tmp_path: Path) -> None:
    texts = {"scaled_relu": KERNEL.replace("{scale}", "SCALE"), "norm_dropout": KERNEL.replace("{scale}", "1.0")}
    asked = {p.name: Request(tuple(prompt(p.task)), 0) for p in suite.problems}
    lines = [{"id": asked[n].id, "model": "far", "seed": 0, "text": t, "finish": "stop"} for n, t in texts.items()]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    options = EvalOptions(model=str(tmp_path / "answers.jsonl"), suite="tritonbench", path=str(folder), samples=1,
                          out=str(tmp_path / "out"), targets=[], device="cpu", workers=1)  # fmt: skip
    summary = evaluate(options)
    left = {row["problem"]: row["reason"] for row in summary["left_out"]}
    assert left == LEFT_OUT | WEAK
    rows = {row["problem"]: row["verified"]["correct"] for row in summary["problems"]}
    assert rows == {"scaled_relu": 1, "labels": 0, "norm_dropout": 0}
    assert summary["scores"]["verified"]["all"]["metrics"]["pass@1"]["value"] == pytest.approx(1 / 3)
    assert summary["failures"] == {"constructor differs": 1, "not in the file": 1}
    table = next(tables._left_out(summary))
    assert table.title == f"Problems left out: {len(left)} of {len(PROBLEMS)}"
    assert len(table.rows) == len(Counter(left.values()))
    told = f"{len(left)} more of its problems were not asked: changes its inputs 2, the task tells"
    assert "3 problems (TritonBench-T), 1 answers each" in (section := scores.render(summary)) and told in section


def test_pairs_are_compared_with_it(folder: Path, suite: Suite, tmp_path: Path) -> None:
    (tmp_path / "level1").mkdir()
    (tmp_path / "level1" / "1_Ones.py").write_text(source(suite, "ones"))
    files = leakage.read_problems(f"{tmp_path}, {folder}")
    assert len(files) == 1 + len(PROBLEMS)
    chosen = [f for f in files if f.origin.path in ("scaled_relu", "noise", "level1/1_Ones")]
    ops = {"scaled": ("relu", "mul"), "ones_l": ("ones_like",)}
    step = leakage.fingerprint_step(lambda text: next((o for name, o in ops.items() if name in text), ()), "1")
    made = list(step.function(chosen))
    assert [m.reason for m in made if isinstance(m, Dropped)] == ["random"]
    found = leakage.Problems(tuple(m for m in made if isinstance(m, leakage.Problem)))
    assert [p.name for p in found.items] == ["tritonbench/scaled_relu", "level1/1_Ones"]
    same, other = source(suite, "scaled_relu"), "class Other:\n    pass\n\ndef get_inputs():\n    return []\n"
    assert leakage.check(with_ops(same), found) == "benchmark problem, same program: tritonbench/scaled_relu"
    leak = "benchmark problem, same operators: tritonbench/scaled_relu"
    assert leakage.check(with_ops(other, "relu", "mul"), found) == leak
    single = leakage.Problems((replace(found.items[0], ops=("relu",)),))
    pair = with_ops(other, "relu")
    assert leakage.check(pair, single) is None
    assert leakage.flags([pair], single) == {pair.id: "tritonbench/scaled_relu"}


def with_ops(text: str, *ops: str) -> Pair:
    """A pair whose task has this text and these operators."""
    pair = factories.pair()
    candidate = replace(pair.candidate, task=replace(pair.task, source=text, entry_point="Model"), ops=ops)
    return replace(pair, candidate=candidate)

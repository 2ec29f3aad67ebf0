"""Pairs of operator libraries: kernels cut out with their launchers, references, configurations, and what is lost."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

import pytest

from kdata.record import Candidate, Dropped
from kdata.shards import Store
from kdata.verify.judge import judge
from kdata.verify.options import Options
from sources.fetch.texts import SourceError
from sources.pairs import flag_gems, job, recipe, step
from sources.pairs.recipe import Recipe
from sources.pairs.reduce import reduced

GEMS = {
    "LICENSE": "Apache License, Version 2.0",
    "src/flag_gems/__init__.py": """
from flag_gems.ops import *


def enable(register):
    register((("relu", relu), ("relu_", relu_), ("ge.Tensor", ge), ("arange", arange), ("sum.dim_IntList", sum_dim),
              ("flip", flip)))
""",
    "src/flag_gems/ops/__init__.py": """
from flag_gems.ops.ge import ge
from flag_gems.ops.relu import arange, flip, relu, relu_
from flag_gems.ops.sum import sum_dim
""",
    "src/flag_gems/ops/relu.py": '''
import logging

import triton
import triton.language as tl

from flag_gems.utils import pointwise_dynamic

logger = logging.getLogger(__name__)


@pointwise_dynamic(promotion_methods=[(0, "DEFAULT")])
@triton.jit
def relu_forward(x):
    # negative values and NaN become zero
    return tl.where(x > 0, x, 0)


def relu(self):
    logger.debug("GEMS RELU FORWARD")
    return relu_forward(self)


def relu_(self):
    return relu_forward(self, out0=self)


def arange(end):
    return None


def flip(self, dims):
    return self.flip(dims)
''',
    "src/flag_gems/ops/ge.py": """
import triton

from flag_gems.utils import pointwise_dynamic


@pointwise_dynamic(promotion_methods=[(0, 1, "ALWAYS_BOOL")])
@triton.jit
def ge_func(x, y):
    return x.to(tl.float32) >= y


def ge(a, b):
    return ge_func(a, b)
""",
    "src/flag_gems/ops/sum.py": """
import torch
import triton
import triton.language as tl

from flag_gems import runtime
from flag_gems.runtime import torch_device_fn
from flag_gems.utils import libentry, libtuner


@libentry()
@libtuner(configs=runtime.get_tuned_config("sums"), key=["N"], strategy=["log"], warmup=5)
@triton.heuristics(runtime.get_heuristic_config("sums"))
@triton.jit
def sum_kernel(x_ptr, out_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    total = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for start in range(0, N, BLOCK_N):
        columns = start + tl.arange(0, BLOCK_N)[None, :]
        mask = rows < M and columns < N
        total += tl.load(x_ptr + rows * N + columns, mask=mask, other=0)
    tl.store(out_ptr + rows, tl.sum(total, 1)[:, None], mask=rows < M)


def sum_dim(inp, dim=None, keepdim=False, *, dtype=None):
    assert inp.device.type == "cuda"
    M, N = inp.shape
    out = torch.empty((M,), dtype=inp.dtype, device=inp.device)
    with torch_device_fn.device(inp.device):
        sum_kernel[lambda meta: (triton.cdiv(M, meta["BLOCK_M"]),)](inp, out, M, N)
    return out


def twice(x):
    out = torch.empty_like(x)
    sum_kernel[(1,)](x, out, 1, 1)
    return out
""",
    "src/flag_gems/runtime/__init__.py": "raise RuntimeError('asks for a GPU')\n",
    flag_gems.TUNED: "sums:\n" + "".join(
        f"- META: {{BLOCK_M: {m}}}\n  num_warps: 4\n" for m in (1, 2, 4, 8, 16, 32)
    ),
    flag_gems.HEURISTICS: """
import triton


def block_n(args):
    return min(64, triton.next_power_of_2(args["N"]))


HEURISTICS_CONFIGS = {"sums": {"BLOCK_N": block_n}, "other": {"BLOCK": lambda args: 1}}
""",
}  # fmt: skip


@pytest.fixture(scope="module")
def gems(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gems") / "FlagGems"
    for path, text in GEMS.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    for command in (["init", "-q"], ["add", "."], [*identity, "commit", "-q", "-m", "one"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return folder


@pytest.fixture(scope="module")
def found(gems: Path) -> list[step.Found]:
    return step.collect(f"flag-gems={gems}")


@pytest.fixture(scope="module")
def candidates(found: list[step.Found]) -> dict[str, Candidate]:
    return {c.task.symbol: c for c in found if isinstance(c, Candidate)}


def test_a_registry_gives_pairs_and_reasons(found: list[step.Found], candidates: dict[str, Candidate]) -> None:
    assert candidates.keys() == {"relu", "ge.Tensor", "sum.dim_IntList", "sum_of_columns"}
    lost = {d.name.rpartition(":")[2]: d.reason for d in found if isinstance(d, Dropped)}
    assert lost["relu_"] == "writes into what it is given"
    assert lost["arange"] == "takes no tensor"
    assert lost["flip"] == "no kernel in it"
    candidate = candidates["sum.dim_IntList"]
    assert candidate.made_by == "library"
    assert candidate.language == "triton"
    assert candidate.task.origin.licenses == ("Apache-2.0",)
    assert candidate.task.origin.path == "src/flag_gems/ops/sum.py"
    assert candidate.family == "reduction"
    assert "torch.sum(x, [-1])" in candidate.task.source


def test_candidates_stand_alone(candidates: dict[str, Candidate]) -> None:
    text = candidates["sum.dim_IntList"].source
    for absent in ("flag_gems", "logging", "libentry", "libtuner", "torch_device_fn", ".device.type", "strategy"):
        assert absent not in text
    assert text.count("triton.Config(") == flag_gems.CONFIGS
    assert "{'BLOCK_M': 1}" in text.replace('"', "'")
    assert "HEURISTICS_OF_SUMS" in text
    assert "(rows < M) & (columns < N)" in text
    assert "negative values and NaN" in candidates["relu"].source


@pytest.mark.parametrize("name", ["relu", "sum.dim_IntList", "ge.Tensor"])
def test_pairs_of_a_library_are_verified(candidates: dict[str, Candidate], name: str) -> None:
    candidate = candidates[name]
    receipt = judge(candidate.task, candidate, Options(targets=()))
    weak = "the task tells right from wrong too poorly"
    assert (receipt.verdict, receipt.reason) in [("verified", ""), ("unverified", weak)], receipt.detail
    assert (receipt.verdict == "verified") or name == "ge.Tensor"


def test_launchers_without_a_reference_are_rows(found: list[step.Found]) -> None:
    rows = {k.symbol: k for k in found if isinstance(k, step.LibraryKernel)}
    assert "twice" in rows
    assert rows["twice"].origin.path == "src/flag_gems/ops/sum.py"
    assert "def sum_kernel" in rows["twice"].source
    assert "sum_dim" not in rows


def test_shards_are_named_by_content(gems: Path, tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    first = step.make(store, f"flag-gems={gems}")
    assert [m.kind for m in first] == ["Candidate", "LibraryKernel"]
    assert [m.name for m in step.make(store, f"flag-gems={gems}")] == [m.name for m in first]
    assert len(store.read(first[0].name, Candidate)) == first[0].kept


def test_an_unknown_library_is_one_line() -> None:
    with pytest.raises(SourceError, match="no library 'nonsense'"):
        step.collect("nonsense=.")


def test_all_recipes_are_well_formed() -> None:
    for path in sorted(recipe.FOLDER.glob("*.toml")):
        for each in recipe.read(path.stem):
            for kernel in (True, False):
                if each.kernel and each.reference:
                    ast.parse(each.glue(kernel))
            ast.parse(each.makers())


def test_one_entry_may_stand_for_many() -> None:
    names = [r.name for r in recipe.read("attorch")]
    assert names.count("GELU") == 1
    assert {"Mish", "Softmin", "HuberLoss"} <= set(names)


def test_a_recipe_names_the_library_in_both_of_its_sides() -> None:
    made = Recipe("n", "a.b:launch(x)", "y = x + 1\na.tests:reference(y)[0]", {"x": "torch.rand(rows)"}, "rows = 4")
    assert "from a.b import launch as launch_of_library" in made.glue(True)
    assert "        y = x + 1\n        return reference_of_library(y)[0]" in made.glue(False)
    assert made.makers().startswith("rows = 4\n\n\ndef get_inputs():\n    return [torch.rand(rows)]\n")


def test_a_layer_is_constructed_once() -> None:
    made = Recipe("n", "a.b:Layer(n)", "nn.Linear(n, n)", {"x": "torch.rand(n, n)"}, "n = 4", {"n": "n"}, layer=True)
    assert "def __init__(self, n):" in made.glue(True)
    assert "self.layer = Layer_of_library(n)" in made.glue(True)
    assert "return [n]" in made.makers()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(x):\n    with torch.cuda.device(x.device):\n        a = 1  # kept\n        b = 2\n    return a\n",
         "def f(x):\n    a = 1  # kept\n    b = 2\n    return a\n"),
        ("def f(x):\n    if is_hip():\n        n = 16\n    else:\n        n = 32\n    return n\n",
         "def f(x):\n    n = 32\n    return n\n"),
        ("def f(x):\n    if a:\n        n = 1\n    elif is_hip():\n        n = 2\n    else:\n        n = 3\n",
         "def f(x):\n    if a:\n        n = 1\n    else:\n        n = 3\n"),
        ("def f(x):\n    if a:\n        n = 1\n    elif not is_hip():\n        n = 2\n",
         "def f(x):\n    if a:\n        n = 1\n    else:\n        n = 2\n"),
        ("n = 32 if not is_hip() else 16\n", "n = 32\n"),
        ("def f(x):\n    logger.debug('x')\n", "def f(x):\n    pass\n"),
        ("def f(x):\n    assert x.is_cuda and y\n    return x\n", "def f(x):\n    return x\n"),
        ("n = torch.cuda.get_device_properties(\n    0\n).multi_processor_count\n", "n = 132\n"),
        ("@triton.jit\ndef f(a, b):\n    if a and b:\n        m = a and not b\n",
         "@triton.jit\ndef f(a, b):\n    if a and b:\n        m = ((a) & (((b) == 0)))\n"),
        ("def f(a, b):\n    m = a and not b\n", "def f(a, b):\n    m = a and not b\n"),
        ("def f(:\n", "def f(:\n"),
        ("def f(x):\n    print(1)\n    print(2)\n", "def f(x):\n    pass\n"),
        (
            "def f(x):\n    if is_hip():\n        n = 1\n    elif a:\n        n = 2\n    else:\n        n = 3\n",
            "def f(x):\n    if a:\n        n = 2\n    else:\n        n = 3\n",
        ),
        (
            "def f(x):\n    return x\n\n\nf = triton.jit(f)\nf = triton.heuristics({'A': g})(f)\n",
            "@triton.heuristics({'A': g})\n@triton.jit\ndef f(x):\n    return x\n\n\n\n\n",
        ),
        (
            "def f(x):\n    Out = namedtuple('max', ['a'])\n    return Out(a=x)\n",
            "def f(x):\n    Out = lambda **named: tuple(named.values())\n    return Out(a=x)\n",
        ),
    ],
)  # fmt: skip
def test_what_others_need_is_left_out(before: str, after: str) -> None:
    assert reduced(before) == after


def test_a_recipe_that_names_nothing_is_counted() -> None:
    payload = {
        "files": {"a/b.py": "def f(x):\n    return x\n"},
        "library": "conch",
        "folders": ["a"],
        "replacements": {},
        "recipes": [
            {"name": "one", "kernel": "a.c:g(x)", "reference": "x", "inputs": {"x": "torch.rand(4)"}},
            {"name": "two", "kernel": "a.b:f(x)", "reference": "x", "inputs": {"x": "torch.rand(4)"}},
        ],
    }
    answer = job.cut(payload, Path())
    assert [(r["name"], r["reason"]) for r in answer["refused"]] == [
        ("one", "not in the library"), ("two", "no kernel in it"),
    ]  # fmt: skip
    assert answer["pairs"] == []

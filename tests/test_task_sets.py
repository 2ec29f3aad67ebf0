"""Sets that others published, read from local copies of the same columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from kdata.kernelbook import TASK_COLUMNS
from kdata.record import Definition, Dropped, SourceFile, Task
from sources import repositories
from sources.collect import SourceError, collect, is_remote
from sources.fetch import task_sets

PROGRAM = """import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return torch.relu(self.linear(x)) + {offset}


def get_inputs():
    return [torch.rand(16, 32)]


def get_init_inputs():
    return [32]
"""
MOCKED = """from _paritybench_helpers import _mock_config, _mock_layer
import torch
import torch.nn as nn


class Scaled(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.scale = config.scale
        self.inner = _mock_layer()

    def forward(self, x):
        return self.inner(x) * self.scale


def get_inputs():
    return [torch.rand([4, 4, 4, 4])]


def get_init_inputs():
    return [[], {'config': _mock_config(scale=3)}]
"""


def write(folder: Path, rows: list[dict[str, Any]], name: str = "data.parquet") -> Path:
    folder.mkdir(exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), folder / name)
    return folder


def kernelbook_row(**more: Any) -> dict[str, Any]:
    return {
        "entry_point": "Scaled", "python_code": MOCKED, "triton_code": "never read", "repo_name": "someone/nets",
        "module_name": "Scaled", "synthetic": False, "uuid": 1, "licenses": ["BSD-2-Clause"], "stars": 12, "sha": "a" * 40,
        "repo_link": "https://github.com/someone/nets/tree/" + "a" * 40, **more,
    }  # fmt: skip


def tasks(spec: str, limit: int | None = None) -> list[Task]:
    files = [f for f in collect(spec) if isinstance(f, SourceFile)]
    cut = [d for d in repositories.cut_step(limit).function(files) if isinstance(d, Definition)]
    return [t for t in repositories.step(limit).function(cut) if isinstance(t, Task)]


def test_helpers_that_kernelbook_forgot_are_in_the_task(tmp_path: Path) -> None:
    rows = [kernelbook_row(), kernelbook_row(repo_name="copy/cat"), kernelbook_row(python_code=None)]
    where = write(tmp_path / "KernelBook", rows)
    found = collect(f"set:kernelbook?dataset={where}&inputs=given")
    assert [d.reason for d in found if isinstance(d, Dropped)] == [
        "same program as another row",
        "no program in the row",
    ]
    (task,) = tasks(f"set:kernelbook?dataset={where}&inputs=given")
    assert (task.entry_point, task.origin.repository, task.origin.stars) == ("Scaled", "someone/nets", 12)
    assert task.origin.licenses == ("BSD-2-Clause",)
    assert task.origin.revision.startswith("a" * 40 + " KernelBook@sha256:")
    assert "_paritybench_helpers" not in task.source and "triton" not in task.source
    namespace: dict[str, Any] = {}
    exec(task.source, namespace)  # our own text
    positional, keyword = namespace["get_init_inputs"]()
    module = namespace["Scaled"](*positional, **keyword)
    assert torch.equal(module(torch.tensor([-1.0, 2.0])), torch.tensor([0.0, 6.0]))
    assert set(TASK_COLUMNS) <= set(task_sets.SETS["kernelbook"].columns)


def test_inputs_of_useful_sizes_are_found_anew(tmp_path: Path) -> None:
    where = write(tmp_path / "KernelBook", [kernelbook_row(python_code=PROGRAM.format(offset=1), entry_point="Model")])
    (task,) = tasks(f"set:kernelbook?dataset={where}", limit=1)
    assert task.origin.path == "0/Model.py"
    assert any(i.free for i in task.inputs), "an input spec, found by trying"


def test_rows_of_one_column_are_tasks_as_they_stand(tmp_path: Path) -> None:
    rows = [{"ops": "['relu']", "data_source": "torch#2", "code": PROGRAM.format(offset=i)} for i in range(6)]
    where = write(tmp_path / "ops", rows)
    found = tasks(f"set:cuda-agent?dataset={where}&limit=3&skip=2")
    assert sorted(t.source[-100:] for t in found) == sorted(PROGRAM.format(offset=i)[-100:] for i in (2, 3, 4))
    assert {t.entry_point for t in found} == {"Model"}
    assert len(tasks(f"set:cuda-agent?dataset={where}", limit=2)) == 2


def test_the_program_of_a_prompt_is_its_last(tmp_path: Path) -> None:
    prompt = (
        f"An example:\n```python\n{PROGRAM.format(offset=8)}```\nNow this:\n```python\n{PROGRAM.format(offset=9)}```\n"
    )
    rows = [
        {"prompt": [{"role": "user", "content": prompt}], "reward_model": {"style": "rule", "ground_truth": ""}},
        {"prompt": [{"role": "user", "content": "x"}], "reward_model": {"style": "rule", "ground_truth": PROGRAM.format(offset=5)}},
        {"prompt": [{"role": "user", "content": "no code"}], "reward_model": {"style": "rule", "ground_truth": "42"}},
    ]  # fmt: skip
    where = write(tmp_path / "data", rows, "rl_cuda_llm_0424.parquet")
    found = collect(f"set:cuda-llm?dataset={where}")
    assert [f.text for f in found if isinstance(f, SourceFile)] == [PROGRAM.format(offset=9), PROGRAM.format(offset=5)]
    assert [d.reason for d in found if isinstance(d, Dropped)] == ["no program in the row"]


def test_problems_of_a_benchmark_are_taken_only_if_asked_for(tmp_path: Path) -> None:
    where = write(tmp_path / "archive", [{"PyTorch_Code_Module": PROGRAM.format(offset=0), "CUDA_Code": "x"}] * 3)
    with pytest.raises(SourceError, match="holds problems of KernelBench: add allow=benchmark"):
        collect(f"set:ai-cuda-engineer?dataset={where}")
    assert len(tasks(f"set:ai-cuda-engineer?dataset={where}&allow=benchmark")) == 1, "many kernels, one problem"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("set:kernelbok", "no set 'kernelbok'; there are kernelbook,"),
        ("set:hpc-instruct", "no modules"),
        ("set:kernelbook?inputs=some", "given or found"),
        ("set:kernelbook?mentions=x", "no option mentions"),
        ("set:cuda-agent?dataset={0}", "code"),
    ],
)
def test_bad_names_say_so_in_one_line(spec: str, message: str, tmp_path: Path) -> None:
    write(tmp_path, [{"python_code": "x"}])
    with pytest.raises(SourceError, match=message) as raised:
        collect(spec.format(tmp_path))
    assert "\n" not in str(raised.value)


def test_sets_are_remote_unless_copied() -> None:
    assert is_remote("set:kernelbook")
    assert not is_remote("set:kernelbook?dataset=.")


@pytest.mark.parametrize("key", sorted(task_sets.SETS))
def test_every_set_says_where_it_is_and_under_what_licence(key: str) -> None:
    chosen = task_sets.SETS[key]
    assert chosen.dataset.count("/") == 1
    assert chosen.license and chosen.note

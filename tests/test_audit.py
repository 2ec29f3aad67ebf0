"""Other people's data: every row is judged or named with its reason, whatever is in it, and a page tells the sum."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kdata import audit, folders
from kdata.record import Candidate, Dropped, Pair, Receipt
from kdata.shards import Store
from kdata.verbs import read_all, run
from kdata.verify import reasons
from kdata.verify.step import step

KERNELS = Path(__file__).parent / "kernels"
TASK = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)

def get_inputs():
    return [torch.randn(8, 16)]

def get_init_inputs():
    return []
"""
KERNEL = """
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def relu_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, tl.where(x > 0, x, 0.0), mask=i < n)

class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        relu_kernel[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), BLOCK=64)
        return y
"""
CONSTRUCTOR = "    def __init__(self, width):\n        super().__init__()\n\n    def forward"
CUDA = "from torch.utils.cpp_extension import load_inline\nSOURCE = '__global__ void relu() {}'\nclass ModelNew: pass\n"
# What a row may hold, and what becomes of it: the task's text, the candidate's, the reason.
ROWS: dict[str, tuple[object, object, str]] = {
    "good": (TASK, KERNEL, ""),
    "wrong": (TASK, KERNEL.replace("x, 0.0)", "x * 1.1, 0.0)"), reasons.WRONG),
    "not Python": (TASK, "class ModelNew(:", reasons.NOT_PYTHON),
    "ten megabytes": (TASK, KERNEL + "# x\n" * 2_600_000, reasons.TOO_LONG),
    "no ModelNew": (TASK, KERNEL.replace("ModelNew", "Relu"), reasons.NO_MODEL_NEW),
    "other constructor": (TASK, KERNEL.replace("    def forward", CONSTRUCTOR), reasons.CONSTRUCTOR),
    "absent package": (TASK, "import flash_attention_of_mars\n" + KERNEL, reasons.ABSENT_PACKAGE),
    "no get_inputs": (TASK.replace("get_inputs", "inputs"), KERNEL, reasons.BAD_TASK),
    "task is not Python": ("class Model(:", KERNEL, reasons.BAD_TASK),
    "no task": (None, KERNEL, reasons.BAD_TASK),
    "no kernel": (TASK, None, reasons.NO_MODEL_NEW),
    "null byte": (TASK, KERNEL + "\0", reasons.NOT_PYTHON),
    "number too long": (TASK, KERNEL + f"\nLONG = {hex(1 << 20000)}\n", reasons.NOT_PYTHON),
    "cuda": (TASK, CUDA, reasons.NO_GPU),
}


def judged(path: Path, out: Path) -> tuple[dict[str, str], str]:
    """The reason for each candidate by its name in the data, and the page."""
    made = run(step(targets=(), seeds=1, variants=2, timeout=20.0), read_all([str(path)], Candidate), str(out), 50, 1)
    store = Store(str(out))
    found = {p.task.symbol: "" for m in made for p in store.read(m.name, Pair)}
    found |= {d.pair.task.symbol: d.reason for m in made for d in store.read_dropped(m.name) if d.pair}
    return found, Path(audit.write(str(out), made)).read_text()


def check(found: dict[str, str], page: str, wanted: dict[str, str]) -> None:
    assert found == wanted
    assert page.startswith(f"# {len(wanted)} candidates before kdata's judge, at screen level")
    counts = Counter(wanted.values())
    assert f"| verified | {counts['']} |" in page
    assert all(f"| {reason} | {count} |" in page for reason, count in counts.items() if reason)


def test_rows_in_kernelbooks_columns(tmp_path: Path) -> None:
    rows = [{"python_code": task, "triton_code": kernel, "entry_point": "Model", "module_name": name}
            for name, (task, kernel, _) in ROWS.items()]  # fmt: skip
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "book.parquet")
    wanted = {name: reason for name, (_, _, reason) in ROWS.items()}
    check(*judged(tmp_path / "book.parquet", tmp_path / "out"), wanted)


def test_a_dataset_folder_is_read_as_its_card_says(tmp_path: Path) -> None:
    """What lies beside the rows, as what was dropped from them does, is none of its candidates."""
    folder, row = tmp_path / "set", {"python_code": TASK, "triton_code": KERNEL, "entry_point": "Model"}
    for name, column in (
        ("data/train-0.parquet", row),
        ("data/test-0.parquet", row),
        ("dropped/a.parquet", {"why": ""}),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist([column]), folder / name)
    split = "- config_name: dropped\n  data_files: dropped/*\n- config_name: default\n  data_files:\n"
    card = f"---\nlicense: mit\nconfigs:\n{split}  - split: train\n    path: data/train-*\n---\n"
    (folder / "README.md").write_text(card)
    assert len(read_all([str(folder)], Candidate)) == 1
    (folder / "README.md").write_text(card.replace("data/train-*", "data/*"))
    assert len(read_all([str(folder)], Candidate)) == 2
    for wrong in ("configs: 3", "configs: [a"):
        (folder / "README.md").write_text(f"---\nlicense: mit\n{wrong}\n---\n")
        with pytest.raises(ValueError, match=r"the head of .*README\.md names no data"):
            read_all([str(folder)], Candidate)


def test_rows_of_kernelbenchs_problems_and_answers(tmp_path: Path) -> None:
    rows = [{"name": name, "level": 1, "code": t, "kernel": k} for name, (t, k, _) in ROWS.items()]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "bench.parquet")
    wanted = {f"level1/{name}": reason for name, (_, _, reason) in ROWS.items()}
    check(*judged(tmp_path / "bench.parquet", tmp_path / "out"), wanted)


def test_a_folder_of_files(tmp_path: Path) -> None:
    files = {
        "both.py": TASK + KERNEL,  # one file
        "relu.py": TASK, "relu_triton.py": KERNEL, "relu_wrong.py": str(ROWS["wrong"][1]),  # by name
        "ref/level_1_problem_2.py": TASK, "run/level_1_problem_2_sample_0_kernel.py": KERNEL,  # in another folder
        "pair/reference.py": TASK, "pair/solution.py": KERNEL,  # the only task there
        "alone/task.py": TASK, "orphan/candidate.py": KERNEL, "noise/notes.py": "not Python :",
    }  # fmt: skip
    for name, text in files.items():
        file = tmp_path / "files" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (tmp_path / "files" / "broken.py").write_bytes(b"class ModelNew:\n    x = '\xff\xfe\0'\n")
    wanted = {
        "both.py": "", "relu_triton.py": "", "relu_wrong.py": reasons.WRONG,
        "run/level_1_problem_2_sample_0_kernel.py": "", "pair/solution.py": "",
        "alone/task.py": reasons.NO_MODEL_NEW, "orphan/candidate.py": reasons.BAD_TASK,
        "noise/notes.py": reasons.NOT_PYTHON, "broken.py": reasons.NOT_PYTHON,
    }  # fmt: skip
    check(*judged(tmp_path / "files", tmp_path / "out"), wanted)


def test_the_longest_name_is_the_partner(tmp_path: Path) -> None:
    for name, text in {"a.py": TASK, "a_b.py": TASK.replace("relu", "tanh"), "a_b_new.py": KERNEL}.items():
        (tmp_path / name).write_text(text)
    found = {c.task.symbol: c.task.source for c in folders.candidates(str(tmp_path))}
    assert "tanh" in found["a_b_new.py"]
    assert set(found) == {"a_b_new.py", "a.py"}


def test_a_file_by_itself(tmp_path: Path) -> None:
    (tmp_path / "both.py").write_text(TASK + KERNEL)
    (candidate,) = read_all([str(tmp_path / "both.py")], Candidate)
    assert "ModelNew" not in candidate.task.source
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match=r"no parquet files and no \.py files"):
        read_all([str(tmp_path / "empty")], Candidate)


def test_nothing_in_a_candidates_words_breaks_the_page() -> None:
    receipt = Receipt("1", "rejected", reasons.RAISES, "a | b\n# c <img src=x> `d`")
    (candidate,) = folders.candidates(str(KERNELS / "good_relu.py"))
    page = audit.render(
        [], [Dropped("verify", "1", receipt.reason, receipt.detail, "n", pair=Pair(candidate, receipt))]
    )
    (row,) = [line for line in page.splitlines() if reasons.RAISES in line]
    assert row.endswith("| n: a \\| b # c &lt;img src=x> 'd' |")
    assert "<img" not in page

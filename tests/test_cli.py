"""The command line: every verb alone, on real files; bad input gives one line and a status, never a traceback."""

from __future__ import annotations

import errno
import json
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import factories
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from filelock import FileLock

from filters import chain
from kdata import cli, kernelbook, server
from kdata.publish import read_dataset, write_dataset
from kdata.record import Pair, Task
from kdata.shards import Store
from kdata.step import Step
from kdata.task import TaskError
from kdata.terminal import line_of
from kdata.verbs import read_all

DATA = Path(__file__).parent / "data" / "modules"
RELU = """import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x) + 1.0


def get_inputs():
    return [torch.rand(4, 33)]


def get_init_inputs():
    return []
"""
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def kdata(kdata_command: list[str], environment: dict[str, str], tmp_path: Path) -> Run:
    def run(*arguments: object, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*kdata_command, *map(str, arguments)], env=environment | more, cwd=tmp_path,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)  # fmt: skip

    return run


@pytest.fixture
def relu(tmp_path: Path) -> Path:
    path = tmp_path / "relu.py"
    path.write_text(RELU)
    return path


def test_help_is_fast_and_complete(kdata: Run) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = kdata("--help")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime  # others' work is not in it
    assert done.returncode == 0
    for verb in ("build", "serve", "mine", "align", "verify", "filter", "dedup", "publish", "report", "show"):
        assert f" {verb} " in done.stdout
        assert "Example" in kdata(verb, "--help").stdout, f"{verb} shows no example"
    assert seconds < 3, "the command line starts slowly"  # below 1 s on a quiet machine


def test_build_options_are_the_flow_s_parameters(kdata: Run) -> None:
    from flows.build_options import BuildOptions

    shown = kdata("build", "--help", COLUMNS="200").stdout
    for name in BuildOptions.model_fields:
        assert f"--{name.replace('_', '-')} " in shown


def test_align_then_verify_one_file(kdata: Run, relu: Path, tmp_path: Path) -> None:
    made = kdata("align", "--task", relu, "--out", "k.py")
    assert made.returncode == 0, made.stderr
    assert "class ModelNew" in (tmp_path / "k.py").read_text()
    good = kdata("verify", "--task", relu, "--kernel", "k.py", "--json", "--targets", "")
    assert good.returncode == 0, good.stderr
    receipt = json.loads(good.stdout)
    assert receipt["verdict"] == "verified"
    assert receipt["trials"]
    assert receipt["effort"] == "trust"  # of one pair more is asked than of many
    (tmp_path / "wrong.py").write_text((tmp_path / "k.py").read_text().replace("1.0", "1.5"))
    wrong = kdata("verify", "--task", relu, "--kernel", "wrong.py", "--targets", "")
    assert wrong.returncode == 1
    assert wrong.stdout.startswith("rejected: ")
    none = kdata("verify", "--task", relu, "--kernel", "none.py")
    assert none.returncode == 2
    both = kdata("verify", "folder", "--task", relu, "--kernel", relu)
    assert both.returncode == 2 and "one pair" in both.stderr and len(both.stderr.splitlines()) == 1
    one_line(none, "none.py")
    unknown = kdata("verify", "--task", relu, "--kernel", "k.py", "--targets", "sm_1")
    assert unknown.returncode == 2
    one_line(unknown, "sm_1")


def test_the_verbs_in_a_row(kdata: Run, tmp_path: Path) -> None:
    mined = kdata("mine", DATA, "--limit", 2, "--out", "tasks")
    assert mined.returncode == 0, mined.stderr
    assert "Mined" in mined.stdout and "runnable" in mined.stdout
    index = [json.loads(line) for line in (tmp_path / "tasks/index.jsonl").read_text().splitlines()]
    assert len(index) == 2
    assert all((tmp_path / "tasks" / entry["file"]).is_file() for entry in index)
    for call in (
        ("align", "tasks", "--out", "aligned"),
        ("verify", "aligned", "--out", "verified", "--targets", "", "--seeds", 1),
        ("filter", "verified", "--out", "filtered"),
        ("dedup", "filtered", "--out", "unique"),
    ):
        done = kdata(*call)
        assert done.returncode == 0, done.stderr
        again = kdata(*call)
        assert again.stdout == done.stdout, "a rerun is not a resume"
    done = kdata("publish", "unique", "--out", "dataset")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "dataset/README.md").is_file()
    one_line(kdata("publish", "dataset", "--out", "again"), "kdata publish dataset --to OWNER/NAME uploads it")
    pair = read_dataset(str(tmp_path / "dataset"))[0]
    shown = kdata("show", pair.id[:12], "--in", "dataset")
    assert shown.returncode == 0, shown.stderr
    assert pair.task.entry_point in shown.stdout


def test_tasks_from_a_folder_of_files(relu: Path, tmp_path: Path) -> None:
    (task,) = read_all([str(tmp_path)], Task)
    assert (task.source, task.entry_point, task.origin.path) == (RELU, "Model", "relu.py")


def test_a_file_of_a_folder_that_is_no_task_ends_nothing(relu: Path, tmp_path: Path) -> None:
    (tmp_path / "helpers.py").write_text("def (")
    other, task = read_all([str(tmp_path)], Task)
    assert (other.source, task.source) == ("def (", RELU)
    with pytest.raises(TaskError, match=r"helpers\.py: the task is not Python"):
        read_all([str(tmp_path / "helpers.py")], Task)


def test_a_task_that_two_shards_hold_is_read_once(tmp_path: Path) -> None:
    def ours(tasks: Sequence[Task]) -> Sequence[Task]:
        return tasks

    tasks = list(dict.fromkeys(pair.task for pair in factories.pairs()[:5]))
    for limit in (3, 5):  # as `kdata mine --limit` makes them, run twice
        Step("mine", "1", Task, Task, ours, {"limit": limit}).run_on(Store(str(tmp_path)), tasks[:limit])
    assert sorted(t.id for t in read_all([str(tmp_path)], Task)) == sorted(t.id for t in tasks)


def test_a_folder_of_several_stages_gives_what_the_last_one_kept(tmp_path: Path) -> None:
    """One folder for all verbs: what the filter dropped must not come back through the shards that it read."""
    store = Store(str(tmp_path))
    made = [*factories.pairs()[:3], factories.relicensed(factories.pairs()[3], "GPL-3.0-only")]
    Step("verify", "1", Pair, Pair, lambda pairs: pairs).run_on(store, made)
    filtered = chain.step().run_on(store, read_all([str(tmp_path)], Pair, "filter"))
    assert (filtered.kept, filtered.dropped) == (3, 1)
    assert chain.step().run_on(store, read_all([str(tmp_path)], Pair, "filter")).name == filtered.name, "no resume"
    assert read_all([str(tmp_path)], Pair, "dedup") == read_all([str(tmp_path)], Pair) == list(made[:3])
    assert len(read_all([str(tmp_path / "verify"), str(tmp_path / "filter")], Pair)) == 7


def test_kernelbook_s_columns_are_understood(tmp_path: Path) -> None:
    row = {"python_code": RELU.replace("Model", "Plus"), "entry_point": "Plus", "triton_code": "class PlusNew:\n    pass\n",
           "repo_name": "a/b", "licenses": ["MIT"], "stars": 3, "sha": "abc", "repo_link": "https://x"}  # fmt: skip
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "kb.parquet")
    (task,) = read_all([str(tmp_path / "kb.parquet")], Task)
    assert (task.entry_point, task.origin.repository, task.origin.licenses) == ("Plus", "a/b", ("MIT",))
    candidate = kernelbook.candidate(row)
    assert candidate.source.endswith("ModelNew = PlusNew\n")
    assert candidate.task == task


def one_line(done: subprocess.CompletedProcess[str], words: str) -> None:
    last = done.stderr.strip().splitlines()
    assert len(last) == 1, done.stderr
    assert last[0].startswith("kdata: ")
    assert words in last[0]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (("align", "--task", "none.py"), "none.py"),
        (("align", "--task", "text.txt"), "not Python"),
        (("align", "nowhere", "--out", "o"), "there is no nowhere"),
        (("align", "empty", "--out", "o"), "no parquet files"),
        (("align",), "name what to read"),
        (("verify", "text.parquet", "--out", "o"), "not a parquet file"),
        (("verify", "other.parquet", "--out", "o"), "python_code, entry_point, triton_code"),
        (("verify", "other.parquet", "--out", "o", "--targets", "sm_1"), "sm_1"),
        (("filter", "other.parquet", "--out", "o"), "lacks the columns candidate, receipt"),
        (("mine", "nowhere", "--out", "o"), "nowhere"),
        (("build", "--limit", "0"), "--limit"),
        (("build", "--targets", "sm_1"), "sm_1"),
        (("build", "--problems", "nowhere"), "nowhere"),
        (("build", "--publish-to", "a/b"), "HF_TOKEN"),
        (("publish", "nowhere", "--out", "o", "--to", "a/b"), "HF_TOKEN"),
        (("publish", "nowhere", "--out", "o"), "nowhere"),
        (("publish", "other.parquet"), "--out FOLDER"),
        (("report", "empty"), "no finished build"),
        (("build", "--require-isolation", "walls"), "--require-isolation: unknown guard"),
        (("build", "--ray-address", "ray://x"), "--ray-address: a cluster is used by --runner ray only"),
        (("show", "abc", "--in", "nowhere"), "nowhere"),
        (("eval", "--model", "m", "--path", "p", "--language", "cuda", "--device", "cpu"), "use --device cuda"),
        (("eval",), "--path and --model must be given"),
        (("align", "--task", "empty"), "empty is a folder: name a file"),
        (("align", "--task", "text.txt", "--out", "empty"), "empty is a folder: name a file"),
        (("align", "bytes.py", "--out", "o"), "bytes.py: the task is not Python: "),
        (("align", "shards", "--out", "o"), "shards holds no tasks, but pairs (for kdata filter, dedup and publish)"),
        (("verify", "other.parquet", "--json", "--out", "o"), "--json is of one pair"),
        (("verify", "other.parquet", "--out", "text.txt/o"), "text.txt is a file: name a folder"),
        (("mine", "empty", "--out", "text.txt"), "text.txt is a file: name a folder"),
        (("mine", "text.txt", "--out", "o"), "text.txt is no Python file"),
        (("pairs", "liger-kernel", "--out", "text.txt"), "text.txt is a file: name a folder"),
        (("build", "--sources", "empty", "--out", "text.txt"), "text.txt is a file: name a folder"),
        (("publish", "nowhere"), "there is no nowhere"),
    ],
    ids=lambda v: " ".join(map(str, v)) if isinstance(v, tuple) else "",
)
def test_bad_input_is_one_line(kdata: Run, tmp_path: Path, call: tuple[str, ...], words: str) -> None:
    (tmp_path / "text.txt").write_text("no ) python")
    (tmp_path / "bytes.py").write_bytes(b"\0\xe1")
    Step("verify", "1", Pair, Pair, list).run_on(Store(str(tmp_path / "shards")), factories.pairs()[:1])
    (tmp_path / "text.parquet").write_text("no")
    (tmp_path / "empty").mkdir()
    pq.write_table(pa.table({"a": [1]}), tmp_path / "other.parquet")
    done = kdata(*call, HF_TOKEN="")
    assert done.returncode == 1
    one_line(done, words)


def test_a_folder_takes_one_build_at_a_time(kdata: Run, tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    with FileLock(tmp_path / "taken" / ".lock"):
        done = kdata("build", "--sources", "empty", "--out", "taken")
    assert done.returncode == 1
    one_line(done, "another run is at work in taken: wait for it")


def test_a_receipt_goes_into_no_folder(kdata: Run, relu: Path) -> None:
    done = kdata("verify", "--task", relu, "--kernel", relu, "--out", "o")
    assert done.returncode == 2
    one_line(done, "leave out what else is to be judged, and --out")


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "no space is left on the disk: make room, and "),
        (PermissionError(errno.EROFS, "Read-only file system", "/ro/x"), "/ro/x: the disk is read-only"),
        (FileNotFoundError(errno.ENOENT, "No such file or directory", "x.py"), "there is no x.py"),
        (FileNotFoundError("there is no\n x"), "there is no x"),
        (OSError(errno.EIO, "Input/output error", "x"), "[Errno 5] Input/output error: 'x'"),
        (ValueError(), "ValueError"),
    ],
    ids=repr,
)
def test_errors_of_the_disk_tell_what_to_do(error: Exception, line: str) -> None:
    assert line_of(error).startswith(line)


def test_a_set_is_kept_apart_from_a_benchmark(kdata: Run, tmp_path: Path) -> None:
    made = factories.pairs()[:6]
    write_dataset(made, [], str(tmp_path / "set"), lambda info: "")
    (tmp_path / "bench/level1").mkdir(parents=True)
    (tmp_path / "bench/level1/1_Copy.py").write_text(made[0].task.source)
    leaks = kdata("publish", "set/data", "--problems", "bench", "--out", "again")
    assert leaks.returncode == 1
    assert "1 pairs leak problems, drop them first" in leaks.stderr and "level1/1_Copy" in leaks.stderr
    done = kdata("dedup", "set", "--problems", "bench", "--out", "unique")
    assert done.returncode == 0, done.stderr
    assert "5 kept, 1 dropped (benchmark problem, same program 1)" in done.stdout
    assert kdata("publish", "unique", "--problems", "bench", "--out", "clean").returncode == 0
    assert len(read_dataset(str(tmp_path / "clean"))) == 5
    assert "pairs that leak a problem were dropped" in (tmp_path / "clean/README.md").read_text()


def test_a_server_that_does_not_answer_is_told_in_one_line(kdata: Run) -> None:
    done = kdata("build", "--sources", "nowhere", PREFECT_API_URL="http://127.0.0.1:9/api")
    assert done.returncode == 1
    one_line(done, "no Prefect server answers at PREFECT_API_URL=http://127.0.0.1:9/api")


def test_a_server_that_starts_is_told_of(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    with pytest.raises(server.ServerError, match="ended at once"), server.server("http://127.0.0.1:9/api"):
        pass
    assert capsys.readouterr().err == "kdata: starting a Prefect server at http://127.0.0.1:9/api\n"


def test_no_flow_run_at_once_is_refused(kdata: Run) -> None:
    assert kdata("serve", "--limit", 0).returncode == 2


def test_ctrl_c_says_that_nothing_is_lost(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted() -> None:
        raise SystemExit(130)

    monkeypatch.setattr(cli, "app", interrupted)
    with pytest.raises(SystemExit):
        cli.main()
    assert capsys.readouterr().err == "kdata: stopped. The same command goes on from what was finished.\n"


def test_an_unknown_option_is_no_traceback(kdata: Run) -> None:
    done = kdata("build", "--runner", "spark")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "'threads'" in done.stderr

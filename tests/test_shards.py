"""Records come back from shards as they went in; a shard is whole or absent; a stage resumes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kdata import record
from kdata.record import Build, Candidate, Check, Dropped, Input, Origin, Pair, Receipt, SourceFile, Task, Trial
from kdata.sandbox.worker import ROOT
from kdata.shards import Manifest, Store, read
from kdata.step import Step

ORIGIN = Origin("pypi", "näme", "1.0 sha256:00", "a/b.py", ("MIT", "Apache-2.0"), "https://x", 12)
TASK = Task.make("class Model: ...\n", "Model", ORIGIN, symbol="a.b", inputs=(
    Input("x", "float32", (2, 3), (True, False), -1.5, None), Input("n", "", (), ())))  # fmt: skip
CANDIDATE = Candidate.make(TASK, "class ModelNew: ...\n", "triton", "inductor", ops=("aten.relu",), reasoning="because")
TRIAL = Trial("n=7", "float32[7]", 0, "float32", 1e-7, 2e-7, 1e-8, 1e-8, 1e-6, 1e-5, True)
RECEIPT = Receipt(
    CANDIDATE.id, "rejected", "wrong values", "x", (Check("runs", True),), (TRIAL,), ("k",),
    (Build("k", "sm_90", 12, None, 0), Build("k", "gfx942", None, None, None, "no")), versions=("torch 2",),
)  # fmt: skip
DROPPED = Dropped("mine", "id", "does not parse", "line 3", "näme a.b", "def")
RECORDS = [SourceFile(ORIGIN, "text\n"), TASK, CANDIDATE, RECEIPT, Pair(CANDIDATE, RECEIPT), DROPPED]


def manifest(name: str, **more: Any) -> Manifest:
    return Manifest(**{
        "name": name, "stage": "s", "kind": "", "kept": 1, "dropped": 0, "reasons": {}, "inputs": [], "parameters": {},
        "seconds": 0.0, **more,
    })  # fmt: skip


@pytest.mark.parametrize("value", RECORDS, ids=lambda r: type(r).__name__)
@pytest.mark.parametrize("root", ["folder", "memory"])
def test_round_trip(value: Any, root: str, tmp_path: Path) -> None:
    store = Store(str(tmp_path) if root == "folder" else f"memory://{tmp_path.name}")
    store.write(type(value), [value, value], [DROPPED], manifest("s/one", kept=2, dropped=1, reasons={"a": 1}))
    assert store.read("s/one", type(value)) == [value, value]
    assert store.read_dropped("s/one") == [DROPPED]
    assert store.manifest("s/one") == manifest("s/one", kept=2, dropped=1, reasons={"a": 1})
    assert [m.name for m in store.manifests("s")] == ["s/one"]


def test_a_manifest_counts_what_is_written(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    made = store.make("s/one", "s", Task, [TASK, TASK], [DROPPED], {"seed": 1}, time.monotonic(), ["r/two"])
    assert (made.kind, made.kept, made.dropped, made.reasons) == ("Task", 2, 1, {DROPPED.reason: 1})
    assert (made.inputs, made.parameters) == (["r/two"], {"seed": 1})
    assert store.manifest("s/one") == made


@pytest.mark.parametrize("kind", [type(r) for r in RECORDS])
def test_an_empty_shard_keeps_its_columns(kind: type, tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    store.write(kind, [], [], manifest("s/none", kept=0))
    assert store.read("s/none", kind) == []
    assert pq.read_schema(tmp_path / "s/none.parquet").names == [f.name for f in fields(kind)]


def test_shards_are_the_same_bytes_each_time(tmp_path: Path) -> None:
    for name in ("a", "b"):
        Store(str(tmp_path / name)).write(Task, [TASK], [], manifest("s/x"))
    assert (tmp_path / "a/s/x.parquet").read_bytes() == (tmp_path / "b/s/x.parquet").read_bytes()


def test_bad_files_have_one_clear_reason(tmp_path: Path) -> None:
    (tmp_path / "text.parquet").write_text("no")
    with pytest.raises(ValueError, match="not a parquet file"):
        read(str(tmp_path / "text.parquet"), Task)
    pq.write_table(pa.table({"id": ["a"], "source": ["b"]}), tmp_path / "other.parquet")
    with pytest.raises(ValueError, match="lacks the columns entry_point, origin"):
        read(str(tmp_path / "other.parquet"), Task)
    with pytest.raises(FileNotFoundError):
        read(str(tmp_path / "none.parquet"), Task)


def test_ids_ignore_layout_and_see_code() -> None:
    same = Task.make("class Model:   # a comment\n\n    ...\n", "Model", ORIGIN)
    assert record.normalise("if x:\n  y\nz") != record.normalise("if x:\n  y\n  z")
    assert Task.make("class Model:\n  ...\n", "Model", ORIGIN).id == same.id
    assert Task.make("class Model:\n  pass\n", "Model", ORIGIN).id != same.id


def double(seen: list[int]) -> Step[Task, Task]:
    """A stage that keeps tasks with even names, drops the rest, and counts how often it ran."""

    def function(tasks: Sequence[Task]) -> Iterator[Task | Dropped]:
        seen.append(len(tasks))
        for task in tasks:
            even = int(task.symbol) % 2 == 0
            yield task if even else Dropped("double", task.id, "odd")

    return Step("double", "1", Task, Task, function, {"p": 1})


def numbered(count: int) -> list[Task]:
    return [Task.make(f"x = {i}", "Model", ORIGIN, symbol=str(i)) for i in range(count)]


def test_a_stage_accounts_for_every_record_and_resumes(tmp_path: Path) -> None:
    store, seen = Store(str(tmp_path)), []
    store.write(Task, numbered(5), [], manifest("mine/a", kept=5))
    first = double(seen).run(store, ["mine/a"])
    assert (first.kept, first.dropped, first.reasons, first.inputs) == (3, 2, {"odd": 2}, ["mine/a"])
    assert double(seen).run(store, ["mine/a"]) == first
    assert seen == [5], "a finished shard was done again"
    store.write(Task, numbered(2), [], manifest("mine/b", kept=2))
    assert double(seen).run(store, ["mine/a", "mine/b"]).name != first.name
    assert seen == [5, 7]


def test_records_under_another_licence_are_done_again(tmp_path: Path) -> None:
    """Their texts, and so their ids, are the same; what is published of them is not."""
    store, seen, tasks = Store(str(tmp_path)), [], numbered(2)
    double(seen).run_on(store, tasks)
    other = [replace(t, origin=replace(ORIGIN, licenses=("GPL-3.0-only",))) for t in tasks]
    made = double(seen).run_on(store, other)
    assert seen == [2, 2]
    assert store.read(made.name, Task)[0].origin.licenses == ("GPL-3.0-only",)


def test_names_follow_all_that_decides_them() -> None:
    base = double([])
    names = {base.output(["a"]), base.output(["b"]), base.output(["a", "b"])}
    for change in ({"version": "2"}, {"parameters": {"p": 2}}, {"name": "other"}):
        names.add(Step(**{f.name: getattr(base, f.name) for f in fields(Step)} | change).output(["a"]))
    assert len(names) == 6


def test_an_unfinished_shard_is_done_again(tmp_path: Path) -> None:
    store, seen = Store(str(tmp_path)), []
    store.write(Task, numbered(3), [], manifest("mine/a", kept=3))
    name = double(seen).run(store, ["mine/a"]).name
    (tmp_path / f"{name}.json").unlink()
    (tmp_path / f"{name}.parquet").write_text("half a fi")
    assert double(seen).run(store, ["mine/a"]).kept == 2
    assert seen == [3, 3]
    assert len(store.read(name, Task)) == 2


def test_a_failing_stage_leaves_no_shard(tmp_path: Path) -> None:
    def function(tasks: Sequence[Task]) -> Iterator[Task]:
        yield tasks[0]
        raise RuntimeError("broken")

    store = Store(str(tmp_path))
    store.write(Task, numbered(3), [], manifest("mine/a", kept=3))
    step = Step("fails", "1", Task, Task, function)
    with pytest.raises(RuntimeError):
        step.run(store, ["mine/a"])
    assert store.manifest(step.output(["mine/a"])) is None


def test_threads_may_write_at_once(tmp_path: Path) -> None:
    store = Store(str(tmp_path))

    def write(i: int) -> None:
        store.write(Task, numbered(i), [], manifest(f"s/{i:03}", kept=i))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(write, range(60)))
    assert [len(store.read(f"s/{i:03}", Task)) for i in range(60)] == list(range(60))
    assert not [p for p in (tmp_path / "s").iterdir() if p.name.startswith(".")]


def test_a_killed_writer_leaves_whole_shards_only(tmp_path: Path) -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[2] + '/tests')\n"
        "from test_shards import numbered, manifest\n"
        "from kdata.record import Task\n"
        "from kdata.shards import Store\n"
        "tasks = numbered(300)\n"
        "for i in range(10**6):\n"
        "    Store(sys.argv[1]).write(Task, tasks, [], manifest(f's/{i:04}', kept=300))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    writer = subprocess.Popen([sys.executable, "-c", code, str(tmp_path), str(ROOT)], env=environment)
    ends = time.monotonic() + 60
    while not (tmp_path / "s/0003.json").exists() and time.monotonic() < ends:
        time.sleep(0.05)
    os.kill(writer.pid, signal.SIGKILL)
    writer.wait()
    store = Store(str(tmp_path))
    finished = store.manifests("s")
    assert len(finished) >= 4
    assert all(len(store.read(m.name, Task)) == m.kept for m in finished)

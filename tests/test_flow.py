"""The flow: every shard is made once, in any order, on any runner, through kills, with the same rows at the end."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from flows import stages
from flows.build_options import BuildOptions
from flows.finish import BuildError, Outcome, finish
from flows.kernelbook import UNCHECKED, Build, label
from flows.runners import retrying
from flows.stages import ALIGN, CHAIN, COLLECT, CUT, DIVERSITY, LEAKAGE, MINE, VERIFY, Job, store
from kdata.progress import Progress
from kdata.record import Candidate, Dropped, Origin, Pair, Receipt, SourceFile, Task, digest
from kdata.server import private_server
from kdata.shards import Manifest
from kdata.statistics import PIPELINE
from kdata.step import Step
from sources.collect import SourceError

DATA = Path(__file__).parent / "data" / "modules"


class Silent:
    """A watcher that remembers."""

    def __init__(self) -> None:
        self.messages: list[str] = []
        self.last: Progress | None = None

    def update(self, progress: Progress) -> None:
        self.last = progress

    def log(self, message: str, failed: bool = False) -> None:
        self.messages.append(("! " if failed else "") + message)


KINDS = {
    COLLECT: SourceFile,
    CUT: SourceFile,
    MINE: Task,
    ALIGN: Candidate,
}  # what each stage makes; the others make pairs


def tiny(stage: str, part: int) -> Step[Any, Any]:
    """A stage over real shards whose work is trivial: every third task is dropped on the way."""

    def function(records: Sequence[Any]) -> Iterator[Any]:
        for i, record in enumerate(records):
            if stage == MINE:
                text = f"x = {part}{i}  # {record.origin.repository}"
                yield Task.make(
                    f"{text}\ny = {record.origin.repository!r}", "Model", record.origin, symbol=f"{part}{i}"
                )
            elif stage == ALIGN and int(record.symbol) % 3 == 0:
                yield Dropped(stage, record.id, "divisible")
            elif stage == ALIGN:
                yield Candidate.make(record, f"y = {record.symbol}", "triton", "test")
            elif stage == VERIFY:
                yield Pair(record, Receipt(record.id, "verified", ""))
            else:
                yield record

    takes = KINDS.get(PIPELINE[PIPELINE.index(stage) - 1], Pair)
    return Step(stage, "1", takes, KINDS.get(stage, Pair), function, {"part": part})


class Tiny:
    """Runs the tiny stages in threads, slow and fast ones mixed; sources and stages may be told to fail."""

    def __init__(self, fail: Callable[[Job], bool] = lambda job: False, seed: int = 0) -> None:
        self.threads, self.fail, self.random = ThreadPoolExecutor(4), fail, random.Random(seed)
        self.ran: list[Job] = []

    def submit(self, options: BuildOptions, job: Job, label: str) -> Future[Manifest]:
        return self.threads.submit(self.work, options, job, self.random.random() / 50)

    def work(self, options: BuildOptions, job: Job, pause: float) -> Manifest:
        time.sleep(pause)
        self.ran.append(job)
        if self.fail(job):
            raise RuntimeError(f"no {job.source}\nsecond line")
        if job.stage != COLLECT:
            return tiny(job.stage, job.part).run(store(options.out), job.inputs)
        name = f"{COLLECT}/{digest(job.source)}"
        manifest = Manifest(name, COLLECT, "SourceFile", 3, 0, {}, [], {"source": job.source, "revisions": ["r"]}, 0.0)
        files = [SourceFile(Origin("test", job.source, "r", f"{i}.py"), "") for i in range(3)]
        store(options.out).write(SourceFile, files, [], manifest)
        return manifest


def options(out: Path, **more: Any) -> BuildOptions:
    return BuildOptions(**{"sources": ["a", "b", "c"], "out": str(out), "limit": 6, "shard_size": 2, **more})


def test_every_shard_is_made_and_counted(tmp_path: Path) -> None:
    watcher, runner = Silent(), Tiny()
    build = Build(options(tmp_path), runner, watcher)
    published = build.run()
    assert published is not None
    assert len(runner.ran) == len(set(runner.ran)) == 3 + 3 + 3 * 3 * len(CHAIN) + 2
    assert len(build.made()) == len(runner.ran)
    assert watcher.last is not None
    assert watcher.last.fraction() == 1
    rows = store(build.options.out).read(published.name, Pair)
    assert len(rows) == published.kept == sum(m.kept for m in build.made() if m.stage == "filter")
    assert "mine a 1/3: 3 kept, 0 dropped" in watcher.messages
    outcome = finish(build, published)
    assert [row["stage"] for row in outcome.funnel] == [s for s in PIPELINE if s != LEAKAGE]
    assert UNCHECKED in watcher.messages
    assert UNCHECKED in outcome.line()
    assert json.loads((tmp_path / "options.json").read_text()) == build.options.model_dump()
    assert json.loads((tmp_path / "sources.lock.json").read_text())["a"]["revisions"] == ["r"]


def test_the_order_of_work_decides_nothing(tmp_path: Path) -> None:
    made = []
    for seed in range(3):
        build = Build(options(tmp_path / str(seed)), Tiny(seed=seed), Silent())
        build.run()
        made.append([m.name for m in build.made()])
    assert made[0] == made[1] == made[2]


def test_a_failed_source_stops_nothing(tmp_path: Path) -> None:
    watcher = Silent()
    build = Build(options(tmp_path), Tiny(lambda job: job.stage == COLLECT and job.source == "b"), watcher)
    published = build.run()
    assert published is not None
    assert [(f.job.source, f.message) for f in build.failures] == [("b", "no b second line")]
    assert watcher.last is not None
    assert watcher.last.fraction() == 1
    outcome = finish(build, published)
    outcome.check()
    assert outcome.line().endswith("1 failed: collect b: no b second line")


def test_a_failed_shard_is_an_error_and_is_tried_again(tmp_path: Path) -> None:
    broken = Build(options(tmp_path), Tiny(lambda job: job.stage == "verify" and job.part == 1), Silent())
    outcome = finish(broken, broken.run())
    with pytest.raises(BuildError, match="3 shards could not be made"):
        outcome.check()
    again = Build(options(tmp_path), Tiny(), Silent())
    finish(again, again.run()).check()
    unbroken = Build(options(tmp_path / "other"), Tiny(), Silent())
    unbroken.run()
    assert [m.name for m in again.made()] == [m.name for m in unbroken.made()]


def test_what_was_dropped_last_is_told_where_nothing_is_left(tmp_path: Path) -> None:
    rows = [{"stage": "verify", "dropped": 1, "reasons": "wrong result 1"},
            {"stage": "filter", "dropped": 2, "reasons": "no licence found 2"},
            {"stage": "dedup", "dropped": 0, "reasons": ""}]  # fmt: skip
    with pytest.raises(BuildError, match=r"filter dropped the last 2 \(no licence found 2; a file LICENSE"):
        Outcome(str(tmp_path), 0, rows, []).check()


def test_nothing_to_publish_is_an_error(tmp_path: Path) -> None:
    build = Build(options(tmp_path), Tiny(lambda job: job.stage == COLLECT), Silent())
    published = build.run()
    assert published is None
    with pytest.raises(BuildError, match="nothing to publish"):
        finish(build, published).check()


@pytest.mark.parametrize(("lasting", "tries"), [(True, 1), (False, 4)])
def test_only_what_may_pass_is_tried_again(lasting: bool, tries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def collect(spec: str) -> list[SourceFile]:
        calls.append(spec)
        raise SourceError("no", lasting)

    patient = retrying(collect)
    monkeypatch.setattr(patient.retry, "sleep", lambda _: None)  # type: ignore[attr-defined]
    with pytest.raises(SourceError):
        patient("pypi:x")
    assert len(calls) == tries


def test_parts_depend_on_no_machine(tmp_path: Path) -> None:
    assert options(tmp_path, limit=100, shard_size=30).part_limits("a") == [34, 33, 33]
    assert options(tmp_path, limit=2, shard_size=30, workers=64).part_limits("a") == [2]
    assert [options(tmp_path, limit=6, total=11).limit_of(s) for s in "abc"] == [4, 4, 3]
    assert [options(tmp_path, limit=6, total=99).limit_of(s) for s in "abc"] == [6, 6, 6]
    assert label(Job(MINE, "pypi:timm", 2), 8) == "mine pypi:timm 3/8"
    assert label(Job(DIVERSITY, ""), 1) == "diversity"


def test_a_package_is_fetched_once_and_a_folder_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def collect(spec: str) -> list[SourceFile]:
        calls.append(spec)
        return [SourceFile(Origin("test", "x", "r", "a.py"), f"{len(calls)}" if spec == "folder" else "same")]

    monkeypatch.setattr(stages.collecting, "collect", collect)
    chosen = options(tmp_path)
    assert stages.collect(chosen, "pypi:x") == stages.collect(chosen, "pypi:x")
    assert calls == ["pypi:x"]
    assert stages.collect(chosen, "folder").name != stages.collect(chosen, "folder").name


def test_prefect_loads_the_flow_and_its_form(monkeypatch: pytest.MonkeyPatch) -> None:
    from prefect.flows import load_flow_from_entrypoint

    for entrypoint in ("flows/build_kernelbook.py:build_kernelbook", "flows.build_kernelbook:build_kernelbook"):
        monkeypatch.chdir(Path(__file__).parents[1])
        flow = load_flow_from_entrypoint(entrypoint, use_placeholder_flow=False)
        assert flow.name == "build-kernelbook"
        form = flow.parameters.model_dump()["definitions"]["BuildOptions"]["properties"]
        assert set(form) == set(BuildOptions.model_fields)
        assert form["runner"]["enum"] == ["threads", "ray"]
        assert form["limit"]["minimum"] == 1


# The real stages, on a folder of small modules.

REAL = ["--targets", "", "--seeds", "1", "--limit", "6", "--shard-size", "2", "--workers", "2"]


def command(kdata_command: list[str], out: Path) -> list[str]:
    return [*kdata_command, "build", "--sources", str(DATA), "--out", str(out), *REAL]


def published(out: Path) -> dict[str, bytes]:
    """The files of the dataset."""
    found = {p.name: p.read_bytes() for p in (*out.glob("data/*.parquet"), *out.glob("dropped/*.parquet"))}
    return found | {name: (out / name).read_bytes() for name in ("README.md", "LICENSES.jsonl", "report.html")}


def manifests(out: Path) -> dict[Path, int]:
    """Finished shards and when they were finished."""
    return {p: p.stat().st_mtime_ns for p in (out / "shards").glob("*/*.json")}


@pytest.fixture(scope="session")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build that nobody disturbed."""
    import sys

    out = tmp_path_factory.mktemp("unbroken")
    root = str(Path(__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": root}
    call = command([sys.executable, "-c", "from kdata.cli import main; main()"], out)
    done = subprocess.run(call, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    return out


def test_a_build_gives_verified_pairs(unbroken: Path) -> None:
    from kdata.publish import read_dataset

    pairs = read_dataset(str(unbroken))
    assert {p.task.symbol.rpartition(".")[2] for p in pairs} >= {"Swish", "RootMeanSquare"}
    assert all(p.receipt.verdict == "verified" for p in pairs)


@pytest.mark.slow
def test_killed_three_times_a_build_resumes(
    unbroken: Path, tmp_path: Path, kdata_command: list[str], environment: dict[str, str]
) -> None:
    """Kill the whole process group after a first, a third and a sixth finished shard, whenever these come."""
    call, finished = command(kdata_command, tmp_path), {}
    for count in (1, 3, 6):
        process = subprocess.Popen(call, env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)  # fmt: skip
        ends = time.monotonic() + 120
        while len(manifests(tmp_path)) < count and process.poll() is None and time.monotonic() < ends:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL, "the build ended before it could be killed"
        assert finished.items() <= manifests(tmp_path).items()
        finished = manifests(tmp_path)
    subprocess.run(call, env=environment, check=True, stdin=subprocess.DEVNULL, capture_output=True)
    assert finished.items() <= manifests(tmp_path).items(), "a finished shard was done again"
    assert published(tmp_path) == published(unbroken)
    before = manifests(tmp_path)
    subprocess.run(call, env=environment, check=True, stdin=subprocess.DEVNULL, capture_output=True)
    assert manifests(tmp_path) == before, "a finished build did something again"


def test_ctrl_c_ends_a_build_at_once(tmp_path: Path, kdata_command: list[str], environment: dict[str, str]) -> None:
    process = subprocess.Popen(command(kdata_command, tmp_path), env=environment, stdin=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)  # fmt: skip
    assert process.stderr is not None
    while "collect" not in process.stderr.readline():
        pass
    time.sleep(1)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(10) == 130
    assert "goes on from the last finished shard" in process.stderr.read()


@pytest.fixture(scope="session")
def prefect_server() -> Iterator[str]:
    """One Prefect server for all tests that need one."""
    with private_server() as url:
        yield url


@pytest.mark.slow
def test_prefect_runs_the_same_build(
    unbroken: Path, tmp_path: Path, kdata_command: list[str], environment: dict[str, str], prefect_server: str
) -> None:
    call = command(kdata_command, tmp_path)
    done = subprocess.run(call, env=environment | {"PREFECT_API_URL": prefect_server}, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert published(tmp_path) == published(unbroken)
    assert f"Task run 'mine {DATA} 1/3' - Finished in state Completed()" in done.stderr
    keys = _artifacts(prefect_server)
    assert {"build-funnel", "build-summary", "build-progress"} <= keys


def _artifacts(url: str) -> set[str]:
    import urllib.request

    request = urllib.request.Request(f"{url}/artifacts/filter", b"{}", {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as reply:
        return {artifact["key"] for artifact in json.load(reply)}


@pytest.mark.slow
def test_ray_runs_the_same_build(
    unbroken: Path, tmp_path: Path, kdata_command: list[str], environment: dict[str, str], prefect_server: str
) -> None:
    pytest.importorskip("prefect_ray", reason="needs the extra [ray]")
    out = tmp_path / "out"
    ray = {"RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0"}  # else it writes a token into the home folder
    call = [*command(kdata_command, out), "--runner", "ray"]
    done = subprocess.run(call, env=environment | ray | {"PREFECT_API_URL": prefect_server}, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Started a local Ray instance" in done.stderr
    assert published(out) == published(unbroken)


def test_threads_of_a_runner_end(tmp_path: Path) -> None:
    from flows.runners import Threads

    with Threads(2) as runner:
        future = runner.submit(options(tmp_path), Job(COLLECT, str(tmp_path / "none")), "collect none")
        assert future.exception(30) is not None
    time.sleep(0.1)
    assert not [t for t in threading.enumerate() if t.name.startswith(("stage", "collect")) and t.is_alive()]

"""From a model's answers to its score: a server that replays known answers, a kill in between, a tiny real model."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import threading
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import eval_answers
import openai_stub
import pyarrow.parquet as pq
import pytest
from eval_answers import ANSWERS, REASONS, SAMPLES, VERDICTS
from sft_models import make_tiny

from kdata.publish import write_dataset
from kdata.record import Candidate, Receipt, Task
from kdata.verify.options import Options
from sft import grades, tables
from sft.answers import Request, Sampling
from sft.eval_options import EvalOptions
from sft.evaluate import evaluate
from sft.generate import open_model
from sft.grades import RULES
from sft.suites import read_suite

LEVEL1 = [name for name in ANSWERS if name.startswith("level1")]


class Evaluation:
    """One evaluation of the 100 known answers."""

    def __init__(self, folder: Path, server: openai_stub.Asked) -> None:
        self.folder, self.server = folder, server
        eval_answers.write_suite(folder / "suite")
        self.options = EvalOptions(model=server.url, path=str(folder / "suite"), out=str(folder / "out"), targets=[],
                                   device="cpu", workers=1)  # fmt: skip
        self.summary = evaluate(self.options)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with openai_stub.serve(eval_answers.reply) as server:
        yield Evaluation(tmp_path_factory.mktemp("eval"), server)


def passes(problem: str, rule: int, place: int) -> list[bool]:
    """For each answer of a problem whether a rule says compiled (0) or correct (1)."""
    return [VERDICTS[name][rule][place] == "1" for name, count in ANSWERS[problem].items() for _ in range(count)]


def by_hand(problems: list[str], rule: int, k: int) -> float:
    """pass@k by its meaning: the share of choices of k answers that hold a correct one."""
    total = 0.0
    for problem in problems:
        wrong = passes(problem, rule, 1).count(False)
        total += 1 - sum(1 for _ in combinations(range(wrong), k)) / sum(1 for _ in combinations(range(SAMPLES), k))
    return total / len(problems)


@pytest.mark.parametrize("rule", range(3), ids=RULES)
def test_every_metric_equals_a_hand_calculation(done: Evaluation, rule: int) -> None:
    scores = done.summary["scores"][RULES[rule]]
    for group, problems in ((scores["all"], list(ANSWERS)), (scores["levels"]["1"], LEVEL1)):
        metrics = {name: m["value"] for name, m in group["metrics"].items()}
        assert metrics.keys() == {"compiled", "correct", "pass@1", "pass@5", "pass@10", "pass@20"}
        for place, name in enumerate(("compiled", "correct")):
            rates = [sum(passes(p, rule, place)) / SAMPLES for p in problems]
            assert metrics[name] == pytest.approx(sum(rates) / len(rates)), name
        for k in (1, 5, 20):
            assert metrics[f"pass@{k}"] == pytest.approx(by_hand(problems, rule, k)), k
        assert group["samples"] == SAMPLES * len(problems)
        assert all(m["low"] <= m["value"] <= m["high"] for m in group["metrics"].values())


def test_failures_are_counted_by_reason_and_families_are_named(done: Evaluation) -> None:
    wanted: Counter[str] = Counter()
    for counts in ANSWERS.values():
        wanted.update({REASONS[name]: 0 for name in counts if name in REASONS})
        for name, count in counts.items():
            if name in REASONS:
                wanted[REASONS[name]] += count
    assert done.summary["failures"] == dict(wanted)
    assert list(done.summary["failures"].values()) == sorted(wanted.values(), reverse=True)
    families = {row["problem"]: row["family"] for row in done.summary["problems"]}
    assert families["level1/2_Softmax"] == "softmax"
    assert families["level2/2_Linear_GELU"] == "linear and activation"
    assert list(families) == list(ANSWERS)  # by level and number
    assert "CPU: shapes scaled down" in done.summary["mode"]


def test_every_answer_is_kept_with_its_receipt(done: Evaluation) -> None:
    assert json.loads((done.folder / "out" / "results.json").read_text()) == json.loads(json.dumps(done.summary))
    rows = pq.read_table(done.folder / "out" / "answers.parquet").to_pylist()
    assert len(rows) == len({r["id"] for r in rows}) == 100
    for row in rows:
        name = eval_answers.given(row["problem"], row["seed"])
        assert row["text"] == eval_answers.answer(row["problem"], name)
        assert row["failure"] == REASONS.get(name, "")
        assert bool(row["receipt"]) == bool(row["source"]) == (name not in eval_answers.UNREADABLE)
        assert (row["receipt"] or {}).get("verdict") == (
            None if not row["source"] else "verified" if "good" in name else "rejected"
        )


def test_the_table_says_all_of_it(done: Evaluation) -> None:
    from rich.console import Console

    console = Console(width=200, record=True, file=open(os.devnull, "w"))  # noqa: SIM115
    console.print(tables.render(done.summary, problems=True))
    text = console.export_text()
    for words in ("CPU: shapes scaled down", "26.0 %", "kernelbench v0.1", "sizes baked in", "level1/10_Reduced"):
        assert words in text


def test_asked_again_nothing_is_generated_or_judged(done: Evaluation) -> None:
    asked, shards = len(done.server.requests), sorted((done.folder / "out" / "shards").rglob("*"))
    assert asked == 100
    assert sorted(r["seed"] for r in done.server.requests) == sorted([*range(SAMPLES)] * 5)
    assert evaluate(done.options) == done.summary
    fewer = evaluate(done.options.model_copy(update={"samples": 5, "level": [1]}))
    assert len(done.server.requests) == asked
    assert sorted((done.folder / "out" / "shards").rglob("*")) == shards
    assert fewer["scores"]["verified"]["all"]["samples"] == 15
    assert fewer["scores"]["verified"]["all"]["metrics"]["pass@5"]["value"] == pytest.approx(1.0)


def test_a_lost_verdict_is_made_again_and_no_other(done: Evaluation, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(done.folder / "out", out)
    made = sorted((out / "shards" / "grade").glob("*.json"))
    assert len(made) == 5
    made[0].unlink()  # the manifest comes last: without it the shard was never finished
    before = {p: p.stat().st_mtime_ns for p in made[1:]}
    assert evaluate(done.options.model_copy(update={"out": str(out)})) == done.summary
    assert made[0].exists()
    assert {p: p.stat().st_mtime_ns for p in made[1:]} == before


def test_the_judges_own_failure_costs_one_verdict_once(
    done: Evaluation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = done.options.model_copy(update={"out": str(tmp_path), "level": [1], "problems": 1})
    for stage in ("family", "generate"):
        shutil.copytree(done.folder / "out" / "shards" / stage, tmp_path / "shards" / stage)
    judged = grades.judge

    def judge(task: Task, candidate: Candidate, options: Options) -> Receipt:
        if "half_kernel" in candidate.source:
            raise OSError("no space left")
        return judged(task, candidate, options)

    monkeypatch.setattr(grades, "judge", judge)
    failures = evaluate(options)["failures"]
    assert failures["the judge failed"] == ANSWERS["level1/1_Affine_ReLU"]["half"]
    assert failures["sizes baked in"] == ANSWERS["level1/1_Affine_ReLU"]["baked in"]
    monkeypatch.setattr(grades, "judge", judged)
    again = evaluate(options)
    assert again["problems"] == done.summary["problems"][:1]


def test_killed_while_it_generates(
    done: Evaluation, tmp_path: Path, kdata_command: list[str], environment: dict[str, str]
) -> None:
    out, stuck, release = tmp_path / "out", threading.Event(), threading.Event()
    shutil.copytree(done.folder / "out" / "shards" / "family", out / "shards" / "family")

    def reply(prompt: str, seed: int) -> str:
        if seed >= 10 and not release.is_set():
            stuck.set()
            release.wait(120)
        return "I would rather not."

    with openai_stub.serve(reply) as server:
        options = ["--level", "2", "--problems", "1", "--samples", "20", "--batch", "4", "--device", "cpu"]
        command = [
            *kdata_command,
            "eval",
            "--model",
            server.url,
            "--path",
            done.options.path,
            "--out",
            str(out),
            *options,
        ]
        process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)
        assert stuck.wait(120), process.communicate()
        process.send_signal(signal.SIGKILL)
        process.wait()
        release.set()
        assert not (out / "results.json").exists()
        before = Counter(r["seed"] for r in server.requests)
        finished = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert finished.returncode == 0, finished.stderr
        after = Counter(r["seed"] for r in server.requests)
        assert [seed for seed in range(20) if after[seed] > before[seed]] == list(range(8, 20))  # shards of 4
        assert json.loads((out / "results.json").read_text())["failures"] == {"no fenced block": 20}


def test_what_the_server_refuses_is_counted_and_asked_again(done: Evaluation, tmp_path: Path) -> None:
    refuses = True

    def reply(prompt: str, seed: int) -> str | int:
        return 400 if refuses and seed < 3 else "No."

    shutil.copytree(done.folder / "out" / "shards" / "family", tmp_path / "shards" / "family")
    with openai_stub.serve(reply) as server:
        options = done.options.model_copy(
            update={"model": server.url, "out": str(tmp_path), "problems": 1, "samples": 4}
        )
        failures = evaluate(options)["failures"]
        assert failures == {"the server refuses the prompt": 6, "no fenced block": 2}
        refuses = False
        assert evaluate(options)["failures"] == {"no fenced block": 8}
        assert len(server.requests) == 8 + 6


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model": "http://127.0.0.1:9/v1"}, "no OpenAI-compatible server"),
        ({"model": "nothing here"}, "is no model"),
        ({"model": "tests"}, "no config.json"),
        ({"path": "nowhere/at/all"}, "there is no nowhere"),
        ({"level": [1, 7]}, "no kernelbench problems of level 7"),
        ({"served_model": "other"}, "choose one with --served-model"),
        ({"targets": ["sm_1"]}, "sm_1"),
        ({"suite": "heldout"}, "no levels|no test split"),
    ],
)
def test_bad_input_gives_one_reason(done: Evaluation, change: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        evaluate(done.options.model_copy(update=change))


def test_suites_are_read_from_parquet_and_from_a_dataset(tmp_path: Path) -> None:
    import pyarrow as pa
    from factories import pairs

    eval_answers.write_suite(tmp_path / "suite")
    wanted = read_suite("kernelbench", str(tmp_path / "suite")).problems
    rows = [{"code": p.task.source, "name": f"{p.name.rpartition('/')[2]}.py", "level": p.level} for p in wanted]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "problems.parquet")
    assert read_suite("kernelbench", str(tmp_path / "problems.parquet")).problems == wanted
    assert [p.name for p in read_suite("kernelbench", str(tmp_path / "suite"), [2], 1).problems] == ["level2/1_Scaled"]
    write_dataset(pairs(), [], str(tmp_path / "dataset"), lambda info: "", 0)
    held = read_suite("heldout", str(tmp_path / "dataset")).problems
    assert held
    assert {p.id for p in held} < {p.task.id for p in pairs()}
    assert all(p.family for p in held)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny(tmp_path_factory.mktemp("tiny"), ["ab" * 9])


def said(model: Path, seeds: list[int], temperature: float = 1.0, batch: int = 8) -> list[str]:
    """Answers to prompts of different lengths, one a seed."""
    generator = open_model(str(model), batch=batch)
    requests = [Request(({"role": "user", "content": "ab" * (1 + seed % 3)},), seed) for seed in seeds]
    parts = [requests[i : i + batch] for i in range(0, len(requests), batch)]
    answers = [a for part in parts for a in generator.answer(part, Sampling(temperature, 0.9, 12))]
    assert [a.id for a in answers] == [r.id for r in requests]
    return [a.text for a in answers]


def test_a_real_model_answers_by_seed_whatever_the_batch(tiny: Path) -> None:
    together = said(tiny, [0, 1, 2, 3, 6])
    assert together == said(tiny, [0, 1, 2, 3, 6], batch=1)
    assert together[0] != together[3] != together[4]  # one prompt, three seeds
    greedy = said(tiny, [0, 3, 6], temperature=0)
    assert len(set(greedy)) == 1


def test_samples_follow_the_nucleus() -> None:
    import torch

    from sft.local import FEW, Draw

    shares = torch.tensor([0.5, 0.3, 0.1, 0.06, 0.04])
    ids = torch.zeros(4000, 1)
    for top_p, wanted in ((1.0, shares), (0.85, torch.tensor([5 / 9, 3 / 9, 1 / 9, 0, 0])), (0.5, torch.eye(5)[0])):
        draw = Draw(range(4000), Sampling(2.0, top_p, 2), torch.device("cpu"))
        for _ in range(2):
            scores = draw(ids, 2.0 * shares.log().repeat(4000, 1))
            assert torch.equal((scores == 0).sum(-1), torch.ones(4000))
            found = torch.bincount(scores.argmax(-1), minlength=5) / 4000
            assert torch.allclose(found, wanted, atol=0.03)
    flat = torch.zeros(2000, 4 * FEW)  # the nucleus is larger than what is looked at first
    drawn = Draw(range(2000), Sampling(1.0, 0.9, 1), torch.device("cpu"))(ids[:2000], flat).argmax(-1)
    assert drawn.unique().numel() > FEW


def test_a_real_model_is_evaluated(done: Evaluation, tiny: Path, tmp_path: Path) -> None:
    shutil.copytree(done.folder / "out" / "shards" / "family", tmp_path / "shards" / "family")
    options = done.options.model_copy(update={"model": str(tiny), "out": str(tmp_path), "samples": 2, "max_tokens": 8})
    summary = evaluate(options)
    assert sum(summary["failures"].values()) == 10
    assert summary["scores"]["verified"]["all"]["metrics"]["pass@1"]["value"] == 0
    assert summary["model"].startswith(tiny.name)
    rows = pq.read_table(tmp_path / "answers.parquet").to_pylist()
    assert {row["finish"]: row["tokens"] == 8 for row in rows} in ({"length": True}, {"length": True, "stop": False})
    again = {p: p.stat().st_mtime_ns for p in (tmp_path / "shards").rglob("*")}
    assert evaluate(options) == summary
    assert {p: p.stat().st_mtime_ns for p in (tmp_path / "shards").rglob("*")} == again


def test_a_model_is_named_by_its_content(tiny: Path, tmp_path: Path) -> None:
    copy = tmp_path / tiny.name
    shutil.copytree(tiny, copy)
    assert open_model(str(copy)).name == open_model(str(tiny)).name
    weights = bytearray((copy / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (copy / "model.safetensors").write_bytes(weights)
    assert open_model(str(copy)).name != open_model(str(tiny)).name

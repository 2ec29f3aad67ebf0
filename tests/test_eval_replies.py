"""Answers that were made elsewhere: read from a file, judged as if a model here had given them."""

from __future__ import annotations

import gzip
import json
from dataclasses import asdict
from pathlib import Path

import eval_answers
import pytest

from kdata.record import Dropped
from sft.answers import Answer, Request, Sampling
from sft.chat import prompt
from sft.eval_options import EvalOptions
from sft.evaluate import evaluate
from sft.generate import open_model
from sft.suites import read_suite

PROBLEM = "level2/1_Scaled"
SAMPLING = Sampling(0.8, 0.95, 64)


def write(path: Path, answers: list[Answer]) -> Path:
    text = "".join(json.dumps(asdict(a)) + "\n" for a in answers).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def request(text: str, seed: int) -> Request:
    return Request(({"role": "user", "content": text},), seed)


def answer(to: Request, text: str = "well\u2028said", model: str = "far") -> Answer:
    return Answer(to.id, model, to.seed, text, "stop", 3)


@pytest.mark.parametrize("name", ["answers.jsonl", "answers.jsonl.gz"])
def test_a_request_gets_its_own_answer(tmp_path: Path, name: str) -> None:
    asked = [request("a", 0), request("a", 1), request("b", 0)]
    file = write(tmp_path / name, [answer(asked[1], "one"), answer(asked[0])])
    generator = open_model(str(file))
    first, second, third = generator.answer(asked, SAMPLING)
    assert isinstance(first, Answer) and first.text == "well\u2028said" and first.model == generator.name
    assert isinstance(second, Answer) and second.text == "one" and generator.name.startswith("far ")
    assert third == Dropped("generate", asked[2].id, "not in the file", "seed 0")


def test_the_name_changes_with_the_answers(tmp_path: Path) -> None:
    one = write(tmp_path / "1.jsonl", [answer(request("a", 0))])
    two = write(tmp_path / "2.jsonl", [answer(request("a", 0), "other")])
    assert open_model(str(one)).name != open_model(str(two)).name


@pytest.mark.parametrize("text", ["", "no json\n", '{"id": "x"}\n', "[1]\n", "3\n"])
def test_a_file_of_something_else_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text(text)
    with pytest.raises(ValueError, match="answers"):
        _ = open_model(str(file)).name


def test_answers_of_two_models_are_no_score(tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", [answer(request("a", 0)), answer(request("b", 0), model="other")])
    with pytest.raises(ValueError, match="one model"):
        _ = open_model(str(file)).name


def test_a_missing_file_and_a_cut_archive_are_refused(tmp_path: Path) -> None:
    whole = write(tmp_path / "a.jsonl.gz", [answer(request("a", 0))])
    (tmp_path / "cut.jsonl.gz").write_bytes(whole.read_bytes()[:-9])
    for name in ("none.jsonl", "cut.jsonl.gz"):
        with pytest.raises(ValueError, match="holds no answers"):
            _ = open_model(str(tmp_path / name)).name


def test_answers_of_a_file_are_judged(tmp_path: Path) -> None:
    eval_answers.write_suite(tmp_path / "suite")
    problem = next(p for p in read_suite("kernelbench", str(tmp_path / "suite"), [2]).problems if p.name == PROBLEM)
    asked = [Request(tuple(prompt(problem.task)), seed) for seed in (17, 18)]
    texts = [eval_answers.answer(PROBLEM, eval_answers.given(PROBLEM, r.seed)) for r in asked]
    file = write(tmp_path / "far.jsonl", [answer(r, text) for r, text in zip(asked, texts, strict=True)])
    options = EvalOptions(model=str(file), path=str(tmp_path / "suite" / f"{PROBLEM}.py"), out=str(tmp_path / "out"),
                          targets=[], device="cpu", workers=1, samples=2, seed=17)  # fmt: skip
    summary = evaluate(options)
    assert summary["failures"] == {"no class ModelNew": 1, "wrong result": 1}
    assert summary["model"].startswith("far ")


def test_answers_that_are_not_there_are_not_counted_as_wrong(tmp_path: Path) -> None:
    eval_answers.write_suite(tmp_path / "suite")
    problems = read_suite("kernelbench", str(tmp_path / "suite"), [2]).problems[:2]
    asked = [Request(tuple(prompt(p.task)), seed) for p in problems for seed in (0, 1)]
    options = EvalOptions(model="a file", path=str(tmp_path / "suite"), out=str(tmp_path / "out"), level=[2], problems=2,
                          targets=[], device="cpu", workers=1, samples=2)  # fmt: skip
    one = write(tmp_path / "one.jsonl", [answer(asked[0], "no program"), answer(asked[2], "none")])
    with pytest.raises(ValueError, match="1 of the 2 seeds asked for, the first is 1: say with --samples"):
        evaluate(options.model_copy(update={"model": str(one)}))
    other = write(tmp_path / "other.jsonl", [answer(request("another question", 0))])
    with pytest.raises(ValueError, match="no answer to score: not in the file"):
        evaluate(options.model_copy(update={"model": str(other)}))
    some = write(tmp_path / "some.jsonl", [answer(r, "none") for r in asked[:3]])
    summary = evaluate(options.model_copy(update={"model": str(some)}))
    assert summary["failures"] == {"no fenced block": 3, "not in the file": 1}

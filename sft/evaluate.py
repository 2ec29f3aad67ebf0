"""A model's score: its answers to a suite, the judge's verdicts, and the field's numbers. Resumable at every point.

``OUT`` holds afterwards ``results.json`` (all numbers), ``answers.parquet`` (each answer with its receipt), and the
shards that a killed evaluation goes on from, and that later ones with the same model, prompt and seed take.
"""

from __future__ import annotations

import json
import multiprocessing
import posixpath
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from kdata import storage
from kdata.align import step as align
from kdata.record import Candidate, Dropped, table
from kdata.sandbox.guard import die_with_parent
from kdata.shards import Store
from kdata.verify.compiling import targets
from kdata.verify.cuda import candidate as cuda
from kdata.verify.gpu.cards import cards
from kdata.verify.kernelbench.verdict import BASELINES
from kdata.verify.options import Options
from kdata.verify.receipts import versions
from sft import chat, suites
from sft.admission import ADMITTED, admit_step
from sft.answers import Answer, Generator, Request, Sampling, Told, generate_step, resume
from sft.eval_options import EvalOptions
from sft.generate import open_model
from sft.grades import ABOUT, Graded, grade_step
from sft.replies import ABSENT
from sft.scores import Result, summarise
from sft.suites import Problem, Suite

RESULTS, ANSWERS = "results.json", "answers.parquet"
JUDGED = 5  # answers to one task in a shard
TRACED = 25  # problems of a shard of families
UNTRACED = "unknown"  # the family of what this machine cannot trace
MODES = {
    "cpu": "CPU: shapes scaled down, in Triton's interpreter, correctness only. Nothing is timed, and these numbers "
    "cannot be compared with those of a GPU.",
    "cuda": "GPU: at small sizes and at the problems' own.",
}
Answers = Mapping[str, Answer | Dropped]  # by the request's id


def evaluate(options: EvalOptions) -> dict[str, Any]:
    """Ask a model, judge its answers, write the results and return them.

    Raises:
        ValueError: the options cannot be followed; one line says why.
    """
    storage.demand_folder(options.out)
    device = _device(options)
    for target in options.targets:
        targets.parse(target)
    model = _model(options)
    name = model.name  # whether there is such a model is found out before anything is worked on
    with _bars() as told:
        suite = _suite(options, told)
        problems = suite.problems
        answers = _answered(options, model, problems, told)
        results = _judged(options, device, problems, answers, name, told)
    summary: dict[str, Any] = {
        "model": name, "mode": MODES[device], "rules": dict(ABOUT), "versions": list(versions()),
        "options": options.model_dump(exclude={"out", "workers", "batch"}),
        "left_out": [{"problem": d.name, "reason": d.reason, "detail": d.detail} for d in suite.left_out],
    }  # fmt: skip
    summary |= summarise(problems, results, timed=device == "cuda" and options.timed)
    _write(options.out, summary, results)
    return summary


def generate(options: EvalOptions) -> None:
    """Make the answers that are missing. By itself it is run in a process of its own, so that a GPU is free again."""
    with _bars() as told:
        requests = [r for p in _suite(options, told).problems for r in _requests(options, p)]
        _ask(options, _model(options), requests, told)


def _answered(options: EvalOptions, model: Generator, problems: Sequence[Problem], told: Told) -> Answers:
    """All answers of the model.

    Raises:
        ValueError: answers are missing that are no failures of the model.
    """
    requests = [r for p in problems for r in _requests(options, p)]
    if model.apart and len(_known(options, model, requests)) < len({r.id for r in requests}):
        spawned = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(1, spawned, initializer=die_with_parent) as process:
            process.submit(generate, options).result()
        answers = _known(options, model, requests)
    else:
        answers = _ask(options, model, requests, told)
    _demand(requests, answers)
    return answers


def _demand(requests: Sequence[Request], answers: Answers) -> None:
    """Refuse to count silence as wrong answers: nothing answered at all, or a file without some of the seeds."""
    silent = {r.id: a for r in requests if isinstance(a := answers[r.id], Dropped)}
    if len(silent) == len(answers):
        first = next(iter(silent.values()))
        raise ValueError(f"no answer to score: {': '.join(filter(None, (first.reason, first.detail)))}")
    asked = {r.seed for r in requests}
    absent = asked - {r.seed for r in requests if r.id not in silent or silent[r.id].reason != ABSENT}
    if absent:
        raise ValueError(
            f"the file has no answer with {len(absent)} of the {len(asked)} seeds asked for, the first is "
            f"{min(absent)}: say with --samples and --seed which it has"
        )


def _model(options: EvalOptions) -> Generator:
    return open_model(options.model, options.served_model, options.batch, options.generator)


def _ask(options: EvalOptions, model: Generator, requests: Sequence[Request], told: Told) -> Answers:
    def batches(missing: list[Request]) -> list[list[Request]]:
        """Prompts of like length side by side, the longest first: if they fit, all do."""
        ordered = sorted(missing, key=lambda r: -sum(len(m["content"]) for m in r.messages))
        return [ordered[i : i + model.batch] for i in range(0, len(ordered), model.batch)]

    return resume(generate_step(model, _sampling(options)), _store(options), requests, batches, told=told)


def _known(options: EvalOptions, model: Generator, requests: Sequence[Request]) -> Answers:
    """The answers that are there already."""
    return resume(generate_step(model, _sampling(options)), _store(options), requests, lambda missing: [])


def _judged(
    options: EvalOptions, device: str, problems: Sequence[Problem], answers: Answers, model: str, told: Told
) -> list[Result]:
    """Every answer with its verdicts, by problem and seed."""
    asked = [(p, r) for p in problems for r in _requests(options, p)]
    written = {r.id: _candidate(p, answers[r.id], options, model) for p, r in asked}
    candidates = [c for c in written.values() if isinstance(c, Candidate)]
    step = grade_step(_judge_options(options, device), options.language)
    graded = resume(step, _store(options), candidates, _by_task, options.parallel, told)
    return [_result(p, r, answers[r.id], written[r.id], graded, model) for p, r in asked]


def _by_task(candidates: list[Candidate]) -> list[list[Candidate]]:
    """A few of one task in a shard: its reference runs once for them, and bad ones hold up no others for long."""
    tasks = dict.fromkeys(c.task.id for c in candidates)
    groups = [[c for c in candidates if c.task.id == task] for task in tasks]
    return [group[i : i + JUDGED] for group in groups for i in range(0, len(group), JUDGED)]


def _candidate(problem: Problem, answer: Answer | Dropped, options: EvalOptions, model: str) -> Candidate | Dropped:
    """The program of an answer, or why there is none."""
    if isinstance(answer, Dropped):
        return answer
    read = chat.parse(answer.text)
    if isinstance(read, chat.Unreadable):
        return Dropped("read", answer.id, read.reason, read.detail)
    return Candidate.make(problem.task, read, options.language, f"model:{model}")


def _result(
    problem: Problem, request: Request, answer: Answer | Dropped, written: Candidate | Dropped,
    graded: Mapping[str, Graded | Dropped], model: str,
) -> Result:  # fmt: skip
    said = answer if isinstance(answer, Answer) else Answer(request.id, model, request.seed, "", "")
    source = "" if isinstance(written, Dropped) else written.source
    verdict = written if isinstance(written, Dropped) else graded[written.id]
    more: dict[str, Any]
    if isinstance(verdict, Graded):
        receipt = verdict.receipt
        failure = "" if receipt.verdict == "verified" else receipt.reason
        more = {"failure": failure, "detail": receipt.detail, "receipt": receipt, "upstream": verdict.upstream}
    else:
        more = {"failure": verdict.reason, "detail": verdict.detail}
    return Result(request.id, problem.name, problem.level, problem.family, problem.id, model, request.seed, said.text,
                  said.finish, said.tokens, source, **more)  # fmt: skip


def _suite(options: EvalOptions, told: Told) -> Suite:
    """The problems that can be judged, each with its family."""
    suite = suites.read_suite(options.suite, options.path, options.level, options.problems)
    found, left_out = suite.problems, suite.left_out
    if options.suite in ADMITTED:
        step = admit_step(_judge_options(options, "cpu"))
        admitted = resume(step, _store(options), found, _shards, options.parallel, told)
        left_out = [*left_out, *(d for d in admitted.values() if isinstance(d, Dropped))]
        found = [p for p in found if isinstance(admitted[p.id], Problem)]
    if not found:
        raise ValueError(f"none of the problems in {options.path} can be judged: {left_out[0].reason}")
    return Suite(_named(options, found, told), sorted(left_out, key=lambda d: d.name))


def _named(options: EvalOptions, found: Sequence[Problem], told: Told) -> list[Problem]:
    """The problems, each with its family."""
    step = suites.family_step(align.trace_operators, align.VERSION)
    nameless = [p for p in found if not p.family]
    named = resume(step, _store(options), nameless, _shards, options.parallel, told)
    return [n if isinstance(n := named.get(p.id, p), Problem) else replace(p, family=UNTRACED) for p in found]


def _shards(problems: list[Problem]) -> list[list[Problem]]:
    return [problems[i : i + TRACED] for i in range(0, len(problems), TRACED)]


def _requests(options: EvalOptions, problem: Problem) -> list[Request]:
    """One a sample."""
    messages = tuple(chat.prompt(problem.task, options.language))
    return [Request(messages, seed) for seed in options.seeds]


def _sampling(options: EvalOptions) -> Sampling:
    return Sampling(options.temperature, options.top_p, options.max_tokens)


def _judge_options(options: EvalOptions, device: str) -> Options:
    timeout, chosen = options.timeout, tuple(options.targets)
    if device == "cuda":
        return Options(chosen, timeout=timeout, device="cuda", timed=options.timed, baselines=BASELINES,
                       level=options.effort)  # fmt: skip
    return Options(chosen, timeout=timeout, level=options.effort)


def _device(options: EvalOptions) -> str:
    if options.device == "cuda" and not cards():
        raise ValueError("--device cuda: there is no CUDA device")
    device = ("cuda" if cards() else "cpu") if options.device == "auto" else options.device
    if options.language == "cuda" and (missing := cuda.lacking(_judge_options(options, device))):
        raise ValueError(f"--language cuda: {missing[1]}")
    return device


def _store(options: EvalOptions) -> Store:
    return Store(f"{options.out.rstrip('/')}/shards")


def _write(out: str, summary: Mapping[str, Any], results: Sequence[Result]) -> None:
    """The answers first, the numbers last."""
    sink = pa.BufferOutputStream()
    pq.write_table(table(results, Result), sink, compression="zstd")
    text = json.dumps(summary, indent=1, allow_nan=False) + "\n"
    for name, data in ((ANSWERS, sink.getvalue().to_pybytes()), (RESULTS, text.encode())):
        storage.put(posixpath.join(out, name), data)


@contextmanager
def _bars() -> Iterator[Told]:
    """A bar a stage on a terminal, a line a shard elsewhere."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda stage, done, of: print(f"kdata: {stage} {done} of {of}", file=sys.stderr, flush=True)
        return
    columns = (TextColumn("{task.description:9}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as bars:
        rows: dict[str, TaskID] = {}

        def told(stage: str, done: int, of: int) -> None:
            if stage not in rows:
                rows[stage] = bars.add_task(stage)
            bars.update(rows[stage], completed=done, total=of)

        yield told

"""Sets that others published, as sources of tasks: the PyTorch side of each row, and nothing of its kernels.

A set is named like ``kernelbook?limit=500``; options: ``limit`` (default: all) and ``skip`` rows, ``dataset`` (a local
copy, or another dataset of the same columns), ``revision``, ``allow=benchmark`` for sets that are made of a benchmark's
problems, and ``inputs``: ``given`` takes a row as the task it is, ``found`` has its classes mined anew, with inputs of
useful sizes.  Names of columns and licences are those of the sets' cards and of programs that read them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import PurePosixPath
from typing import Any

from markdown_it import MarkdownIt

from kdata.record import Dropped, Origin, SourceFile
from sources.fetch import hub, stack
from sources.fetch.texts import SourceError, dropped, source_file

OPTIONS = ("dataset", "revision", "limit", "skip", "inputs", "allow")
READY = ".task.py"  # ends the path of a file that is a task with its inputs; the class stands before it
GIVEN, FOUND = "given", "found"
_HELPERS = re.compile(r"^from _paritybench_helpers import (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Program:
    """The PyTorch side of a row."""

    text: str
    entry_point: str
    repository: str = ""  # where the row says it is from; else the set itself
    commit: str = ""
    url: str = ""
    licenses: tuple[str, ...] = ()  # else the set's
    stars: int | None = None


@dataclass(frozen=True, slots=True)
class TaskSet:
    """A published set: where it is, what may be done with it, and how its rows are read."""

    dataset: str
    files: str
    columns: tuple[str, ...]
    program: Callable[[Mapping[str, Any]], Program | None]
    license: str  # SPDX identifier of the set at that revision
    revision: str = "main"
    inputs: str = GIVEN  # what is better for this set
    benchmark: str = ""  # the benchmark whose problems its rows are
    note: str = ""


def collect(name: str) -> list[SourceFile | Dropped]:
    """The PyTorch programs of a set, each once, such as ``kernelbook?limit=500``.

    Raises:
        SourceError: no such set, option or file, or a benchmark's set that was not asked for by name.
    """
    key, pairs = stack.options(name, OPTIONS)
    given = dict(pairs)
    if key not in SETS:
        raise SourceError(LEFT_OUT.get(key) or f"no set {key!r}; there are {', '.join(SETS)}")
    chosen = SETS[key]
    if chosen.benchmark and given.get("allow") != "benchmark":
        raise SourceError(f"{key} holds problems of {chosen.benchmark}: add allow=benchmark if that is what you want")
    if (inputs := given.get("inputs", chosen.inputs)) not in (GIVEN, FOUND):
        raise SourceError(f"{name}: inputs is {GIVEN} or {FOUND}")
    limit, skip = stack.window(name, given, 1 << 40)
    dataset = given.get("dataset", chosen.dataset)
    revision = given.get("revision", chosen.revision if dataset == chosen.dataset else "main")
    return list(_files(key, dataset, revision, inputs, range(skip, skip + limit)))


def _files(key: str, dataset: str, revision: str, inputs: str, numbers: range) -> Iterator[SourceFile | Dropped]:
    chosen, seen = SETS[key], set[str]()
    revision = hub.resolve(dataset, revision)
    for number, row in enumerate(hub.stream(dataset, revision, chosen.files, chosen.columns)):
        if number >= numbers.stop:
            return
        if number < numbers.start:
            continue
        program = chosen.program(row)
        origin = _origin(key, hub.identity(dataset, revision), number, inputs, program)
        if program is None:
            yield dropped(origin, "no program in the row")
        elif program.text in seen:
            yield dropped(origin, "same program as another row")
        else:
            seen.add(program.text)
            yield source_file(origin, with_helpers(program.text).encode("utf-8", "surrogatepass"), "UTF-8")


def _origin(key: str, where: str, number: int, inputs: str, program: Program | None) -> Origin:
    if program is None:
        return Origin(key, key, where, f"{number}.py", (SETS[key].license,))
    path = f"{number}/{program.entry_point}{READY if inputs == GIVEN else '.py'}"
    revision = f"{program.commit} {where}".strip()
    url = program.url or f"https://huggingface.co/datasets/{SETS[key].dataset}"
    licenses = program.licenses or (SETS[key].license,)
    return Origin(key, program.repository or key, revision, path, licenses, url, program.stars)


def entry_point(file: SourceFile) -> str:
    """The class of a file that is a task as it stands; "" for any other file."""
    ready = file.origin.source in SETS and file.origin.path.endswith(READY)
    return PurePosixPath(file.origin.path).name.removesuffix(READY) if ready else ""


def with_helpers(text: str) -> str:
    """A program with the helpers that its set forgot to ship in the place of their import."""

    def definitions(match: re.Match[str]) -> str:
        names = {name.strip() for name in match[1].strip("()").split(",")}
        if "_mock_layer" in names:
            names.add("DummyBlock")
        known = _helpers()
        missing = sorted(names - set(known))
        lines = ["import torch", *(known[n] for n in known if n in names)]
        return "\n\n\n".join(lines + [f"from _paritybench_helpers import {n}" for n in missing]) + "\n"

    return _HELPERS.sub(definitions, text)


@cache
def _helpers() -> dict[str, str]:
    text = resources.files("sources.replacements").joinpath("_paritybench_helpers.py").read_text()
    return {n.name: ast.unparse(n) for n in ast.parse(text).body if isinstance(n, ast.ClassDef | ast.FunctionDef)}


def _kernelbook(row: Mapping[str, Any]) -> Program | None:
    if not row["python_code"]:
        return None
    licenses = row["licenses"]
    known = stack.licenses([licenses] if isinstance(licenses, str) else licenses)
    return Program(
        str(row["python_code"]), str(row["entry_point"]), str(row["repo_name"] or ""), str(row["sha"] or ""),
        str(row["repo_link"] or ""), known, row["stars"],
    )  # fmt: skip


def _column(name: str) -> Callable[[Mapping[str, Any]], Program | None]:
    """Rows with a program in KernelBench's form in one column."""
    return lambda row: Program(str(row[name]), "Model") if row[name] else None


def _cuda_llm(row: Mapping[str, Any]) -> Program | None:
    """The reference that a row is graded by, or else the last program of its prompt: before it stands an example."""
    truth = str((row["reward_model"] or {}).get("ground_truth") or "")
    prompt = "\n\n".join(str(m.get("content") or "") for m in row["prompt"] or ())
    blocks = [t.content for t in MarkdownIt().parse(prompt) if t.type == "fence"]
    found = [text for text in (*blocks, truth) if "class Model(" in text and "def get_inputs" in text]
    return Program(found[-1], "Model") if found else None


SETS: dict[str, TaskSet] = {
    "kernelbook": TaskSet(
        "GPUMODE/KernelBook", "**/*.parquet",
        ("python_code", "entry_point", "repo_name", "sha", "repo_link", "licenses", "stars"), _kernelbook,
        "MIT", "1576375bc92745b490e1cdf2fce01eba76d9f847", FOUND,
        note="MIT at this revision; relicensed later. Inputs of 4x4x4x4. No decontamination against KernelBench is "
        "known: no verbatim copies of level 1, its operators are there. Each row keeps its repository's licences.",
    ),
    "cuda-agent": TaskSet(
        "BytedTsinghua-SIA/CUDA-Agent-Ops-6K", "*.parquet", ("code",), _column("code"), "LicenseRef-unknown",
        note="Its authors removed rows that resemble KernelBench. Look at the card for its licence before publishing.",
    ),
    "cuda-llm": TaskSet(
        "ByteDance-Seed/cudaLLM-data", "*rl*.parquet", ("prompt", "reward_model"), _cuda_llm, "Apache-2.0",
        note="Compositions of operators; no decontamination against KernelBench is known. Columns after derived sets.",
    ),
    "ai-cuda-engineer": TaskSet(
        "SakanaAI/AI-CUDA-Engineer-Archive", "**/*.parquet", ("PyTorch_Code_Module",), _column("PyTorch_Code_Module"),
        "CC-BY-4.0", benchmark="KernelBench", note="30,615 kernels for KernelBench's problems of levels 1 to 3.",
    ),
}  # fmt: skip
# Sets that hold no PyTorch programs to make tasks of.
LEFT_OUT = {
    "hpc-instruct": "hpc-instruct has problems and solutions in words, C++ and CUDA, and no modules: see kdata corpus",
    "kernelbench-samples": "ScalingIntelligence/kernelbench-samples holds logs of models' attempts at KernelBench, no "
    "table; its tasks are those of the benchmark",
}

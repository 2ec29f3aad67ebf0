"""What a model is trained on: rows of published datasets as conversations, mixed, without leaks, and what is held out.

Held-out rows and leaks are told apart by task, so that no other kernel for a held-out task is trained on.
"""

from __future__ import annotations

import math
import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from kdata import hub, kernelbook, rows
from kdata.record import Pair, Receipt, digest
from sft.chat import Message, answer, prompt
from sft.options import SftOptions

TEST_SPLITS = ("test", "validation")
HELD_OUT_MOST = 256  # examples: enough for a loss, few enough to look at often
SOURCE = re.compile(r"(?P<path>[^@=]+?)(?::(?P<config>[\w.-]+))?(?:@(?P<revision>[\w./-]+))?(?:=(?P<weight>[\d.]+))?")
PAIR, CONVERSATION = {"python_code", "triton_code", "entry_point"}, {"messages"}


@dataclass(frozen=True, slots=True)
class Source:
    """One part of the mix."""

    path: str  # folder, file or Hub id
    config: str | None = None
    revision: str | None = None  # of a Hub dataset
    weight: float = 1.0  # how often a row is seen in an epoch


@dataclass(frozen=True, slots=True)
class Example:
    """One conversation: all but its last turn is given, the last is learnt."""

    id: str
    task_id: str
    messages: tuple[Message, ...]
    answer: str


@dataclass(frozen=True, slots=True)
class Used:
    """What was taken from a source, for the model card."""

    path: str
    config: str
    revision: str  # commit of a Hub dataset, "" for a local one
    weight: float
    rows: int
    digest: str  # of the rows


@dataclass(frozen=True, slots=True)
class Corpus:
    """Everything a run learns from and is measured on."""

    train: tuple[Example, ...]  # weights applied: a row may be here more than once
    held_out: tuple[Example, ...]
    used: tuple[Used, ...]
    refused: Mapping[str, int]  # rows left out, by reason

    @property
    def id(self) -> str:
        """Digest of all conversations, in order."""
        return digest(*(f"{e.id} {e.answer}" for e in (*self.train, *self.held_out)))


def parse_source(text: str) -> Source:
    """Read ``PATH[:CONFIG][@REVISION][=WEIGHT]``.

    Raises:
        ValueError: it has another form, or the weight is not above 0.
    """
    found = SOURCE.fullmatch(text)
    if not found:
        raise ValueError(f"--data {text}: not of the form PATH[:CONFIG][@REVISION][=WEIGHT]")
    try:
        weight = float(found["weight"] or 1)
    except ValueError as error:
        raise ValueError(f"--data {text}: {found['weight']} is no weight") from error
    if weight <= 0:
        raise ValueError(f"--data {text}: a weight must be above 0")
    return Source(found["path"], found["config"], found["revision"], weight)


def load(options: SftOptions) -> Corpus:
    """Read, mix and divide the data of a run.

    Raises:
        FileNotFoundError: there is no such dataset.
        ValueError: rows are neither pairs nor conversations, or none is left; the message says why.
    """
    sources = [parse_source(text) for text in options.data]
    leaks = _leaks(options.data + options.leakage)
    refused: Counter[str] = Counter()
    parts: list[tuple[Source, list[Example]]] = []
    tests: list[Example] = []
    used: list[Used] = []
    for source in sources:
        splits, revision = read(source)
        clean = {name: list(_examples(split, options, leaks, refused)) for name, split in splits.items()}
        test = [e for name in TEST_SPLITS for e in clean.pop(name, [])]
        train = [e for part in clean.values() for e in part]
        tests += test
        parts.append((source, train))
        seen = digest(*(f"{e.id} {e.answer}" for e in train + test))
        used.append(
            Used(
                source.path if revision else os.path.basename(os.path.normpath(source.path)),
                source.config or "default",
                revision,
                source.weight,
                len(train),
                seen,
            )
        )
    tests = tests or _choose([e for _, part in parts for e in part], options.held_out, options.seed)
    kept_back = {e.task_id for e in tests}
    mixed = [
        e for source, part in parts for e in _repeat(part, source.weight, options.seed) if e.task_id not in kept_back
    ]
    if not mixed:
        raise ValueError("nothing to train on: " + (_reasons(refused) or "no rows besides the held-out ones"))
    return Corpus(tuple(mixed), tuple(_sample(tests, options.seed) if options.held_out else ()), tuple(used), refused)


def read(source: Source) -> tuple[dict[str, Sequence[Mapping[str, Any]]], str]:
    """The splits of a source, and the commit it was read at where it comes from the Hub.

    Raises:
        FileNotFoundError: there is no such dataset.
        ValueError: it cannot be read.
    """
    import datasets

    datasets.disable_progress_bars()
    revision = "" if os.path.exists(source.path) else _commit(source)
    try:
        found = datasets.load_dataset(source.path, source.config, revision=revision) if revision else _local(source)
    except FileNotFoundError as error:
        raise FileNotFoundError(f"there is no dataset {source.path}: {error}") from error
    except Exception as error:  # of the library's many kinds each means that there is nothing to read
        reason = error.__cause__ or error
        raise ValueError(f"{source.path} cannot be read as a dataset: {reason or 'no rows'}") from error
    return dict(found), revision


def _local(source: Source) -> Any:
    """A dataset of this disk, read into memory: copies in the user's cache would outlive their use."""
    import datasets

    with tempfile.TemporaryDirectory() as cache:
        where: dict[str, Any] = {"cache_dir": cache, "keep_in_memory": True}
        if os.path.isdir(source.path):
            return datasets.load_dataset(source.path, source.config, **where)
        kind = "json" if source.path.endswith((".json", ".jsonl")) else "parquet"
        if kind == "parquet" and not source.path.endswith(".parquet"):
            raise ValueError("neither a folder nor a file .parquet, .jsonl or .json")
        return datasets.load_dataset(kind, data_files=source.path, **where)


def _commit(source: Source) -> str:
    """The commit that a Hub dataset is at."""
    from huggingface_hub import HfApi

    try:
        return str(HfApi().dataset_info(source.path, revision=source.revision).sha)
    except hub.errors() as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise FileNotFoundError(f"there is no folder {source.path}, nor such a dataset on the Hub: {reason}") from error


def _examples(
    split: Iterable[Mapping[str, Any]], options: SftOptions, leaks: frozenset[str], refused: Counter[str]
) -> Iterator[Example]:
    """The rows of a split as conversations; those that may not be trained on are counted."""
    for row in split:
        example = to_example(row, not options.no_reasoning)
        if not options.allow_leaks and (row.get("benchmark_overlap") or {example.id, example.task_id} & leaks):
            refused["a benchmark's problem"] += 1
        else:
            yield example


def to_example(row: Mapping[str, Any], reasoning: bool = True) -> Example:
    """A row as a conversation: a pair (ours or in KernelBook's columns), or ``messages`` that end with the answer.

    Raises:
        ValueError: it is neither.
    """
    have = {name for name, value in row.items() if value is not None}
    if have >= CONVERSATION:
        return _conversation(row)
    if not have >= PAIR:
        raise ValueError(f"rows are neither pairs nor conversations: they lack {', '.join(sorted(PAIR - have))}")
    pair = _pair(row)
    asked = prompt(pair.task, pair.candidate.language)
    return Example(pair.id, pair.task.id, tuple(asked), answer(pair, reasoning))


def _pair(row: Mapping[str, Any]) -> Pair:
    if set(rows.columns().names) <= set(row):
        return rows.pair(row)
    candidate = kernelbook.candidate(row)
    return Pair(candidate, Receipt(candidate.id, "unverified", "no receipt"))


def _conversation(row: Mapping[str, Any]) -> Example:
    try:
        turns = [Message(role=m["role"], content=m["content"]) for m in row["messages"]]
    except (KeyError, TypeError) as error:
        raise ValueError("messages must be a list of turns, each with a role and a content") from error
    if not all(isinstance(text, str) for turn in turns for text in turn.values()):
        raise ValueError("each turn of a conversation must have a role and a content, both texts")
    if len(turns) < 2 or turns[-1]["role"] != "assistant":
        raise ValueError("a conversation must end with the assistant's turn")
    given = tuple(turns[:-1])
    task_id = row.get("task_id") or digest("conversation", *(t["content"] for t in given))
    return Example(row.get("id") or digest(task_id, turns[-1]["content"]), task_id, given, turns[-1]["content"])


def _leaks(paths: Iterable[str]) -> frozenset[str]:
    """Ids that the leakage reports of these datasets name: those dropped at the stage ``leakage``."""
    import datasets

    found: set[str] = set()
    for source in dict.fromkeys(Source(p.path, "dropped", p.revision) for p in map(parse_source, paths)):
        if os.path.isfile(source.path):
            continue
        revision = None if os.path.isdir(source.path) else _commit(source)
        if "dropped" in datasets.get_dataset_config_names(source.path, revision=revision):
            splits, _ = read(source)
            found |= {row["id"] for split in splits.values() for row in split if row["stage"] == "leakage"}
    return frozenset(found)


def _choose(examples: Sequence[Example], share: float, seed: int) -> list[Example]:
    """A share of the tasks, at least one of two or more; which, only their ids and the seed decide."""
    tasks = sorted({e.task_id for e in examples}, key=lambda t: digest(str(seed), t))
    count = max(1, round(share * len(tasks))) if share and len(tasks) > 1 else 0
    chosen = set(tasks[:count])
    return [e for e in examples if e.task_id in chosen]


def _sample(examples: Sequence[Example], seed: int) -> list[Example]:
    """No more held-out examples than are looked at each time."""
    return sorted(examples, key=lambda e: digest(str(seed), e.id))[:HELD_OUT_MOST]


def _repeat(examples: Sequence[Example], weight: float, seed: int) -> list[Example]:
    """Every example as often as its weight says; of a fraction, that share of them once more."""
    whole = math.floor(weight)
    extra = round((weight - whole) * len(examples))
    return [*examples] * whole + sorted(examples, key=lambda e: digest(str(seed), "mix", e.id))[:extra]


def _reasons(refused: Mapping[str, int]) -> str:
    return ", ".join(f"{count} rows are {reason}" for reason, count in sorted(refused.items()))


def summary(corpus: Corpus) -> dict[str, Any]:
    """What was used and refused, as plain JSON values."""
    return {
        "id": corpus.id, "train": len(corpus.train), "held_out": len(corpus.held_out),
        "sources": [asdict(u) for u in corpus.used], "refused": dict(corpus.refused),
    }  # fmt: skip

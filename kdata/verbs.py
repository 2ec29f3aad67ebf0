"""One stage run by itself: records from whatever the user has, results in shards of a folder."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar, cast

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq

from kdata import folders, kernelbench, kernelbook, rows
from kdata.record import Candidate, Origin, Pair, Task, records
from kdata.shards import Manifest, Store, required
from kdata.statistics import PIPELINE
from kdata.step import Step
from kdata.task import TaskError, find_entry_point
from kdata.terminal import Tally, resumable, watching

In = TypeVar("In")
Out = TypeVar("Out")
FOREIGN: Mapping[type, tuple[tuple[str, ...], Callable[[Mapping[str, Any]], Any]]] = {
    Task: (kernelbook.TASK_COLUMNS, kernelbook.task),
    Candidate: (kernelbook.PAIR_COLUMNS, kernelbook.candidate),
    Pair: (tuple(name for name in rows.columns().names if name not in rows.LATER), rows.pair),
}


def run(step: Step[In, Out], given: Sequence[In], out: str, size: int | None, workers: int) -> list[Manifest]:
    """Run a stage over records in shards of ``size`` (None: all in one) and return the manifests, in order.

    Finished shards are left as they are, so that the same command resumes. Progress goes to standard error.
    """
    store = Store(out)
    chunks = [given[i : i + size] for i in range(0, len(given), size)] if size else [given]
    with resumable(), watching(workers) as watcher, ThreadPoolExecutor(workers) as threads:
        tally = Tally(step.name, sum(len(chunk) for chunk in chunks if not step.finished(store, chunk)), watcher)
        return list(threads.map(lambda chunk: step.run_on(store, chunk, tally.settle), chunks))


def read_all(paths: Sequence[str], kind: type[In], stage: str = "") -> list[In]:
    """Records of one kind from parquet files, or folders of them.

    Tasks may also be Python files; tasks and candidates may be in KernelBook's columns; candidates may pair problems of
    KernelBench's with answers, see ``kdata.kernelbench``, or be Python files, see ``kdata.folders``; pairs may be rows
    that kdata published, so that sets can be put together.  Of a folder that holds pairs of several stages those of the
    last one are read, or of the last before ``stage``.  A task that several shards hold, as of a source that was mined
    with one limit and then with another, is read once.

    Raises:
        FileNotFoundError: a path does not exist, or a folder holds nothing to read.
        ValueError: a file holds something else; the message names the missing columns.
    """
    found = [r for path in paths for file in _files(path, kind, stage) for r in _read(file, kind, file == path)]
    return list(dict.fromkeys(found)) if kind is Task else found


def _files(path: str, kind: type, stage: str) -> list[str]:
    fs, inner = fsspec.core.url_to_fs(path)
    if not fs.exists(inner):
        raise FileNotFoundError(f"there is no {path}")
    if fs.isfile(inner):
        return [path]
    if kind in FOREIGN and (published := _published(fs, inner)):
        return [fs.unstrip_protocol(f) for f in published]
    every = fs.find(inner)
    shards = {f.removesuffix(".json") for f in every if f.endswith(".json")}
    found = sorted(f for f in every if f.endswith(".parquet") and not f.endswith(".dropped.parquet"))
    made = {f: _manifest(fs, f) for f in found if f.removesuffix(".parquet") in shards}
    found = [f for f in found if f not in made or made[f].get("kind", kind.__name__) == kind.__name__]
    if kind is Pair:
        found = _latest(found, {f: str(manifest.get("stage")) for f, manifest in made.items()}, stage)
    programs = sorted(f for f in every if f.endswith(".py"))
    if not found and kind is Task:
        found = programs
    elif kind is Candidate and programs and not any(f.endswith(".parquet") for f in every):
        found = [inner]
    if not found and (others := sorted({str(manifest.get("kind")) for manifest in made.values()})):
        raise ValueError(f"{path} holds no {_plural(kind)}, but {' and '.join(map(_read_by, others))}")
    if not found:
        raise FileNotFoundError(
            f"{path} holds no parquet files" + (" and no .py files" if kind in (Task, Candidate) else "")
        )
    return [fs.unstrip_protocol(f) for f in found]


def _published(fs: fsspec.AbstractFileSystem, root: str) -> list[str]:
    """The parquet files of a dataset folder's default configuration, as its card has it; none where no card says.

    https://huggingface.co/docs/hub/datasets-manual-configuration

    Raises:
        ValueError: the card says it in no form that is known.
    """
    card = f"{root}/README.md"
    text = fs.cat_file(card).decode("utf-8", "replace") if fs.isfile(card) else ""
    if "\nconfigs:" not in text:
        return []
    import yaml
    from datasets.data_files import sanitize_patterns
    from datasets.utils.metadata import MetadataConfigs
    from huggingface_hub import DatasetCard

    try:
        configurations = MetadataConfigs.from_dataset_card_data(DatasetCard(text).data)
        name = configurations.get_default_config_name() or next(iter(configurations), "")
        splits = sanitize_patterns(configurations.get(name, {}).get("data_files", {}))
    except (ValueError, yaml.YAMLError) as error:
        raise ValueError(f"the head of {card} names no data: {' '.join(str(error).split())[:200]}") from error
    named = [f for patterns in splits.values() for p in patterns for f in sorted(fs.glob(f"{root}/{p}"))]
    return [f for f in named if f.endswith(".parquet")]


def _manifest(fs: fsspec.AbstractFileSystem, shard: str) -> dict[str, Any]:
    """A shard's manifest: a folder may hold shards of several kinds and stages."""
    made: dict[str, Any] = json.loads(fs.cat_file(f"{shard.removesuffix('.parquet')}.json"))
    return made


def _latest(files: list[str], stages: Mapping[str, str], before: str) -> list[str]:
    """The files of one stage, the last there is: what it dropped is there still, in the shards that it read."""
    order = [stage for stage in PIPELINE if stage in {stages[f] for f in files if f in stages}]
    earlier = order[: order.index(before)] if before in order else order
    last = (earlier or order)[-1:]
    return [f for f in files if f not in stages or not last or stages[f] == last[0]]


def _read(path: str, kind: type[In], named: bool) -> Iterator[In]:
    """The records of a file, which the user named, or which was found in a folder."""
    fs, inner = fsspec.core.url_to_fs(path)
    if path.endswith(".py") and kind is Task:
        yield read_task(Path(inner), named)  # type: ignore[misc]
        return
    if kind is Candidate and (path.endswith(".py") or not fs.isfile(inner)):
        yield from folders.candidates(path)  # type: ignore[misc]
        return
    with fs.open(inner, "rb") as file:
        try:
            table = pq.read_table(file)
        except pa.ArrowInvalid as error:
            raise ValueError(f"{path} is not a parquet file") from error
    have, wanted = set(table.column_names), required(cast(type, kind))
    if have >= wanted:
        yield from records(table.to_pylist(), kind)
        return
    columns, convert = FOREIGN.get(kind, ((), None))
    if convert and have >= set(columns):
        yield from map(convert, table.to_pylist())
        return
    if kind is Candidate and kernelbench.columns(have):
        yield from cast("Iterator[In]", map(kernelbench.candidate, table.to_pylist()))
        return
    message = f"{path} holds no {_plural(kind)}: it lacks the columns {', '.join(sorted(wanted - have))}"
    if convert and kind is not Pair:
        message += f" (or, in KernelBook's form, {', '.join(c for c in columns if c not in have)})"
    if kind is Candidate:
        message += "; a problem in KernelBench's form and its answer would be code and kernel"
    raise ValueError(message)


def read_task(path: Path, demanded: bool = True) -> Task:
    """A task from a file in the KernelBench interface.

    Args:
        path: of the file.
        demanded: whether it must be one. Of a folder one file that is none ends nothing: the stage drops it.

    Raises:
        OSError: the file cannot be read.
        kdata.task.TaskError: it is no task, and must be.
    """
    source = path.read_bytes().decode("utf-8", "replace")
    try:
        entry_point = find_entry_point(source)
    except TaskError as error:
        if demanded:
            raise TaskError(f"{path}: {error}") from error
        entry_point = "Model"
    return Task.make(source, entry_point, Origin("local", path.parent.name, "", path.name))


def _plural(kind: type) -> str:
    return {Task: "tasks", Candidate: "candidates", Pair: "pairs"}.get(kind, kind.__name__)


def _read_by(kind: str) -> str:
    """Records by the name of their class, and the verb that they are for."""
    verbs = {
        "Task": "tasks (for kdata align)",
        "Candidate": "candidates (for kdata verify)",
        "Pair": "pairs (for kdata filter, dedup and publish)",
    }
    return verbs.get(kind, f"{kind} records")


def summary(made: Sequence[Manifest], what: str) -> str:
    """What came out, in one line."""
    reasons: Counter[str] = Counter()
    for manifest in made:
        reasons.update(manifest.reasons)
    why = ", ".join(f"{reason} {count}" for reason, count in sorted(reasons.items(), key=lambda i: (-i[1], i[0])))
    dropped = sum(m.dropped for m in made)
    return f"{what}: {sum(m.kept for m in made)} kept, {dropped} dropped" + (f" ({why})" if why else "")

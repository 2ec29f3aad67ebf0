"""The dataset: a folder that ``datasets.load_dataset`` reads, its card and licence manifest; and the way to the Hub.

Everything written is decided by the records and the seed: the same set gives the same bytes.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import fsspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kdata import rows, storage
from kdata.hub import errors
from kdata.record import Dropped, Pair, digest, table
from kdata.split import split
from kdata.statistics import Statistics, describe

CARD = "README.md"
DATA = ("data/*.parquet", "dropped/*.parquet")
ROWS_PER_FILE = 20_000  # some 300 MB of text, below the Hub's 500 MB
ROWS_PER_GROUP = 500


class PublishError(ValueError):
    """The Hub cannot be published to; the message says why in one line."""


@dataclass(frozen=True, slots=True)
class DatasetInfo:
    """What was written: the card is rendered from this."""

    train: int
    test: int
    dropped: int
    split_by: str  # what was kept whole: "repository", "source file", "task"
    test_repositories: tuple[str, ...]
    overlaps: int | None  # pairs flagged as a benchmark's operator; None where none was compared with
    statistics: Statistics
    licenses: tuple[dict[str, Any], ...]  # the lines of the licence manifest
    files: tuple[str, ...]  # relative to the folder
    id: str  # digest of all data: changes with any byte of it
    example: Pair  # the shortest pair


def write_dataset(
    pairs: Sequence[Pair],
    dropped: Sequence[Dropped],
    out: str,
    card: Callable[[DatasetInfo], str],
    seed: int = 0,
    overlaps: Mapping[str, str] | None = None,
) -> DatasetInfo:
    """Write the dataset folder: ``data/``, ``dropped/``, ``LICENSES.jsonl`` and ``README.md``, the last one last.

    Args:
        pairs: the rows, in any order.
        dropped: what the stages did not keep: the config ``dropped``.
        out: folder or fsspec URL; data files of an earlier set in it are removed.
        card: makes the README of what was written.
        seed: decides the test split.
        overlaps: pair id -> benchmark problem with the same operators; None where none was compared with.

    Raises:
        ValueError: there is no pair, two have one id, or they were judged in tf32 and in IEEE precision.
    """
    storage.demand_folder(out)
    if not pairs:
        raise ValueError("nothing to publish: no pair came through")
    if len(tracks := sorted({p.receipt.precision for p in pairs})) > 1:
        raise ValueError(f"pairs judged in {' and in '.join(tracks)} precision are not mixed: publish them apart")
    if len({p.id for p in pairs}) < len(pairs):
        raise ValueError("two of the pairs have the same id: deduplicate first")
    flags = dict(overlaps or {})
    train, test, split_by = split(pairs, seed)
    files = {**_data("train", train, flags), **_data("test", test, flags), **_dropped(dropped)}
    manifest = license_manifest(pairs)
    files["LICENSES.jsonl"] = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in manifest).encode()
    info = DatasetInfo(
        len(train), len(test), len(dropped), split_by, tuple(sorted({p.task.origin.repository for p in test})),
        None if overlaps is None else sum(1 for p in pairs if flags.get(p.id)), describe(pairs, dropped), manifest,
        (*sorted(files), CARD),
        digest(*(f"{name} {digest(data.hex())}" for name, data in sorted(files.items()))),
        min(pairs, key=lambda p: (len(p.task.source) + len(p.candidate.source), p.id)),
    )  # fmt: skip
    _put(out, {**files, CARD: card(info).encode()})
    return info


def license_manifest(pairs: Sequence[Pair]) -> tuple[dict[str, Any], ...]:
    """One line a repository, revision and licence: where the code came from, and how many pairs are from there.

    Packages of which definitions were inlined have lines of their own; their licences are among the repository's, too,
    for all of them hold for its rows.
    """
    counts: dict[tuple[str, ...], int] = {}
    for pair in pairs:
        origin = pair.task.origin
        keys = [(origin.repository, origin.revision, x, origin.source, origin.url) for x in _known(origin.licenses)]
        for part in origin.inlined:
            name = part.package.partition("==")[0]
            keys += [(name, part.revision, x, "pypi", part.url) for x in _known(part.licenses)]
        for key in keys:
            counts[key] = counts.get(key, 0) + 1
    names = ("repository", "revision", "license", "source", "url")
    return tuple({**dict(zip(names, key, strict=True)), "pairs": count} for key, count in sorted(counts.items()))


def _known(licenses: tuple[str, ...]) -> tuple[str, ...]:
    return licenses or ("unknown",)


def read_dataset(path: str, begins: str = "") -> list[Pair]:
    """The pairs of a published folder, or of one of its parquet files, test ones last.

    Args:
        path: of the folder or file.
        begins: how the ids of the pairs that are wanted, or those of their tasks, begin: all by default.

    Raises:
        FileNotFoundError: there is no such path, or no data in it.
        ValueError: a file is no parquet, or not of a set published by kdata; the message names the missing columns.
    """
    fs, inner = fsspec.core.url_to_fs(path)
    if not fs.exists(inner):
        raise FileNotFoundError(f"there is no {path}")
    found = [inner] if fs.isfile(inner) else sorted(fs.glob(f"{inner}/data/*.parquet"), key=_train_first)
    if not found:
        raise FileNotFoundError(f"{path} holds no data/*.parquet")
    return [pair for file in found for pair in _read(fs, file, begins)]


def written(inputs: Sequence[str], out: str, to: str | None) -> str:
    """The dataset folder among what is to be published, which goes up as it is; "" where one has yet to be written.

    Raises:
        FileNotFoundError: there is no such path.
        ValueError: it is to be written anew, or it is not said where to.
    """
    for path in inputs:
        fs, inner = fsspec.core.url_to_fs(path)
        if not fs.exists(inner):
            raise FileNotFoundError(f"there is no {path}")
        if fs.exists(posixpath.join(inner, CARD)) and fs.glob(posixpath.join(inner, DATA[0])):
            if len(inputs) > 1 or out or not to:
                raise ValueError(
                    f"{path} is a dataset folder: kdata publish {path} --to OWNER/NAME uploads it as it is"
                )
            return path
    if inputs and not out:
        raise ValueError("say where to write the dataset: --out FOLDER")
    return ""


def push(folder: str, repo_id: str, token: str | None, endpoint: str | None = None) -> str:
    """Upload a dataset folder to the Hugging Face Hub and return its address. Unchanged files make no commit.

    Only what ``write_dataset`` writes goes up, whatever else lies in the folder; data files of an earlier set go away.

    Raises:
        PublishError: there is no token, no such folder, or the Hub refuses or does not answer.
    """
    if not token:
        raise PublishError(f"publishing to {repo_id} needs a token: set HF_TOKEN")
    fs, inner = fsspec.core.url_to_fs(folder)
    if "file" not in fs.protocol or not fs.exists(posixpath.join(inner, CARD)):
        raise PublishError(f"{folder} is no dataset folder on this disk: it has no README.md")
    from huggingface_hub import HfApi

    api = HfApi(endpoint=endpoint, token=token)
    refusals: tuple[type[Exception], ...] = (OSError, *errors())
    try:
        address = api.create_repo(repo_id, repo_type="dataset", exist_ok=True)
        api.upload_folder(
            folder_path=inner, repo_id=repo_id, repo_type="dataset", commit_message="Publish the dataset",
            allow_patterns=[*DATA, "LICENSES.jsonl", CARD], delete_patterns=list(DATA),
        )  # fmt: skip
    except refusals as error:
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        raise PublishError(f"the Hub did not take {repo_id}: {reason}") from error
    return str(address)


def _data(name: str, pairs: Sequence[Pair], flags: Mapping[str, str]) -> dict[str, bytes]:
    """A split's parquet files, by name; rows in order of origin, so that a grown set re-uses most of its chunks."""
    key = lambda p: (p.task.origin.repository, p.task.origin.path, p.task.symbol, p.id)  # noqa: E731
    ordered = [rows.row(p, flags.get(p.id, "")) for p in sorted(pairs, key=key)]
    return dict(_files(f"data/{name}", rows.table(ordered))) if ordered else {}


def _dropped(dropped: Sequence[Dropped]) -> dict[str, bytes]:
    ordered = sorted(dropped, key=lambda d: (d.stage, d.reason, d.name, d.id, d.detail))
    return dict(_files("dropped/train", table(ordered, Dropped).select(rows.DROPPED))) if dropped else {}


def _files(stem: str, data: pa.Table) -> Iterator[tuple[str, bytes]]:
    count = -(-data.num_rows // ROWS_PER_FILE)
    for i in range(count):
        sink = pa.BufferOutputStream()
        pq.write_table(
            data.slice(i * ROWS_PER_FILE, ROWS_PER_FILE), sink, row_group_size=ROWS_PER_GROUP, compression="zstd",
            write_page_index=True, use_content_defined_chunking=True,
        )  # fmt: skip
        yield f"{stem}-{i:05}-of-{count:05}.parquet", cast(bytes, sink.getvalue().to_pybytes())


def _put(out: str, files: Mapping[str, bytes]) -> None:
    """Write the files in order, and remove what an earlier, larger set left.

    An earlier set's card goes first: a folder without one is no dataset, so what a kill leaves half is not uploaded.
    """
    fs, root = fsspec.core.url_to_fs(out)
    if fs.exists(card := posixpath.join(root, CARD)):
        fs.rm_file(card)
    stale = [f for pattern in DATA for f in fs.glob(f"{root}/{pattern}")]
    for path in stale:
        if not any(path.endswith(f"/{name}") for name in files):
            fs.rm_file(path)
    for name, data in files.items():
        storage.put(posixpath.join(out, name), data)


def _read(fs: fsspec.AbstractFileSystem, path: str, begins: str) -> Iterator[Pair]:
    with fs.open(path, "rb") as file:
        try:
            found = pq.read_table(file)
        except pa.ArrowInvalid as error:
            raise ValueError(f"{path} is not a parquet file") from error
    if missing := set(rows.columns().names) - rows.LATER - set(found.column_names):
        raise ValueError(f"{path} is no set published by kdata: it lacks the columns {', '.join(sorted(missing))}")
    if begins:  # most of the time goes into making records of rows
        one, other = (pc.starts_with(found[name], begins) for name in ("id", "task_id"))
        found = found.filter(pc.or_(one, other))
    yield from map(rows.pair, found.to_pylist())


def _train_first(path: str) -> tuple[bool, str]:
    return not posixpath.basename(path).startswith("train"), path

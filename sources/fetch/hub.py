"""Rows of a dataset on the Hugging Face Hub, or of parquet files on this disk, one after the other as they arrive.

Nothing is downloaded whole: ``datasets`` streams the files, and of a parquet file only the columns that are asked for.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any

from sources.fetch.texts import SourceError

FOOTER = 64 << 10  # bytes at the end of a parquet file that its identity is taken from: they describe all the others
_NAME = re.compile(r"[\w.-]+/[\w.-]+")


def resolve(place: str, revision: str = "main") -> str:
    """The revision that a dataset has now: the Hub's commit, or a hash over the files of a local folder.

    Raises:
        SourceError: there is no such dataset, or no access to it.
    """
    if local := _local(place):
        return f"sha256:{_identity(local)}"
    from huggingface_hub import HfApi

    with _told(place):
        return str(HfApi().dataset_info(place, revision=revision).sha)


def stream(place: str, revision: str, files: str, columns: Iterable[str]) -> Iterator[Mapping[str, Any]]:
    """The rows of the files that match the glob ``files``, in the dataset's order, with these columns.

    Args:
        place: a dataset's name on the Hub, a folder that is laid out like one, or one parquet file.
        revision: a commit of the Hub, from ``resolve``; local files have none.
        files: which of the dataset's parquet files.
        columns: columns to read; a file that lacks one is refused.

    Raises:
        SourceError: no such dataset or files, no access, a column that is not there, or no network.
    """
    import datasets

    local = _local(place)
    options: dict[str, Any] = {"split": "train", "streaming": True, "columns": list(columns)}
    with _told(place), _quiet():
        if local and local.is_file():
            found = datasets.load_dataset("parquet", data_files=str(local), **options)
        elif local:
            found = datasets.load_dataset(str(local), data_files=files, **options)
        else:
            found = datasets.load_dataset(place, data_files=files, revision=revision, **options)
    rows = iter(found)
    while True:
        with _told(place):
            try:
                row = next(rows)
            except StopIteration:
                return
        yield row


def is_local(place: str) -> bool:
    """Whether a dataset is a file or folder of this disk."""
    return bool(place) and Path(place).expanduser().exists()


def identity(place: str, revision: str) -> str:
    """How records name a dataset at a revision: no folder of a machine is in it."""
    return f"{Path(place).expanduser().resolve().name if is_local(place) else place}@{revision}"


def _local(place: str) -> Path | None:
    if is_local(place):
        return Path(place).expanduser()
    if not _NAME.fullmatch(place) or place.startswith("."):
        raise SourceError(f"{place}: there is no such folder, and it is no dataset's name (owner/name)")
    return None


def _identity(path: Path) -> str:
    """Hash over names, sizes and footers, so that terabytes need not be read."""
    root = path.parent if path.is_file() else path
    seen = hashlib.sha256()
    for file in [path] if path.is_file() else sorted(path.rglob("*.parquet")):
        with file.open("rb") as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size - FOOTER))
            seen.update(f"{file.relative_to(root).as_posix()}\0{size}\0".encode() + stream.read())
    return seen.hexdigest()


@contextmanager
def _quiet() -> Iterator[None]:
    """No progress bars of others while files are listed."""
    from datasets.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


@contextmanager
def _told(place: str) -> Iterator[None]:
    """What the Hub's libraries raise, as one line that says what to do."""
    try:
        yield
    except (StopIteration, SourceError):
        raise
    except Exception as error:  # the two libraries, pyarrow and the HTTP client share no base of their own
        raise _explained(place, error) from error


def _explained(place: str, error: Exception) -> SourceError:
    text = " ".join(str(error).split())
    status = getattr(getattr(error, "response", None), "status_code", None)
    kind = type(error).__name__
    if kind == "GatedRepoError" or "is a gated dataset" in text:
        return SourceError(
            f"{place} is gated: accept its terms at https://huggingface.co/datasets/{place}, and set HF_TOKEN to a "
            "token of the account that did"
        )
    if kind in ("DatasetNotFoundError", "RepositoryNotFoundError", "RevisionNotFoundError"):
        return SourceError(f"{place}: the Hub has no such dataset or revision that HF_TOKEN may read")
    if isinstance(error, FileNotFoundError):
        return SourceError(f"{place}: {text[:200] or 'there are no such files'}")
    lasting = isinstance(error, ValueError | KeyError | TypeError) or status == HTTPStatus.NOT_FOUND
    return SourceError(f"{place} could not be read: {kind}: {text[:200]}", lasting=lasting)

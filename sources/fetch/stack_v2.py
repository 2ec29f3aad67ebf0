"""The Stack v2 (https://huggingface.co/datasets/bigcode/the-stack-v2): rows from the Hub, contents from the archive.

``bigcode/the-stack-v2`` and ``-dedup`` have a row for each file and a folder for each language; in
``-train-full-ids`` and ``-train-smol-ids`` a row is a repository with its ``files``, so that those whole repositories
come together.  The terms are in ``sources.fetch.stack``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from kdata.record import Dropped, SourceFile
from sources.fetch import hub, stack
from sources.fetch.software_heritage import Answer, Archive, Refused
from sources.fetch.stack import Entry, Part
from sources.fetch.texts import dropped, source_file

NAME, DATASET = "stack-v2", "bigcode/the-stack-v2-dedup"
REPOSITORY_COLUMNS = ("repo_name", "revision_id", "star_events_count")
FILE_COLUMNS = ("blob_id", "path", "language", "length_bytes", "detected_licenses", "license_type", "src_encoding",
                "is_vendor", "is_generated")  # fmt: skip


def collect(name: str) -> list[SourceFile | Dropped]:
    """The files of a part, such as ``Python?limit=2000``, grouped by repository: see ``sources.fetch.stack``.

    Raises:
        SourceError: no such part or dataset, no access, or an archive that does not answer.
    """
    part = stack.parse(name, DATASET)
    chosen = list(stack.select(part, rows(part, hub.resolve(part.dataset, part.revision))))
    entries = [e for e in chosen if isinstance(e, Entry)]
    contents = Archive().contents((e.blob_id for e in entries), stack.teller(f"{NAME}:{name}"))
    records = (record(e, contents[e.blob_id]) if isinstance(e, Entry) else e for e in chosen)
    return stack.finish(part, records)


def rows(part: Part, revision: str) -> Iterator[list[Entry]]:
    """The files of each row of the dataset, with nothing fetched but the rows themselves."""
    nested = _is_nested(part.dataset)
    files = "data/*.parquet" if nested else f"data/{part.language}/*.parquet"
    columns = (*REPOSITORY_COLUMNS, "files") if nested else (*REPOSITORY_COLUMNS, *FILE_COLUMNS)
    for row in hub.stream(part.dataset, revision, files, columns):
        yield [_entry(part, revision, row, file) for file in (row["files"] or () if nested else (row,))]


def record(entry: Entry, answer: Answer) -> SourceFile | Dropped:
    """The file with its text, or why there is none."""
    if isinstance(answer, Refused):
        return dropped(entry.origin, answer.reason, answer.detail)
    return source_file(entry.origin, answer, entry.encoding)


def _is_nested(dataset: str) -> bool:
    """Whether a dataset is one of those with a row for each repository; of a local copy the last folder's name says."""
    return PurePosixPath(dataset).name.endswith("-ids")


def _entry(part: Part, revision: str, row: Mapping[str, Any], file: Mapping[str, Any]) -> Entry:
    repository = str(row["repo_name"])
    origin = stack.origin(
        NAME, part, str(row["revision_id"]), revision, repository=repository, path=stack.path(file, "path"),
        licenses=stack.licenses(file["detected_licenses"]), url=f"https://github.com/{repository}",
        stars=row["star_events_count"],
    )  # fmt: skip
    return Entry(
        origin, str(file["language"]), file["license_type"] == "permissive", file["length_bytes"],
        bool(file["is_vendor"]), bool(file["is_generated"]), str(file["blob_id"]), str(file["src_encoding"] or "UTF-8"),
    )  # fmt: skip

"""The Stack v3 (https://huggingface.co/datasets/HuggingFaceCode/stack-v3-train).

A row is a repository, with the contents of its files.  It is open under ODC-By, without a gate.  The terms that it
shares with The Stack v2 are in ``sources.fetch.stack``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kdata.record import Dropped, SourceFile
from sources.fetch import hub, stack
from sources.fetch.stack import Entry, Part
from sources.fetch.texts import source_file

NAME, DATASET = "stack-v3", "HuggingFaceCode/stack-v3-train"
COLUMNS = ("repo_path", "commit_id", "github_metadata", "files")


def collect(name: str) -> list[SourceFile | Dropped]:
    """The files of a part, such as ``Python?limit=2000``, grouped by repository: see ``sources.fetch.stack``.

    Repositories that never mention the word do not count for the limit.

    Raises:
        SourceError: no such part or dataset, or no network.
    """
    part = stack.parse(name, DATASET)
    chosen = stack.select(part, rows(part, hub.resolve(part.dataset, part.revision)))
    return stack.finish(part, (record(e) if isinstance(e, Entry) else e for e in chosen))


def rows(part: Part, revision: str) -> Iterator[list[Entry]]:
    """The files of each repository."""
    for row in hub.stream(part.dataset, revision, "data/*.parquet", COLUMNS):
        yield [_entry(part, revision, row, file) for file in row["files"] or ()]


def record(entry: Entry) -> SourceFile | Dropped:
    """The file with its text; the dataset holds it decoded."""
    return source_file(entry.origin, (entry.content or "").encode("utf-8", "surrogatepass"), "UTF-8")


def _entry(part: Part, revision: str, row: Mapping[str, Any], file: Mapping[str, Any]) -> Entry:
    repository = str(row["repo_path"])
    origin = stack.origin(
        NAME, part, str(row["commit_id"]), revision, repository=repository, path=stack.path(file, "file_path"),
        licenses=stack.licenses(file["detected_licenses"]), url=f"https://github.com/{repository}",
        stars=(row["github_metadata"] or {}).get("stars"),
    )  # fmt: skip
    return Entry(
        origin, str(file["language"]), file["license_type"] == "permissive", file["size_bytes"],
        bool(file["is_vendor"]), generated=False, content=file["content"],
    )  # fmt: skip

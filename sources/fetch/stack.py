"""What The Stack v2 and v3 have in common: how a part of one is named, and which of its files are wanted.

A part is named like ``Python?limit=2000&license=MIT&license=Apache-2.0``:

- ``limit``: about so many files (default 1000; the last repository stays whole), ``skip``: after so many that fit.
- ``dataset``: the dataset on the Hub, or a local copy of it; ``revision``: its commit or tag (default ``main``).
- ``license``: an SPDX identifier, may be repeated; without it, what the dataset calls permissive.
- ``mentions``: keep only repositories of which some file holds this word (default ``torch``; empty for all).

Terms: The Stack v2 is gated; its bulk download needs an agreement with Software Heritage and INRIA, models trained on
it follow their principles for language models, every file stays under its own licence with its attribution, and users
follow removals by moving to new revisions.  The Stack v3 is ODC-By; the other duties hold, too.  The revision of the
dataset is therefore a part of every origin's revision.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from kdata.record import Dropped, Origin, SourceFile
from sources.fetch import hub
from sources.fetch.texts import MAX_FILE, SourceError, dropped, wanted

PYTHON = "Python"
OPTIONS = ("dataset", "revision", "limit", "skip", "license", "mentions")
PROGRESS_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Part:
    """Which files of which dataset."""

    language: str
    dataset: str
    revision: str = "main"
    limit: int = 1000
    skip: int = 0
    licenses: tuple[str, ...] = ()  # none: those that the dataset calls permissive
    mentions: str = "torch"


@dataclass(frozen=True, slots=True)
class Entry:
    """A file that a dataset names: its origin, and what is known of its content before it is fetched."""

    origin: Origin
    language: str
    permissive: bool
    size: int | None  # bytes
    vendored: bool
    generated: bool
    blob_id: str = ""
    encoding: str = ""
    content: str | None = None


def parse(text: str, dataset: str) -> Part:
    """A part by its name.

    Raises:
        SourceError: an option that does not exist, or a limit that is no number.
    """
    language, pairs = options(text, OPTIONS)
    given = dict(pairs)
    if not language:
        raise SourceError(f"{text!r} names no language, such as {PYTHON}")
    limit, skip = window(text, given, 1000)
    licenses = tuple(sorted({value for name, value in pairs if name == "license"}))
    return Part(
        language, given.get("dataset", dataset), given.get("revision", "main"), limit, skip, licenses,
        given.get("mentions", "torch"),
    )  # fmt: skip


def options(text: str, allowed: Collection[str]) -> tuple[str, list[tuple[str, str]]]:
    """A name and the options after its question mark.

    Raises:
        SourceError: an option that is not allowed, or not written like one.
    """
    name, _, query = text.partition("?")
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
    except ValueError as error:
        raise SourceError(f"{text}: options are written name=value, joined by &") from error
    if unknown := sorted({key for key, _ in pairs} - set(allowed)):
        raise SourceError(f"{text}: no option {unknown[0]}; there are {', '.join(allowed)}")
    return name, pairs


def window(text: str, given: Mapping[str, str], default: int) -> tuple[int, int]:
    """The options ``limit`` and ``skip``.

    Raises:
        SourceError: they are no whole numbers, or the limit is 0.
    """
    limit, skip = given.get("limit", str(default)), given.get("skip", "0")
    if not (limit.isdecimal() and skip.isdecimal() and int(limit)):
        raise SourceError(f"{text}: limit and skip are whole numbers, and limit is not 0")
    return int(limit), int(skip)


def place(text: str, dataset: str) -> str:
    """The dataset of a part by its name, however wrong the rest of the name is."""
    return dict(parse_qsl(text.partition("?")[2])).get("dataset", dataset)


def origin(source: str, part: Part, commit: str, dataset_revision: str, **rest: Any) -> Origin:
    """An origin whose revision is the repository's commit and the dataset's revision: removals are followed by both."""
    return Origin(source, revision=f"{commit} {hub.identity(part.dataset, dataset_revision)}", **rest)


def select(part: Part, rows: Iterable[list[Entry]]) -> Iterator[Entry | Dropped]:
    """The files that are wanted, until there are enough; and what was passed over before, with reasons.

    ``rows`` holds the files of one row of the dataset at a time: of a repository, which stays whole, or a single one.
    Files in other languages are none of ours; a repository without a file that fits is one ``Dropped``.
    """
    skipped = taken = 0
    for entries in rows:
        if taken >= part.limit:
            return
        ours = [e for e in entries if e.language == part.language and _in_scope(part, e)]
        judged = [(e, _refusal(part, e)) for e in ours]
        fit = sum(not reason for _, reason in judged)
        if entries and not fit and len(entries) > 1:
            yield dropped(entries[0].origin, "license not wanted" if ours else "no file of the language")
        elif fit and not _mentioned(part, ours):
            yield dropped(entries[0].origin, without(part))
        elif fit and skipped < part.skip:
            skipped += fit
        else:
            taken += fit
            yield from (dropped(e.origin, reason) if reason else e for e, reason in judged)


def without(part: Part) -> str:
    """The reason for repositories that never mention the word."""
    return f"repository without {part.mentions}"


def _mentioned(part: Part, entries: list[Entry]) -> bool:
    """Whether some file mentions the word, or its content is not here to say."""
    return any(e.content is None or part.mentions in e.content for e in entries)


def _in_scope(part: Part, entry: Entry) -> bool:
    return part.language != PYTHON or wanted(entry.origin.path)


def _refusal(part: Part, entry: Entry) -> str:
    """Why a file is not wanted, as far as can be told without its content."""
    licenses = set(entry.origin.licenses)
    if part.licenses and not (licenses and licenses <= set(part.licenses)) or not (part.licenses or entry.permissive):
        return "license not wanted"
    if entry.vendored or entry.generated:
        return "vendored" if entry.vendored else "generated"
    return "file too large" if (entry.size or 0) > MAX_FILE else ""


def finish(part: Part, found: Iterable[SourceFile | Dropped]) -> list[SourceFile | Dropped]:
    """Files grouped by repository, each path once; those of repositories that never mention the word are dropped."""
    by_repository: dict[tuple[str, str], list[SourceFile | Dropped]] = {}
    out: list[SourceFile | Dropped] = []
    for record in found:
        if isinstance(record, Dropped):
            out.append(record)
        else:
            by_repository.setdefault((record.origin.repository, record.origin.revision), []).append(record)
    for _, files in sorted(by_repository.items()):
        kept = sorted((f for f in files if isinstance(f, SourceFile)), key=lambda f: f.origin.path)
        mentioned = any(part.mentions in f.text for f in kept)
        seen: set[str] = set()
        for file in kept:
            twice = file.origin.path in seen
            seen.add(file.origin.path)
            reason = "" if mentioned else without(part)
            reason = reason or ("another file of the same path" if twice else "")
            out.append(dropped(file.origin, reason) if reason else file)
    return out


def licenses(values: Collection[str] | None) -> tuple[str, ...]:
    """Identifiers of a row in the order that records keep."""
    return tuple(sorted({str(v) for v in values or () if v}))


def path(row: Mapping[str, Any], name: str) -> str:
    """A path inside its repository; The Stack v2 writes them with a slash in front."""
    return str(row.get(name) or "").lstrip("/")


def teller(what: str) -> Callable[[int, int], None]:
    """A function that says on stderr, every few seconds, how far ``what`` is."""
    last = time.monotonic()

    def tell(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last >= PROGRESS_SECONDS:
            last = time.monotonic()
            print(f"kdata: {what}: {done} of {total} files", file=sys.stderr)

    return tell

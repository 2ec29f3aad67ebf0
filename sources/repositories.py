"""Cutting a source that holds many repositories.

A path means another file in each repository, and no definition may see those of another: each is cut by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from kdata.record import Definition, Dropped, SourceFile, digest
from kdata.step import Step
from sources import mine

FULL = "limit reached"


def cut_step(limit: int | None = None, seed: int = 0) -> Step[SourceFile, Definition]:
    """The stage ``cut`` over the files of any number of repositories, in an order that depends on ``seed`` only.

    It ends when there are enough definitions for ``limit`` tasks.

    Raises:
        ValueError: ``limit`` is negative.
    """
    single = mine.cut_step(limit, seed)

    def function(files: Sequence[SourceFile]) -> Iterable[Definition | Dropped]:
        groups = _repositories(files, seed)
        return single.function(files) if len(groups) < 2 else _cut(groups, limit, seed)

    return replace(single, function=function)


def _repositories(files: Sequence[SourceFile], seed: int) -> list[list[SourceFile]]:
    groups: dict[tuple[str, str], list[SourceFile]] = {}
    for file in files:
        groups.setdefault((file.origin.repository, file.origin.revision), []).append(file)
    order = sorted(groups, key=lambda key: digest(str(seed), *key))
    return [sorted(groups[key], key=lambda f: f.origin.path) for key in order]


def _cut(groups: list[list[SourceFile]], limit: int | None, seed: int) -> Iterator[Definition | Dropped]:
    enough = None if limit is None else mine.CUTS_PER_TASK * limit
    made, sources = 0, set[str]()
    for files in groups:
        if enough is not None and made >= enough:
            origin = files[0].origin
            yield Dropped(mine.CUT, digest(origin.repository, origin.revision), FULL, "", origin.repository)
            continue
        for record in mine.cut_step(limit, seed).function(files):
            if isinstance(record, Definition) and record.source in sources:
                name = f"{record.origin.repository}:{record.origin.path}:{record.symbol}"
                key = digest("definition", record.origin.revision, name)
                yield Dropped(mine.CUT, key, "duplicate", "equal to one of another repository", name)
                continue
            if isinstance(record, Definition):
                sources.add(record.source)
                made += 1
            yield record

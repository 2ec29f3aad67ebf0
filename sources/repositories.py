"""Cutting a source that holds many repositories, and passing on what is a task already.

A path means another file in each repository, and no definition may see those of another: each is cut by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from kdata.record import Definition, Dropped, SourceFile, Task, digest
from kdata.step import Step
from sources import mine
from sources import operators as own
from sources.fetch import task_sets

FULL = "limit reached"
READY = '{"ready": true}'  # told of a definition that has its inputs


def cut_step(
    limit: int | None = None, seed: int = 0, meter: mine.Meter | None = None, inline: bool = False
) -> Step[SourceFile, Definition]:
    """The stage ``cut`` over the files of any number of repositories, in an order that depends on ``seed`` only.

    It ends when there are enough definitions for ``limit`` tasks.  ``meter`` counts what it costs; ``inline`` is as in
    ``sources.mine``.

    Raises:
        ValueError: ``limit`` is negative.
    """
    single = mine.cut_step(limit, seed, meter, inline)
    enough = None if limit is None else mine.CUTS_PER_TASK * limit

    def function(files: Sequence[SourceFile]) -> Iterable[Definition | Dropped]:
        if any(map(own.is_one, files)):
            return _first(own.definitions(files, seed), enough)
        if any(task_sets.entry_point(f) for f in files):
            return _first(_ready(files, seed), enough)
        groups = _repositories(files, seed)
        return single.function(files) if len(groups) < 2 else _cut(groups, enough, single)

    return replace(single, function=function)


def step(
    limit: int | None = None, part: int = 0, parts: int = 1, operators: int = mine.OPERATORS,
    meter: mine.Meter | None = None,
) -> Step[Definition, Task]:  # fmt: skip
    """The stage ``mine``; definitions that are tasks already become these as they stand.

    Raises:
        ValueError: see ``sources.mine.step``.
    """
    single = mine.step(limit, part, parts, operators, meter)

    def function(found: Sequence[Definition]) -> Iterable[Task | Dropped]:
        if any(d.told == own.TOLD for d in found):
            return own.tasks(found[part::parts], limit, operators, meter or mine.Meter())
        ready = any(d.told == READY for d in found)
        return _tasks(found[part::parts], limit) if ready else single.function(found)

    return replace(single, function=function)


def _first(found: Iterable[Definition], enough: int | None) -> Iterator[Definition | Dropped]:
    for number, d in enumerate(found):
        yield d if enough is None or number < enough else _beyond(d, mine.CUT)


def _beyond(d: Definition, stage: str) -> Dropped:
    name = f"{d.origin.repository}:{d.origin.path}"
    return Dropped(stage, digest("definition", d.origin.revision, name), FULL, "", name)


def _ready(files: Sequence[SourceFile], seed: int) -> Iterator[Definition]:
    for file in sorted(files, key=lambda f: digest(str(seed), f.id)):
        name = task_sets.entry_point(file)
        yield Definition(file.origin, name, name, file.text, READY)


def _tasks(found: Sequence[Definition], limit: int | None) -> Iterator[Task | Dropped]:
    for number, d in enumerate(found):
        if limit is not None and number >= limit:
            yield _beyond(d, mine.MINE)
        else:
            yield Task.make(d.source, d.name, d.origin, symbol=d.symbol)


def _repositories(files: Sequence[SourceFile], seed: int) -> list[list[SourceFile]]:
    groups: dict[tuple[str, str], list[SourceFile]] = {}
    for file in files:
        # Programs of a published set stand alone under paths of their own: they are cut together.
        one = file.origin.source in task_sets.SETS
        key = (file.origin.source, "") if one else (file.origin.repository, file.origin.revision)
        groups.setdefault(key, []).append(file)
    order = sorted(groups, key=lambda key: digest(str(seed), *key))
    return [sorted(groups[key], key=lambda f: f.origin.path) for key in order]


def _cut(
    groups: list[list[SourceFile]], enough: int | None, single: Step[SourceFile, Definition]
) -> Iterator[Definition | Dropped]:
    made, sources = 0, set[str]()
    for files in groups:
        if enough is not None and made >= enough:
            origin = files[0].origin
            yield Dropped(mine.CUT, digest(origin.repository, origin.revision), FULL, "", origin.repository)
            continue
        for record in single.function(files):
            if isinstance(record, Definition) and record.source in sources:
                name = f"{record.origin.repository}:{record.origin.path}:{record.symbol}"
                key = digest("definition", record.origin.revision, name)
                yield Dropped(mine.CUT, key, "duplicate", "equal to one of another repository", name)
                continue
            if isinstance(record, Definition):
                sources.add(record.source)
                made += 1
            yield record

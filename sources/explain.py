"""Where and why one definition is lost on its way to a task, said for people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from kdata.record import Definition, SourceFile
from kdata.sandbox import pool
from kdata.sandbox.worker import Worker
from sources import mine
from sources.collect import collect
from sources.cut import cutpoints
from sources.fetch import foreign
from sources.lessons import WANTING

MAX_BESIDE, MAX_ALIKE = 24, 4  # definitions that are made of one, and that take the same, mined beside it


def explain_source(source: str, symbol: str, inline: bool = False) -> Iterator[str]:
    """As ``explain``, for all that is found in a source as ``kdata mine`` names it.

    Raises:
        ValueError: no file defines one that could be a task.
        sources.fetch.texts.SourceError: nothing can be had from there.
    """
    return explain([file for file in collect(source) if isinstance(file, SourceFile)], symbol, inline)


def explain(files: Sequence[SourceFile], symbol: str, inline: bool = False) -> Iterator[str]:
    """Lines about every class or function of this name in one repository's files; ``inline`` as in ``sources.mine``.

    Raises:
        ValueError: none of the files defines one that could be a task.
    """
    payload = {"files": {f.origin.path: f.text for f in files}, "replacements": mine.replacements(),
               "cut_points": cutpoints.texts(), "part": 0, "parts": 1, "seed": 0, "enough": 1 << 30,
               "only": [symbol]}  # fmt: skip
    with pool.lease(*mine.PRELOAD, **mine.ALLOCATOR) as worker:
        fetched = foreign.Fetched(foreign.Index()) if inline else None
        package = mine.cut_package(worker, payload, fetched, mine.Meter())
        if not package["cuts"] and not package["refused"]:
            raise ValueError(f"no module class and no function over tensors is called {symbol!r}")
        lost = [f"{count} files: {ended}" for ended, count in sorted(package["lost"].items())]
        if package["failure"] or lost:
            yield f"run of the package: {'; '.join([package['failure'] or 'to its end', *lost])}"
        for refused in package["refused"]:
            yield f"{refused['path']}:{symbol}: not cut: {refused['reason']} ({refused['detail']})"
        for cut in package["cuts"]:
            yield from _of_cut(cut)
            work = {"cuts": [cut | {"header": []}], "operators": mine.LARGE, "enough": 1}
            outcome = worker.call("sources.probe:attempt", work, mine.ATTEMPT_LIMITS).value[0]
            if outcome["reason"] in WANTING:
                every = mine.cut_package(worker, payload | {"only": None}, fetched, mine.Meter())["cuts"]
                outcome = _beside(worker, files, cut, every)
            yield from _of_outcome(outcome)


def _of_cut(cut: dict[str, Any]) -> Iterator[str]:
    told = cut["told"]
    yield f"{cut['path']}:{cut['symbol']}: cut to {cut['source'].count(chr(10))} lines"
    yield f"  stand-ins for: {', '.join(cut['lacks']) or 'nothing'}"
    yield f"  with parts of: {', '.join(sorted({p for p, _ in cut['inlined']})) or 'no other package'}"
    yield f"  calls found: {len(told['sites'])}; users: {', '.join(u['name'] for u in told['users']) or 'none'}"


def _of_outcome(outcome: dict[str, Any]) -> Iterator[str]:
    if outcome["reason"]:
        yield f"  lost: {outcome['reason']}: {outcome['detail']}"
        return
    yield f"  a task, deterministic in mode {outcome['detail']}; inputs:"
    for i in outcome["inputs"]:
        yield f"    {i.get('name', 'x')}: {i['dtype']}{i['shape']} in [{i['low']}, {i['high']}]"
    if teacher := outcome.get("taught"):
        yield f"  arguments and inputs: learnt from {teacher}, a task too"


def _beside(
    worker: Worker, files: Sequence[SourceFile], cut: dict[str, Any], every: list[dict[str, Any]]
) -> dict[str, Any]:
    """What becomes of a cut that is mined beside some of those that it may learn from."""
    origins = {f.origin.path: f.origin for f in files}
    key = f"{cut['path']}:{cut['symbol']}"
    users = sorted((c for c in every if key in c["told"]["holds"]), key=lambda c: len(c["source"]))
    alike = [c for c in every if c["told"]["takes"] == cut["told"]["takes"] != "" and c["symbol"] != cut["symbol"]]
    cuts = [cut, *users[:MAX_BESIDE], *alike[:MAX_ALIKE]]
    found = [Definition(origins[c["path"]], c["symbol"], c["name"], c["source"], json.dumps(c["told"]),
                        tuple(c["lacks"])) for c in cuts]  # fmt: skip
    return dict(mine.tried(worker, found, None, mine.LARGE, mine.Meter()))[0]

"""Mining one source for `kdata mine`: cut once, then its parts side by side."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

from flows.build_options import shares
from kdata.record import Definition, SourceFile, Task
from kdata.shards import Store
from kdata.verbs import summary
from sources import repositories
from sources.collect import collect
from sources.mine import LARGE


def tasks_of(source: str, out: str, limit: int | None, seed: int, workers: int, size: int) -> list[Task]:
    """The tasks of one source, mined in shards of about ``size``; says what became of it on stderr.

    Raises:
        sources.texts.SourceError: the source cannot be had.
    """
    store = Store(out)
    cut = repositories.cut_step(limit, seed).run_on(store, [f for f in collect(source) if isinstance(f, SourceFile)])
    print(summary([cut], f"{source}: cut"), file=sys.stderr)
    found = store.read(cut.name, Definition)
    limits = [None] * max(1, len(found) // size) if limit is None else shares(limit, size)
    steps = [repositories.step(share, part, len(limits), LARGE) for part, share in enumerate(limits)]
    with ThreadPoolExecutor(workers) as threads:
        made = list(threads.map(lambda step: step.run(store, [cut.name]), steps))
    print(summary(made, f"{source}: mine"), file=sys.stderr)
    return [t for m in made for t in store.read(m.name, Task)]

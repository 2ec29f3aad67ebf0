"""What torch.compile made of a task, kept: all its candidates, and reruns, are held against the same code.

Two compilations of one module choose among configurations by clocks of their own, and differ: on an H200 a feed-forward
layer of 9 microseconds by 16 % in five.  Only the reference's processes of that very task, which never see a candidate,
leave what is kept, and only they are given it again (by torch's own ``torch.compiler.save_cache_artifacts``).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from filelock import FileLock

from kdata.cache import cache_folder, put
from kdata.record import Task
from kdata.verify.exchange.scratch import COMPILATION
from kdata.verify.gpu.full import COMPILING, Full
from kdata.verify.receipts import versions

LARGEST = 256 << 20  # bytes


def key(task: Task, mode: str, tf32: bool, baselines: Sequence[str], admitted: Mapping[str, Any]) -> str:
    """What compilations are kept by: all that they depend on, and which they are."""
    parts = [task.source, task.entry_point, mode, tf32, *baselines, admitted["device"]["name"], *versions()]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@contextmanager
def kept(full: Full, name: str) -> Iterator[str]:
    """While baselines are compiled: by what an earlier run chose, or for later ones to know.

    Others that compile the same task wait, so that they need not.  Gives why nothing can be kept, "" where it can.
    """
    place = cache_folder("compiled") / name[:2] / name
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        yield f"no place for compiled baselines: {error}"
        return
    with FileLock(f"{place}.lock"):
        known = place.exists()
        if known:
            put(full.bench.folder / COMPILATION, place.read_bytes())
            full.trust({"do": "recall"}, COMPILING)
        yield ""
        if not known and full.trust({"do": "remember"}, COMPILING)["left"]:
            put(place, full.bench.read(COMPILATION, LARGEST))

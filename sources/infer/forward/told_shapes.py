"""Rules of ``sources.infer.forward.repairs`` for messages that tell whole shapes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from sources.infer.forward.failure import Change, Failure
from sources.infer.inputs import all_tensors


def expected(f: Failure) -> Iterator[Change]:
    """A message that tells a whole shape: ``Expected hidden size (2, 4, 128), got [4, 64, 32]``.

    An input may have been given a first dimension of one before.
    """
    shape = r"[^(\[]*[(\[]([\d, ]+)[)\]]"
    match = re.search(rf"[Ee]xpected [^(\[]*(?:\[\d\])?{shape},? (?:but )?got {shape}", f.message)
    if not match:
        return
    wanted, got = map(_sizes, match.groups())
    meant = {got: wanted} | ({got[1:]: wanted[1:]} if got[:1] == wanted[:1] == (1,) else {})
    for path, t in all_tensors(f.specs):
        if new := meant.get(t.shape):
            yield f.with_tensor(path, replace(t, shape=new), 0.0)


def among(f: Failure) -> Iterator[Change]:
    """An input whose shape a message tells may have to have another one that it tells."""
    texts = re.findall(r"[\[(](\d+(?:, ?\d+)*,?)[\])]", f.message)
    told = [*map(_sizes, dict.fromkeys(texts))][:4]
    for path, t in all_tensors(f.specs):
        if t.shape in told:
            yield from (f.with_tensor(path, replace(t, shape=other), 0.7) for other in told if other != t.shape)


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(int(n) for n in text.split(",") if n.strip())


SHAPES: tuple[Callable[[Failure], Iterator[Change]], ...] = (expected, among)

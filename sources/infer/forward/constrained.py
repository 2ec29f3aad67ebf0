"""What torch's distributions say of parameters and values that are none: scales are positive, shares at most one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from sources.infer.forward.failure import Change, Failure
from sources.infer.inputs import all_tensors, edited

_PARAMETER = re.compile(r"Expected parameter \w+ \(.* of distribution .* to satisfy the constraint", re.S)
_VALUE = re.compile(r"Expected value argument .* to be within the support \(?(\w+)", re.S)
_SCALES = re.compile(r"scale|std|sigma|var|rate|alpha|beta|conc|prob|temp|weight|disp|df|precision")
_COUNTED = re.compile(r"Integer|Boolean")


def constrained(f: Failure) -> Iterator[Change]:
    """Inputs in [0, 1), one at a time, by their names, and then all of them; a value that is counted is whole."""
    value = _VALUE.search(f.message)
    if value is None and not _PARAMETER.search(f.message):
        return
    kind, high = ("int", 2) if value and _COUNTED.match(value[1]) else ("unit", 0)
    together, names = f.specs, f.names()
    for i, (path, t) in enumerate((p, t) for p, t in all_tensors(f.specs) if t.kind == "float"):
        new = replace(t, kind=kind, high=high)
        together = edited(together, path, new)
        likely = bool(_SCALES.search(names[path[0]])) if path[0] < len(names) else False
        yield f.with_tensor(path, new, 0.1 if likely else 0.3 + 0.01 * i)
    if together != f.specs and kind == "unit":
        yield 0.4, together

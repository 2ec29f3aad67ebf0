"""Rules over a failed call that asked a tensor whether it is true, or unpacked one by its keys: it is no tensor."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sources.infer.forward.failure import Change, Failure
from sources.infer.forward.input_guesses import source
from sources.infer.inputs import Many, Plain, Tensor

_ASKED = "Boolean value of Tensor with more than one value is ambiguous"
_UNPACKED = re.compile(r"argument after \*\* must be a mapping, not Tensor")


def truths(f: Failure) -> Iterator[Change]:
    """What a test asks whether it is true is a flag, also within a record: ``if not mask.all_ones``."""
    if _ASKED not in f.message or f.function != "__bool__" or not f.arguments:
        return
    for path, _ in f.from_input(f.arguments[0]):
        likely = 0.1 if len(path) > 1 else 0.4
        yield from (f.with_tensor(path, Plain(flag), likely + 0.1 * i) for i, flag in enumerate((True, False)))


def unpacked_by_name(f: Failure) -> Iterator[Change]:
    """What is handed on as ``**options`` is a dictionary, of nothing as likely as not."""
    if not _UNPACKED.search(f.message):
        return
    said = set(re.findall(r"\*\*(\w+)", source(type(f.module).forward)))
    tensors = [i for i, s in enumerate(f.specs) if isinstance(s, Tensor)]
    found = [i for i, name in enumerate(f.names()[: len(f.specs)]) if name in said and i in tensors]
    specs = f.specs
    for i in found or tensors[1:]:
        specs = (*specs[:i], Many((), "dict"), *specs[i + 1 :])
    if specs != f.specs:
        yield 0.0, specs

"""Inputs that number the classes of samples, which are asked which of them are the same."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sources.infer.forward.failure import Change, Failure
from sources.infer.inputs import BATCH, Tensor, all_tensors

CLASSES = 2  # of a batch: several of each, most likely
_LABELS = re.compile(r"targets?|y|(\w+_)?labels?|(\w*_)?(pids?|identit(y|ies)|classes)|gts?")
_ONLY = re.compile(r"values in `?(\w+)`?.*expected only the following values \[([\d, ]+)\]", re.DOTALL)
_SINGLE = re.compile(r"only one element tensors can be converted|only integer tensors of a single element")


def numbered(f: Failure) -> Iterator[Change]:
    """Labels that were no numbers of classes, where an answer does not depend on something."""
    for path, t in all_tensors(f.specs):
        if t.kind != "int" and len(path) == 1 and t.shape and _LABELS.fullmatch(f.names()[path[0]].lower()):
            yield f.with_tensor(path, Tensor(t.shape[:1], "int", CLASSES), 0.0)


def single(f: Failure) -> Iterator[Change]:
    """Labels of which each is taken for one number: ``for row, label in enumerate(labels): score[row, int(label)]``."""
    for path, t in all_tensors(f.specs) if _SINGLE.search(f.message) else ():
        if len(path) == 1 and len(t.shape) > 1 and _LABELS.fullmatch(f.names()[path[0]].lower()):
            yield f.with_tensor(path, Tensor(t.shape[:1], "int", CLASSES), 0.0)


def listed(f: Failure) -> Iterator[Change]:
    """Labels of which a check tells the only values that they may have: 0, 1, and so on up to one."""
    match = _ONLY.search(f.message)
    only = sorted(map(int, re.findall(r"\d+", match[2]))) if match else []
    for path, t in all_tensors(f.specs) if only and only == [*range(len(only))] else ():
        name = f.names()[path[0]].lower()
        named = match is not None and (name == match[1].lower() or _LABELS.fullmatch(name))
        if (t.kind, t.high) != ("int", len(only)):
            yield f.with_tensor(path, Tensor(t.shape, "int", len(only)), 0.0 if named else 0.4)


def matched(name: str, text: str) -> list[Tensor]:
    """Numbers of few classes, where a text tells which of an input's are the same as others of it; else nothing."""
    if not _LABELS.fullmatch(name.lower()):
        return []
    name = re.escape(name)
    twice = rf"\b{name}\b[^\n=]*(?:\.eq\(|\.ne\(|==|!=)[^\n]*\b{name}\b"
    found = re.search(rf"{twice}|\b(?:eq|ne|unique)\([^\n]*\b{name}\b[^\n]*\b{name}\b|\bunique\({name}\b", text)
    return [Tensor((BATCH,), "int", CLASSES)] if found else []

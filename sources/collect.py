"""A source, named by one string, becomes source files.

``pypi:NAME`` or ``pypi:NAME==VERSION``; ``git:URL-or-DIR`` or ``git:URL-or-DIR@COMMIT``; ``local:DIR`` or a path;
``stack-v2:Python`` and ``stack-v3:Python`` with options as in ``fetch.stack``; ``set:kernelbook`` and other published
sets of tasks, as in ``sources.fetch.task_sets``; ``ops:torch``: PyTorch's own operators, as in ``sources.operators``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from kdata.record import Dropped, SourceFile
from sources import operators
from sources.fetch import git, hub, local, pypi, stack, stack_v2, stack_v3, task_sets
from sources.fetch.texts import SourceError as SourceError

KINDS: dict[str, Callable[[str], list[SourceFile | Dropped]]] = {
    "pypi": pypi.collect,
    "git": git.collect,
    "local": local.collect,
    "stack-v2": stack_v2.collect,
    "stack-v3": stack_v3.collect,
    "set": task_sets.collect,
    operators.NAME: operators.collect,
}
HUB_KINDS = ("stack-v2", "stack-v3", "set")


def is_remote(spec: str) -> bool:
    """Whether a source is fetched through the network, and so means the same only as long as its files are kept."""
    kind, _, rest = spec.partition(":")
    if kind in HUB_KINDS:
        return not hub.is_local(stack.place(rest, ""))
    return kind == "pypi" or (kind == "git" and "://" in rest)


def collect(spec: str) -> list[SourceFile | Dropped]:
    """All Python files of a source; those that could not be read are ``Dropped`` with a reason.

    Raises:
        SourceError: nothing can be read from there; the message is one line.
    """
    kind, colon, rest = spec.partition(":")
    if colon and kind not in KINDS and not Path(spec).exists():
        wanted = f"git:{spec}" if rest.startswith("//") else f"a folder that is there, or {', '.join(KINDS)} before it"
        raise SourceError(f"{spec}: {kind!r} is no kind of source: name {wanted}")
    if not colon or kind not in KINDS:
        kind, rest = "local", spec
    if not rest.strip():
        raise SourceError(f"{spec!r} names no source: use pypi:NAME, git:URL, stack-v2:Python or a folder")
    found = KINDS[kind](rest.strip())
    if not any(isinstance(f, SourceFile) for f in found):
        raise SourceError(f"{spec} holds no readable Python file")
    return found

"""Importing a candidate's file. In children only."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from kdata.verify.candidate import arms, enclosure, versions
from kdata.verify.candidate.subset import own_names
from kdata.verify.exchange.telling import line

_offered: dict[str, Any] = {}  # what candidates find among their builtins beside Python's


class ImportingError(Exception):
    """The candidate's file cannot be imported: what it raised, in one line."""


def offer(name: str, thing: Any) -> None:
    """Give candidates another builtin."""
    _offered[name] = thing


def load(path: Path) -> ModuleType:
    """Import the candidate's file under a neutral name, inside the enclosure.

    Raises:
        ImportingError: it raised something.
        ForbiddenError: it asked for something outside the enclosure.
    """
    spec = importlib.util.spec_from_file_location(enclosure.CANDIDATE, path)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    tree = ast.parse(path.read_bytes())
    vars(module)["__builtins__"] = enclosure.builtins_for(own_names(tree)) | _offered | arms.NAMES | versions.NAMES
    sys.modules[enclosure.CANDIDATE] = module
    enclosure.install()
    try:
        with enclosure.armed():
            marked = versions.marked(arms.marked(tree))
            exec(compile(marked, path, "exec", dont_inherit=True), vars(module))  # noqa: S102 - in a sandbox
    except enclosure.ForbiddenError:
        raise
    except BaseException as error:  # SystemExit too is an answer
        raise ImportingError(line(error)) from error
    return module

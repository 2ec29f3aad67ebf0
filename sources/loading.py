"""Executing the text of a cut, inside the sandbox."""

from __future__ import annotations

import functools
import os
import sys
import types
from pathlib import Path
from typing import Any

import torch

from sources.infer.constructor import configs, parts
from sources.infer.running.check import MODULE


def load(source: str, scratch: Path) -> dict[str, Any]:
    """Execute a cut as a module that ``inspect`` can read, with the names that arguments are written with."""
    path = scratch / f"cut_{os.getpid()}.py"
    path.write_text(source)
    module = types.ModuleType(MODULE)
    module.__file__ = str(path)
    sys.modules[MODULE] = module
    # dont_inherit: else this file's own future import would hide what a type hint of the cut lacks
    exec(compile(source, str(path), "exec", dont_inherit=True), module.__dict__)  # noqa: S102 - in the sandbox
    given = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "functools": functools,
             "SimpleNamespace": types.SimpleNamespace, parts.NAME: parts.StubModule,
             configs.NAME: configs.Configuration}  # fmt: skip
    return given | module.__dict__ | {"__file__": str(path)}  # a cut may say that there is none

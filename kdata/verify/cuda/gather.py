"""Which C++ a candidate's text asks to be compiled. In a child without a GPU, of its own: hostile code runs here.

The text is imported with a ``load_inline`` that only notes what it is given; where that is called by the module's
constructor, the module is constructed, too.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib.util
import sys
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from kdata.task import execute
from kdata.verify.candidate.enclosure import CANDIDATE
from kdata.verify.cuda import calls as cuda_calls
from kdata.verify.cuda.text import LOADER
from kdata.verify.exchange.scratch import SOURCE
from kdata.verify.exchange.telling import line
from kdata.verify.interpreter import pretence


def answer(payload: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """The calls of ``load_inline``, or ``failed``: why there are none.

    ``payload``: source, entry_point (of the task).
    """
    noted: dict[str, cuda_calls.Call] = {}

    def note(*args: Any, **kwargs: Any) -> Any:
        call = cuda_calls.read(*args, **kwargs)
        noted[call.key] = call
        return SimpleNamespace(**{name: _not_yet for name, _ in call.functions})

    setattr(builtins, LOADER, note)
    try:
        with pretence.presented():
            module = _import(scratch / SOURCE)
            if not noted:
                _construct(module, payload)
    except BaseException as error:  # noqa: BLE001 - SystemExit too is an answer
        if not noted:
            return {"failed": f"on import: {line(error)}"}
    if len(noted) > cuda_calls.MOST:
        return {"failed": f"{len(noted)} calls of {LOADER}, at most {cuda_calls.MOST}"}
    return {"calls": [asdict(call) for call in noted.values()]}


def _import(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(CANDIDATE, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[CANDIDATE] = module
    spec.loader.exec_module(module)
    return module


def _construct(module: Any, payload: dict[str, Any]) -> None:
    """Build ``ModelNew``, which may compile as it is built. What else it raises the trials will say."""
    positional, keyword = execute(payload["source"], payload["entry_point"]).arguments()
    with contextlib.suppress(RuntimeError, AttributeError):
        module.ModelNew(*positional, **keyword)


def _not_yet(*_args: Any, **_more: Any) -> Any:
    raise RuntimeError("nothing is compiled yet")

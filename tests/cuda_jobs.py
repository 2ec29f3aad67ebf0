"""Jobs of the tests of compiled candidates: what ``cuda.host`` sees of a library, where there is no GPU."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

from kdata.verify.candidate import loading
from kdata.verify.candidate.enclosure import ForbiddenError
from kdata.verify.candidate.launches import InjectedError, Ledger
from kdata.verify.cuda import host as cuda_host


def look(payload: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """Call the library of ``payload`` (the arguments of ``load_inline``) in every way."""
    ledger, said = Ledger(behaviour="skip"), list[str]()
    cuda_host._stream = lambda *_: SimpleNamespace(cuda_stream=0)  # type: ignore[assignment]
    cuda_host.prepare(scratch, ledger, said.append)
    extension = loading._offered["load_inline"](**payload)
    found: dict[str, Any] = {"skipped": extension.add(torch.zeros(4).data_ptr(), 3), "launches": list(ledger.launches)}
    ledger.behaviour = "fail"
    found["failing"] = _raised(lambda: extension.add(0, 3))
    ledger.behaviour = "run"
    kept = [cuda_host.left()]
    extension.add(0, 0)
    kept.append(cuda_host.left())
    extension.count()
    kept.append(cuda_host.left())
    found |= {"quiet": kept[0] == kept[1], "counts": kept[1] != kept[2]}
    extension.fetch(torch.zeros(64).data_ptr(), 256)
    found |= {"said": said, "attribute": _raised(lambda: setattr(extension, "calls", 1))}
    found["unknown"] = _raised(lambda: loading._offered["load_inline"](**payload | {"cpp_sources": "int x;"}))
    return found


def _raised(call: Any) -> str:
    try:
        call()
    except (InjectedError, ForbiddenError, RuntimeError) as error:
        return f"{type(error).__name__}: {error}"
    return ""

"""Calls of a candidate in training mode, for tasks that draw in it. In the host's child."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import torch

from kdata.verify.candidate import enclosure
from kdata.verify.candidate.chance import Chance
from kdata.verify.candidate.engine import INTERPRETED
from kdata.verify.candidate.host import Calls
from kdata.verify.candidate.loading import ImportingError, load
from kdata.verify.exchange import wire
from kdata.verify.exchange.scratch import GIVEN, RETURNED, SOURCE
from kdata.verify.interpreter import pretence


def answer(payload: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """Import a candidate, call its module in training mode with the generator in other states, then evaluate it.

    ``payload``: manifest, given (of a trial), seeds (one a call), wanted (gradients that it is asked for in as many
    more calls in training mode; empty for none).  What it draws by itself is not refused here.  No ``trials`` where
    nothing is known: it asked for what it may not, which a trial tells of.
    """
    reader = wire.Reader(payload["manifest"], (scratch / GIVEN).read_bytes())
    Chance.drawing = True
    try:
        with pretence.presented():
            calls = Calls(load(scratch / SOURCE), reader, "train")
            INTERPRETED.take_turn(0)
            reports = [calls.trial(payload["given"] | {"again": False})]
            again = payload["given"] | {"again": True, "sized": True}
            seeds = payload["seeds"] if reports[0]["outcome"] == "ok" else []
            reports += [_drawn(calls, again, seed) for seed in seeds]
            if payload["wanted"]:
                reports += [_drawn(calls, again | {"gradient": payload["wanted"]}, seed) for seed in seeds]
            reports.append(calls.trial(again | {"mode": "eval"}))
    except (enclosure.ForbiddenError, ImportingError):
        return {}
    if enclosure.fault():
        return {}
    (scratch / RETURNED).write_bytes(bytes(calls.writer.blob))
    return {"trials": reports, "manifest": calls.writer.manifest}


def _drawn(calls: Calls, given: dict[str, Any], seed: int) -> dict[str, Any]:
    """A call with the generators in this state."""
    torch.manual_seed(seed)
    random.seed(seed)
    return calls.trial(given)

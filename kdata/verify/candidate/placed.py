"""Whether what kernels are given is on the GPU, as a candidate says where it makes a tensor. In the host's child.

Where candidates are interpreted everything is on the host, so that nothing would show.  Here inputs, weights and what
is made on the GPU have no memory, by which they are told from the rest; no kernel runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import nn

from kdata.verify.candidate.engine import INTERPRETED
from kdata.verify.candidate.host import forward
from kdata.verify.candidate.launches import MisplacedError
from kdata.verify.candidate.loading import load
from kdata.verify.candidate.setting import StopTrialError, build
from kdata.verify.candidate.unfilled import Blank, Unfilled
from kdata.verify.exchange.scratch import SOURCE
from kdata.verify.interpreter import pretence, streams


def answer(payload: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """Import a candidate, move its module to the GPU and call it once.

    ``payload``: manifest, mode, given (of a trial).  Of the answer ``misplaced`` is what a launch was given that is not
    there, if that ended the call, and ``unseen`` what else did: it reads values, say, of which there are none.
    """
    try:
        with pretence.presented(), pretence.apart():
            _call(payload, scratch)
    except StopTrialError as stop:
        told = "misplaced" if isinstance(stop.__cause__, MisplacedError) else "unseen"
        return {told: str(stop.__cause__ or stop.detail)}
    return {}


def _call(payload: dict[str, Any], scratch: Path) -> None:
    ledger, given = INTERPRETED.ledger, payload["given"]
    reader, watch = Blank(payload["manifest"], b""), Unfilled(ledger)
    model = build(load(scratch / SOURCE), reader, given)
    ledger.behaviour = "placed"
    with watch:
        _move(model)
        if payload["mode"] == "eval":
            model.eval()
        watch.let_count(model)
    forward(model, reader.read(given["inputs"]), watch, "off")


def _move(model: nn.Module) -> None:
    """Move a module to the GPU; as there, its parameters stay the objects that they are."""
    before = torch.__future__.get_swap_module_params_on_conversion()
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        model.to(streams.GPU)
    finally:
        torch.__future__.set_swap_module_params_on_conversion(before)

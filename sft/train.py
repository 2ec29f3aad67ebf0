"""Fine-tuning: from rows with receipts to a model that writes kernels. The loop itself is TRL's.

A run's folder holds ``options.json``, ``data.json``, ``metrics.jsonl``, ``loss.svg``, ``checkpoints/`` while it goes,
``adapter/`` for LoRA, and at last ``model/`` and ``result.json``. The same command goes on with a killed run, and does
nothing to a finished one.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from kdata import storage
from kdata.models import ModelInfo, push_model
from kdata.publish import PublishError
from sft import checkpoints, engine, export
from sft.options import SftOptions
from sft.plan import Plan, make_plan


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run made."""

    model: Path
    info: ModelInfo
    address: str = ""  # on the Hub

    def line(self) -> str:
        """What came out, in one line."""
        info = self.info
        before, best = info.held_out_before, info.held_out_best
        held_out = f", held-out loss {before:.4f} -> {best:.4f}" if before is not None and best is not None else ""
        early = f" of {info.planned}" if info.steps < info.planned else ""
        where = f"; {self.address}" if self.address else ""
        loss = f"loss {info.loss_first:.4f} -> {info.loss_last:.4f}{held_out}"
        return f"{self.model}: {info.steps}{early} steps, {loss}{where}"


def run(options: SftOptions, card: Callable[[ModelInfo], str]) -> Outcome | None:
    """Train, or go on training, and write the model.

    Args:
        options: of the run.
        card: makes the model's README.

    Returns:
        What was made; None in the other processes of a distributed run.

    Raises:
        FileNotFoundError: there is no such data.
        ImportError: the libraries of ``kdata[sft]`` are missing.
        OSError: the base cannot be had.
        ValueError: options, base or data are wrong, or the folder holds another run; the message says which.
    """
    storage.demand_folder(options.out)
    token = os.environ.get("HF_TOKEN")
    if options.push_to and not token:
        raise PublishError(f"publishing to {options.push_to} needs a token: set HF_TOKEN")
    chosen = engine.choose(options)
    options.accumulation(engine.processes())
    plan = make_plan(options)
    if _first():
        print(f"kdata: {plan.line()}", file=sys.stderr, flush=True)
    out = Path(options.out)
    with storage.alone(options.out) if _first() else nullcontext():
        _claim(out, options, plan)
        if not (out / "model").exists():
            _train(options, plan, chosen, out, card)
    if not _first():
        return None
    address = push_model(out / "model", options.push_to, token) if options.push_to else ""
    return Outcome(out / "model", export.read_info(out), address)


def _train(options: SftOptions, plan: Plan, chosen: engine.Engine, out: Path, card: Callable[[ModelInfo], str]) -> None:
    """Train to the end, from the last checkpoint if there is one, and write the model."""
    from sft.trainer import build, device_name

    last = checkpoints.last(out / "checkpoints")
    if _first():
        checkpoints.clean(out / "checkpoints")
        checkpoints.cut_metrics(out / "metrics.jsonl", checkpoints.step(last) if last else -1)
    trainer = build(options, plan, chosen, out, resumed=last is not None)
    trainer.train(resume_from_checkpoint=str(last) if last else None)
    trainer.save_model(str(out / ("trained" if options.method == "full" else "adapter")))
    if _first():
        export.finish(options, plan, chosen, device_name(), out, card)


def _claim(out: Path, options: SftOptions, plan: Plan) -> None:
    """Make the folder this run's.

    Raises:
        ValueError: it holds a run with other options or other data.
    """
    written = out / "data.json"
    if written.exists():
        if json.loads(written.read_text())["run"] != plan.id:
            raise ValueError(f"{out} holds a run with other options or other data: name another folder with --out")
        return
    if _first():
        out.mkdir(parents=True, exist_ok=True)
        (out / "options.json").write_text(options.model_dump_json(indent=1) + "\n")
        partial = out / "data.partial"
        partial.write_text(json.dumps({"run": plan.id, **plan.summary()}, indent=1) + "\n")
        partial.rename(written)


def _first() -> bool:
    """Whether this is the first process of a run, which writes and shows."""
    return os.environ.get("RANK", "0") == "0"

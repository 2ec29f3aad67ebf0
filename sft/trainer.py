"""The trainer of a run. Imported after the engine is chosen, because unsloth must come before what is imported here."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import torch
from transformers import EarlyStoppingCallback, PrinterCallback, set_seed
from transformers.utils import logging
from trl.trainer.sft_trainer import SFTTrainer

from sft import engine, speed
from sft.monitor import Monitor
from sft.options import SftOptions
from sft.plan import Plan


def build(options: SftOptions, plan: Plan, chosen: engine.Engine, out: Path, resumed: bool) -> Any:
    """The trainer, with everything that watches it."""
    logging.disable_progress_bar()
    set_seed(options.seed)  # the adapter's first weights
    model, adapter = engine.load_model(options, plan.base, chosen)
    flops = speed.flops_per_token(model, plan.lengths, options.method == "full")
    peak = speed.peak_flops()
    together = peak * engine.processes() if peak else None
    # TRL and PEFT use the name that transformers 5.23 wants no more and 5.17 still needs.
    warnings.filterwarnings("ignore", "`(is_)?gradient_checkpointing` is deprecated", FutureWarning)
    args = engine.settings(options, out / "checkpoints", plan.steps, bool(plan.held_out), resumed)
    trainer = SFTTrainer(
        model=model, args=args,
        train_dataset=plan.train, eval_dataset=plan.held_out, processing_class=plan.tokenizer, peft_config=adapter,
        callbacks=[Monitor(out, flops, together, options.epochs), *_stopping(options, plan)],
    )  # fmt: skip
    trainer.remove_callback(PrinterCallback)
    return trainer


def _stopping(options: SftOptions, plan: Plan) -> list[Any]:
    """What ends a run early: held-out loss that falls no further."""
    return [EarlyStoppingCallback(options.patience)] if options.patience and plan.held_out else []


def device_name() -> str:
    """The device, for people."""
    if not torch.cuda.is_available():
        return "CPU"
    count = engine.processes()
    return f"{count} x {torch.cuda.get_device_name()}" if count > 1 else torch.cuda.get_device_name()

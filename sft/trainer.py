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
from sft.encode import IGNORED
from sft.monitor import Monitor
from sft.options import SftOptions
from sft.plan import Plan


class Trainer(SFTTrainer):
    """TRL's, with a held-out loss that is a mean over all tokens, as the training loss is, not over batches of rows."""

    def evaluation_loop(
        self, dataloader: Any, description: str, prediction_loss_only: bool | None = None,
        ignore_keys: list[str] | None = None, metric_key_prefix: str = "eval",
    ) -> Any:  # fmt: skip
        """Evaluate, and put the loss of all tokens together in place of the mean of the batches' losses."""
        self.seen = torch.zeros(2, dtype=torch.float64)  # the sum of all tokens' losses, and how many they are
        found = super().evaluation_loop(dataloader, description, prediction_loss_only, ignore_keys, metric_key_prefix)
        total, tokens = self.accelerator.reduce(self.seen.to(self.accelerator.device)).tolist()
        metrics: dict[str, float] = found.metrics or {}
        return found._replace(metrics={**metrics, f"{metric_key_prefix}_loss": total / max(tokens, 1.0)})

    def prediction_step(self, model: Any, inputs: Any, *args: Any, **more: Any) -> Any:
        """One batch; its loss is the mean over its own tokens."""
        tokens = (inputs["labels"][..., 1:] != IGNORED).sum().item()  # the first of a row is asked of nobody
        loss, *rest = super().prediction_step(model, inputs, *args, **more)
        self.seen += torch.tensor([loss.item() * tokens, tokens], dtype=torch.float64)
        return loss, *rest


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
    trainer = Trainer(
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

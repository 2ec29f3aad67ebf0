"""A run as it goes: loss, tokens a second, MFU and time left on the terminal, in ``metrics.jsonl`` and in the plot."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from transformers import TrainerCallback

from sft.checkpoints import mark
from sft.plot import draw

LINE_SECONDS = 10.0
KEPT = ("loss", "eval_loss", "grad_norm", "learning_rate", "mean_token_accuracy", "eval_mean_token_accuracy")


class DivergedError(ValueError):
    """Training went wrong at some step: what is trained from here on is lost."""

    def __init__(self, step: int) -> None:
        super().__init__(
            f"training diverged: at step {step} the loss or its gradient is no number. The last checkpoint is from "
            "before; train into another folder with a smaller --learning-rate, or another --precision or --attention"
        )


class Monitor(TrainerCallback):
    """Watches one process of a run; only the first writes and shows.

    Args:
        run: folder of the run.
        flops: of a token, forward and backward; see ``sft.speed``.
        peak: FLOP/s of all devices together; None where it is unknown.
        epochs: of the whole run, which the trainer sees as one.
    """

    def __init__(self, run: Path, flops: float, peak: float | None, epochs: int) -> None:
        self.run, self.flops, self.peak, self.epochs = run, flops, peak, epochs
        self.shown = Shown(Console(stderr=True, soft_wrap=True, highlight=False))
        self.began = self.tokens = 0.0
        self.since = time.monotonic()  # of the run's beginning, then of the last evaluation's end

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.tokens = state.num_input_tokens_seen
        if state.is_world_process_zero:
            self.shown.start(state.max_steps, state.global_step)

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.began = time.monotonic()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.global_step >= state.max_steps:  # the end counts, too, when the best weights are chosen
            control.should_evaluate, control.should_save = args.eval_strategy != "no", True

    def on_log(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        logs: dict[str, Any] = more["logs"]
        kept = {name: logs[name] for name in KEPT if name in logs}
        if not kept or not state.is_world_process_zero:
            return
        entry = {"step": state.global_step, "epoch": round(self.epochs * logs.get("epoch", 0.0), 4), **kept}
        if "loss" in logs:
            entry |= self._speed(state)
        with (self.run / "metrics.jsonl").open("a") as file:
            file.write(json.dumps(entry) + "\n")
        self.shown.show(entry)
        if not all(math.isfinite(kept[name]) for name in ("loss", "grad_norm", "eval_loss") if name in kept):
            self.shown.stop()
            raise DivergedError(state.global_step)

    def on_evaluate(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.is_world_process_zero:
            draw(self.run)

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        _wait_for_all()  # others may still be writing their part
        if state.is_world_process_zero:
            mark(Path(args.output_dir), state.global_step)

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.shown.stop()

    def _speed(self, state: Any) -> dict[str, Any]:
        """Tokens and time of the step just done, evaluations and checkpoints left out."""
        seconds = max(time.monotonic() - self.began, 1e-9)
        rate = (state.num_input_tokens_seen - self.tokens) / seconds
        self.tokens = state.num_input_tokens_seen
        found = {
            "tokens": state.num_input_tokens_seen,
            "seconds": round(seconds, 4),
            "tokens_per_second": round(rate, 1),
        }
        return found | ({"mfu": round(rate * self.flops / self.peak, 4)} if self.peak else {})


class Shown:
    """The terminal: a bar where there is one, lines now and then elsewhere."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.bar = Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[note]}"),
            TimeElapsedColumn(), TimeRemainingColumn(), console=console,
        )  # fmt: skip
        self.row = self.bar.add_task("training", note="", total=None)
        self.steps = self.first = 0
        self.started = self.last = 0.0
        self.held_out = ""

    def start(self, steps: int, first: int) -> None:
        """Expect so many steps, of which some are done."""
        self.steps, self.first, self.started = steps, first, time.monotonic()
        self.bar.update(self.row, total=steps, completed=first)
        if self.console.is_terminal:
            self.bar.start()

    def show(self, entry: dict[str, Any]) -> None:
        """Show one line of metrics."""
        if "eval_loss" in entry:
            self.held_out = f"held out {entry['eval_loss']:.4f}"
        note = self._note(entry)
        self.bar.update(self.row, completed=entry["step"], note=note)
        due = time.monotonic() - self.last >= LINE_SECONDS or "eval_loss" in entry or entry["step"] == self.steps
        if due and not self.console.is_terminal:
            self.last = time.monotonic()
            self.console.print(f"step {entry['step']}/{self.steps} {note}{self._left(entry['step'])}", markup=False)

    def stop(self) -> None:
        """Leave the terminal as it was."""
        self.bar.stop()

    def _note(self, entry: dict[str, Any]) -> str:
        parts = [f"loss {entry['loss']:.4f}"] if "loss" in entry else []
        if "tokens_per_second" in entry:
            parts.append(f"{entry['tokens_per_second']:,.0f} tokens/s")
        if "mfu" in entry:
            parts.append(f"MFU {entry['mfu']:.0%}")
        return " | ".join([*parts, *filter(None, [self.held_out])])

    def _left(self, step: int) -> str:
        """Time left, by the mean of the steps of this session, evaluations included."""
        if step <= self.first or step >= self.steps:
            return ""
        seconds = (time.monotonic() - self.started) / (step - self.first) * (self.steps - step)
        return f" | about {seconds / 60:.0f} min left" if seconds >= 90 else f" | about {seconds:.0f} s left"


def _wait_for_all() -> None:
    from torch import distributed

    if distributed.is_available() and distributed.is_initialized():
        distributed.barrier()

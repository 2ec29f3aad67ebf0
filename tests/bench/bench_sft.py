"""Tokens a second and held-out loss of ``kdata sft`` beside TRL's trainer as it comes, without packing: one epoch each.

Both learn the answers only, from the same rows, with the same learning rate, in about as many steps.
By default a tiny model made up here, for a CPU. For a real one: BASE=folder DATA=dataset python tests/bench/bench_sft.py
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import torch
from factories import pairs
from sft_models import make_tiny
from transformers import AutoTokenizer, TrainerCallback

from cards import model as card
from kdata.publish import write_dataset
from sft import data, encode, train
from sft.chat import answer, prompt
from sft.options import SftOptions

LENGTH = 8192 if "BASE" in os.environ else 2048  # tokens of a packed row
ROWS, RATE = 2, 2e-5  # rows of a step, peak learning rate
CUDA = torch.cuda.is_available()


class Timer(TrainerCallback):
    """Wall clock of the steps after the first, which warms up."""

    def __init__(self) -> None:
        self.ends: list[float] = []

    def on_step_end(self, *_: Any, **__: Any) -> None:
        if CUDA:
            torch.cuda.synchronize()
        self.ends.append(time.monotonic())

    def rate(self, tokens: int) -> float:
        """Of the tokens that all steps saw together."""
        return tokens * (len(self.ends) - 1) / len(self.ends) / (self.ends[-1] - self.ends[0])


def place(folder: Path) -> tuple[str, str]:
    """Base and data."""
    if "BASE" in os.environ:
        return os.environ["BASE"], os.environ["DATA"]
    made = pairs()[:24]
    write_dataset(made, [], str(folder / "dataset"), lambda info: "")
    make_tiny(folder / "tiny", [answer(p) + prompt(p.task)[0]["content"] for p in made])
    return str(folder / "tiny"), str(folder / "dataset")


def ours(options: SftOptions, tokens: int) -> tuple[float, float, float]:
    """Tokens a second, and held-out loss before and after."""
    from sft import trainer

    timer, build = Timer(), trainer.build

    def timed(*arguments: Any, **more: Any) -> Any:
        made = build(*arguments, **more)
        made.add_callback(timer)
        return made

    trainer.build = timed
    train.run(options, card.render)
    lines = [json.loads(line) for line in (Path(options.out) / "metrics.jsonl").read_text().splitlines()]
    held_out = [line["eval_loss"] for line in lines if "eval_loss" in line]
    return timer.rate(tokens), held_out[0], held_out[-1]


def plain(options: SftOptions, found: data.Corpus, tokens: int, examples: int) -> tuple[float, float, float]:
    """The same of TRL's own trainer, which is given so many examples a step."""
    from datasets import Dataset
    from trl import SFTConfig, SFTTrainer

    def rows(given: Any) -> Any:
        told = [{"prompt": e.messages, "completion": [{"role": "assistant", "content": e.answer}]} for e in given]
        return Dataset.from_list(told)

    settings = SFTConfig(
        output_dir=f"{options.out}-plain", num_train_epochs=1, per_device_train_batch_size=examples,
        per_device_eval_batch_size=4, learning_rate=RATE, lr_scheduler_type="cosine", bf16=CUDA, use_cpu=not CUDA,
        max_length=LENGTH, save_strategy="no", eval_strategy="no", report_to="none", disable_tqdm=True, seed=0,
        model_init_kwargs={"dtype": "float32"},
    )  # fmt: skip
    timer = Timer()
    trainer = SFTTrainer(
        model=options.base, args=settings, train_dataset=rows(found.train), eval_dataset=rows(found.held_out),
        callbacks=[timer],
    )  # fmt: skip
    before = trainer.evaluate()["eval_loss"]
    trainer.train()
    return timer.rate(tokens), before, trainer.evaluate()["eval_loss"]


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as name:
        base, rows = place(Path(name))
        options = SftOptions(
            base=base, data=[rows], out=f"{name}/ours", epochs=1, max_length=LENGTH, batch_size=ROWS,
            device_batch=ROWS, learning_rate=RATE, engine="trl", patience=0, evaluate_every=10**6,
        )  # fmt: skip
        found = data.load(options)
        kept, _ = encode.encode(found.train, encode.Encoder(AutoTokenizer.from_pretrained(base)), LENGTH)
        tokens = sum(len(e.ids) for e in kept)
        steps = -(-tokens // (LENGTH * ROWS))
        packed, alone = ours(options, tokens), plain(options, found, tokens, -(-len(kept) // steps))
    print(f"{len(kept)} examples, {tokens} tokens, {torch.cuda.get_device_name() if CUDA else 'CPU'}")
    for title, (rate, before, after) in (("kdata sft", packed), ("plain TRL", alone)):
        print(f"{title:10} {rate:10,.0f} tokens/s   held-out loss {before:.4f} -> {after:.4f}")
    print(f"ratio {packed[0] / alone[0]:.1f}")


if __name__ == "__main__":
    main()

"""The stages of the flow ``finetune-model`` as plain functions: train, score, tell, publish. Each can be run again."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from cards import model as card
from cards.scores import with_scores
from flows.finetune_options import FinetuneOptions
from kdata.models import push_model
from kdata.publish import PublishError
from kdata.sandbox.guard import die_with_parent
from sft import train
from sft.eval_options import EvalOptions
from sft.evaluate import evaluate
from sft.options import SftOptions
from sft.suites import read_suite

EVALUATION = "evaluation"  # the folder beside the model


def check(options: FinetuneOptions) -> None:
    """Find out at the start what would be found out at the end.

    Raises:
        ValueError: there is no such suite, or no token to publish with.
    """
    asked = options.evaluation
    read_suite(asked.suite, asked.path, asked.level, asked.problems)
    if options.publish_to and not os.environ.get("HF_TOKEN"):
        raise PublishError(f"publishing to {options.publish_to} needs a token: set HF_TOKEN")


def fine_tune(options: FinetuneOptions) -> Path:
    """Train, and return the model's folder. In a process of its own, so that its GPU is free when kernels are timed."""
    spawned = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, spawned, initializer=die_with_parent) as process:
        return process.submit(_train, options.training.model_copy(update={"push_to": None})).result()


def score(options: FinetuneOptions, model: Path) -> dict[str, Any]:
    """Evaluate the model: answers, verdicts and ``results.json`` in a folder beside it."""
    out = str(model.parent / EVALUATION)
    return evaluate(EvalOptions(model=str(model), out=out, **options.evaluation.model_dump()))


def tell(model: Path, summary: Mapping[str, Any]) -> str:
    """Write the scores into the model's card and return its text."""
    readme = model / "README.md"
    text = with_scores(readme.read_text(), summary)
    readme.write_text(text)
    return text


def publish(options: FinetuneOptions, model: Path) -> str:
    """Put the model on the Hub if that is wanted, and return its address."""
    return push_model(model, options.publish_to, os.environ.get("HF_TOKEN")) if options.publish_to else ""


def _train(options: SftOptions) -> Path:
    outcome = train.run(options, card.render)
    assert outcome is not None  # this is the first process of its run
    return outcome.model

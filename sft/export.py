"""What a run leaves: a model folder that transformers and vLLM load as it is, with its card; and the facts about it."""

from __future__ import annotations

import importlib.metadata
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

from kdata.models import ModelInfo
from sft.checkpoints import read_metrics
from sft.engine import Engine, precision
from sft.options import SftOptions
from sft.plan import Plan
from sft.plot import draw

VERSIONS = ("torch", "transformers", "trl", "peft", "accelerate", "datasets", "unsloth")
FACTS = "result.json"


def write_model(options: SftOptions, plan: Plan, trained: Path, model: Path, card: str) -> None:
    """Lay down the model in one piece: adapter merged, weights in bf16 where training used it; the card last.

    Args:
        options: of the run.
        plan: of the run.
        trained: what the trainer saved: a model, or an adapter.
        model: the folder to make.
        card: its README.
    """
    import torch
    from transformers import AutoModelForCausalLM

    dtype = torch.float32 if precision(options) == "float32" else torch.bfloat16
    if options.method == "full":
        merged = AutoModelForCausalLM.from_pretrained(trained, dtype=dtype)
    else:
        from peft import PeftModel

        whole = AutoModelForCausalLM.from_pretrained(plan.base.path, revision=plan.base.revision, dtype=dtype)
        merged = PeftModel.from_pretrained(whole, trained).merge_and_unload()
    partial = model.with_name(f"{model.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    stops = merged.generation_config.eos_token_id
    known = stops if isinstance(stops, list) else [stops]
    # At the end that was learnt, too, see ``sft.encode``.
    merged.generation_config.eos_token_id = sorted({*known, plan.tokenizer.eos_token_id} - {None})
    merged.save_pretrained(partial)
    plan.tokenizer.save_pretrained(partial)
    shutil.copy(model.parent / "loss.svg", partial / "loss.svg")
    (partial / "README.md").write_text(card)
    partial.rename(model)


def finish(
    options: SftOptions, plan: Plan, chosen: Engine, device: str, out: Path, card: Callable[[ModelInfo], str]
) -> None:
    """From what the trainer saved to the model folder; checkpoints go."""
    draw(out)
    info = describe(options, plan, chosen, device, read_metrics(out / "metrics.jsonl"))
    (out / FACTS).write_text(json.dumps(asdict(info), indent=1) + "\n")
    trained = out / ("trained" if options.method == "full" else "adapter")
    write_model(options, plan, trained, out / "model", card(info))
    shutil.rmtree(out / "checkpoints")
    if options.method == "full":
        shutil.rmtree(trained)
    else:
        (trained / "training_args.bin").unlink(missing_ok=True)  # a pickle that nobody needs


def describe(
    options: SftOptions, plan: Plan, chosen: Engine, device: str, metrics: Sequence[dict[str, Any]]
) -> ModelInfo:
    """The facts of a finished run."""
    steps = [m for m in metrics if "loss" in m]
    tests = [m for m in metrics if "eval_loss" in m]
    best = min(tests, key=lambda m: m["eval_loss"], default=None)
    rates, mfu = [m["tokens_per_second"] for m in steps], [m["mfu"] for m in steps if "mfu" in m]
    return ModelInfo(
        plan.base.name, plan.base.revision or "", options.method, chosen, steps[-1]["step"], plan.steps,
        steps[-1]["epoch"], steps[-1]["tokens"], steps[0]["loss"], steps[-1]["loss"],
        tests[0]["eval_loss"] if tests else None, best["eval_loss"] if best else None, best["step"] if best else None,
        median(rates), median(mfu) if mfu else None, device, plan.summary(), _followed(options),
        tuple(f"{name} {importlib.metadata.version(name)}" for name in VERSIONS if _installed(name)),
        plan.corpus.train[0].messages[-1]["content"],
    )  # fmt: skip


def _followed(options: SftOptions) -> dict[str, Any]:
    """The options with what their defaults came to."""
    came_to = {"learning_rate": options.peak_learning_rate, "precision": precision(options)}
    return options.model_dump(mode="json") | came_to


def read_info(out: Path) -> ModelInfo:
    """The facts of the finished run in a folder."""
    found = json.loads((out / FACTS).read_text())
    return ModelInfo(**{**found, "versions": tuple(found["versions"])})


def _installed(name: str) -> bool:
    try:
        return bool(importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        return False

"""KernelBench's own evaluator on one file with a task and a candidate: ``kernelbench_peer.py CHECKOUT FILE``.

What its package imports to talk to language models is replaced by empty modules where it is not installed.
"""

from __future__ import annotations

import importlib
import sys
import types
from pathlib import Path

import torch

from kdata.verify.candidate.source import task_part

TALKERS = {"litellm": "completion", "openai": "OpenAI", "dotenv": "load_dotenv"}


def main(checkout: str, file: str) -> None:
    """Print whether the candidate is correct, and its mean time in milliseconds."""
    for name, member in TALKERS.items():
        try:
            importlib.import_module(name)
        except ImportError:
            empty = types.ModuleType(name)
            setattr(empty, member, lambda *_, **__: None)
            sys.modules[name] = empty
    sys.path.insert(0, str(Path(checkout) / "src"))
    evaluate = importlib.import_module("kernelbench.eval").eval_kernel_against_ref
    text = Path(file).read_text()
    found = evaluate(
        task_part(text), text, num_correct_trials=5, num_perf_trials=100, measure_performance=True,
        device=torch.device("cuda:0"), backend="triton",
    )  # fmt: skip
    print(found.correctness, found.runtime)


if __name__ == "__main__":
    main(*sys.argv[1:])

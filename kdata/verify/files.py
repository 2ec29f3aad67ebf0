"""`kdata verify` for one pair of files: the receipt is printed, the verdict is the exit status."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

from kdata.terminal import waiting
from kdata.verify.compiling import targets
from kdata.verify.gpu.judge import choose
from kdata.verify.judge import judge_files
from kdata.verify.options import Level, Options, Precision
from kdata.verify.step import rule

STATUS = {"verified": 0, "rejected": 1}
UNDECIDED = 2


def verdict(
    task: Path | None, kernel: Path | None, built_for: str, seeds: int | None, device: str | None, as_json: bool,
    level: Level, precision: Precision,
) -> int:  # fmt: skip
    """Judge a kernel file against a task file, print the receipt, return the exit status.

    Raises:
        ValueError: one of the files, or an option, is missing or wrong.
        OSError: a file cannot be read.
    """
    if task is None or kernel is None:
        raise ValueError("--task and --kernel go together")
    options = Options(targets=parse_targets(built_for), seeds=seeds, device=choose(device), level=level,
                      precision=precision)  # fmt: skip
    with waiting(f"judging {kernel} at level {level}"):
        receipt = judge_files(task, kernel, options, rule(level))
    if as_json:
        print(json.dumps(dataclasses.asdict(receipt), indent=1))
    else:
        print(": ".join(part for part in (receipt.verdict, receipt.reason, receipt.detail) if part))
    return STATUS.get(receipt.verdict, UNDECIDED)


def parse_targets(text: str) -> tuple[str, ...]:
    """The GPUs in a comma-separated list.

    Raises:
        ValueError: one of them is unknown.
    """
    names = tuple(name for name in text.split(",") if name)
    for name in names:
        targets.parse(name)
    return names

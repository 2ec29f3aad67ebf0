"""Checkpoints that a kill cannot spoil: one counts once its marker, written last, is there."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

MARKER = "complete"
PREFIX = "checkpoint-"


def last(folder: Path) -> Path | None:
    """The newest finished checkpoint."""
    return max((c for c in folder.glob(f"{PREFIX}*") if (c / MARKER).exists()), key=step, default=None)


def clean(folder: Path) -> None:
    """Remove what a kill left of a checkpoint."""
    for checkpoint in folder.glob(f"{PREFIX}*"):
        if not (checkpoint / MARKER).exists():
            shutil.rmtree(checkpoint)


def step(checkpoint: Path) -> int:
    """The optimizer step of a checkpoint."""
    return int(checkpoint.name.removeprefix(PREFIX))


def mark(folder: Path, at: int) -> None:
    """Say that the checkpoint of a step is whole."""
    (folder / f"{PREFIX}{at}" / MARKER).touch()


def read_metrics(path: Path, until: int | None = None) -> list[dict[str, Any]]:
    """The lines of ``metrics.jsonl`` up to a step; a line that a kill cut short is left out."""
    found = []
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            entry = json.loads(line)
        except json.JSONDecodeError:
            break
        if until is None or entry["step"] <= until:
            found.append(entry)
    return found


def cut_metrics(path: Path, until: int) -> None:
    """Take back what was written after a step, since it will be done again."""
    kept = read_metrics(path, until)
    path.write_text("".join(json.dumps(entry) + "\n" for entry in kept))

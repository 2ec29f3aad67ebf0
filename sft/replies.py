"""A model that answered elsewhere: its answers, read from a file, so that a machine without it can judge them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from kdata.record import Dropped, digest
from sft.answers import GENERATE, Answer, Request, Sampling

SUFFIXES = (".jsonl", ".jsonl.gz")
BATCH = 4096
ABSENT = "not in the file"


@dataclass
class Replies:
    """The answers in a file: JSON objects, one a line, with the fields of ``Answer``; ``id`` is the request's.

    Whoever wrote the file chose the sampling; it is not looked at here.
    """

    path: Path
    size: int | None = None
    apart: bool = False

    @property
    def batch(self) -> int:
        """Requests looked up at once."""
        return self.size or BATCH

    @cached_property
    def name(self) -> str:
        """The model that answered, and a digest of the file.

        Raises:
            ValueError: the file is none of answers, or several models wrote them.
        """
        models = {answer.model for answer in self._answers.values()}
        if len(models) != 1:
            raise ValueError(f"{self.path} must hold the answers of one model, not of {len(models)}")
        seen = digest(*(f"{a.id} {a.text}" for a in self._answers.values()))
        return f"{models.pop()} {seen}"

    def answer(self, requests: Sequence[Request], sampling: Sampling) -> Iterator[Answer | Dropped]:
        """What the file holds of these requests."""
        for request in requests:
            found = self._answers.get(request.id)
            if found is None:
                yield Dropped(GENERATE, request.id, ABSENT, f"seed {request.seed}")
            else:
                yield replace(found, model=self.name)

    @cached_property
    def _answers(self) -> Mapping[str, Answer]:
        try:
            lines = _text(self.path).split("\n")
            found = [_read(json.loads(line)) for line in lines if line.strip()]
        except (OSError, EOFError, TypeError, KeyError, ValueError) as error:
            raise ValueError(f"{self.path} holds no answers: {type(error).__name__}: {error}") from error
        return {answer.id: answer for answer in found}


def _text(path: Path) -> str:
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode()


def _read(line: Mapping[str, Any]) -> Answer:
    return Answer(line["id"], line["model"], int(line["seed"]), line["text"], line["finish"], line.get("tokens"))

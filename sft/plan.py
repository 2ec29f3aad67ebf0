"""Everything about a run that is decided before its model is loaded: the base, the rows, their order, the steps."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from kdata.record import digest
from sft import base as bases
from sft import data, order
from sft.base import Base
from sft.encode import Encoded, Encoder, encode
from sft.options import COSMETIC, SftOptions


@dataclass(frozen=True, slots=True)
class Plan:
    """A run, ready to train."""

    id: str  # digest of everything that decides what comes out
    base: Base
    tokenizer: Any
    corpus: data.Corpus
    long: int  # examples left out as too long
    train: Any  # dataset of rows in training order, all epochs
    held_out: Any  # dataset; None where nothing is held out
    lengths: list[int]  # tokens of each training example
    steps: int  # optimizer steps

    def line(self) -> str:
        """What will be learnt and what was left out, in one line."""
        found = self.summary()
        left = ", ".join(f"{count:,} {reason}" for reason, count in sorted(found["refused"].items()))
        rows = f"{len(self.lengths):,} rows of {sum(self.lengths):,} tokens an epoch"
        return f"{rows}, {self.steps:,} steps, {found['held_out']:,} rows held out" + (
            f"; left out: {left}" if left else ""
        )

    def summary(self) -> dict[str, Any]:
        """The data as plain JSON values; ``train`` and ``held_out`` are of examples that are not too long."""
        found = data.summary(self.corpus)
        refused = found["refused"] | ({"longer than max_length": self.long} if self.long else {})
        watched = 0 if self.held_out is None else len(self.held_out)
        return found | {"train": len(self.lengths), "held_out": watched, "refused": refused,
                        "tokens": sum(self.lengths)}  # fmt: skip


def make_plan(options: SftOptions) -> Plan:
    """Read, encode and order the data of a run.

    Raises:
        FileNotFoundError: there is no such data.
        OSError: the base cannot be had.
        ValueError: base or data are wrong, or nothing is left to train on.
    """
    base = bases.resolve(options.base)  # first: a name that is wrong should not wait for the data
    corpus = data.load(options)
    tokenizer = bases.load_tokenizer(base)
    encoder = Encoder(tokenizer)
    examples, long = encode(corpus.train, encoder, options.max_length)
    tests, long_tests = encode(corpus.held_out, encoder, options.max_length)
    if not examples:
        raise ValueError(f"nothing to train on: all {long} examples are longer than --max-length {options.max_length}")
    rows = _ordered(options, examples)
    steps = math.ceil(len(rows) / options.batch_size)
    deciding = json.dumps(options.model_dump(exclude=set(COSMETIC)), sort_keys=True)
    return Plan(
        digest(deciding, corpus.id), base, tokenizer, corpus, long + long_tests, rows,
        order.dataset(tests) if tests else None, [len(e.ids) for e in examples], min(steps, options.max_steps or steps),
    )  # fmt: skip


def _ordered(options: SftOptions, examples: list[Encoded]) -> Any:
    """The rows of all epochs, in order."""
    parts = order.stages(examples, options.order == "curriculum", options.seed)
    if options.batching == "packed":
        rows, packed = order.pack(examples, parts, options.max_length)
        return rows.select(order.shuffled(packed, options.epochs, options.seed))
    lengths = [len(e.ids) for e in examples]
    chosen = order.bucketed(parts, lengths, options.rows_at_once, options.epochs, options.seed)
    return order.dataset(examples).select(chosen)

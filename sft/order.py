"""The order of training: packed rows or batches of like lengths, shuffled anew each epoch by the seed alone.

It is decided before training, for all epochs, so that it is the same for any number of processes and after a resume.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from random import Random
from typing import Any

from sft.encode import Encoded

STAGES = 4  # of a curriculum
MEGABATCH = 50  # batches among which examples are sorted by length, as transformers' LengthGroupedSampler does


def stages(examples: Sequence[Encoded], curriculum: bool, seed: int) -> list[list[int]]:
    """Indices of the examples, shuffled; for a curriculum in four equal parts, from short answers to long ones."""
    indices = list(range(len(examples)))
    Random(f"{seed} examples").shuffle(indices)
    if not curriculum:
        return [indices]
    indices.sort(key=lambda i: examples[i].learnt)
    bounds = [len(indices) * part // STAGES for part in range(STAGES + 1)]
    return [indices[a:b] for a, b in pairwise(bounds) if b > a]


def pack(examples: Sequence[Encoded], parts: Sequence[Sequence[int]], max_length: int) -> tuple[Any, list[list[int]]]:
    """Lay the examples of each stage end to end in rows of at most ``max_length`` tokens, best fit first.

    Returns:
        A dataset with columns ``input_ids``, ``labels`` and ``seq_lengths`` (of the examples in a row, from which the
        collator makes positions that keep them apart), and the rows of each stage.
    """
    from datasets import concatenate_datasets
    from trl.data_utils import pack_dataset

    packed = [pack_dataset(dataset([examples[i] for i in part]), max_length, "bfd") for part in parts]
    ends = [sum(len(p) for p in packed[: i + 1]) for i in range(len(packed))]
    rows = [list(range(end - len(p), end)) for p, end in zip(packed, ends, strict=True)]
    return concatenate_datasets(packed), rows


def dataset(examples: Sequence[Encoded]) -> Any:
    """Examples as a dataset with columns ``input_ids`` and ``labels``."""
    from datasets import Dataset, Features, List, Value

    columns = {"input_ids": [e.ids for e in examples], "labels": [e.labels for e in examples]}
    features = Features({"input_ids": List(Value("int32")), "labels": List(Value("int32"))})
    return Dataset.from_dict(columns, features=features)


def shuffled(parts: Sequence[Sequence[int]], epochs: int, seed: int) -> list[int]:
    """The rows in order, for all epochs: within a stage by chance."""
    order: list[int] = []
    for epoch in range(epochs):
        for part in parts:
            rows = list(part)
            Random(f"{seed} epoch {epoch}").shuffle(rows)
            order += rows
    return order


def bucketed(parts: Sequence[Sequence[int]], lengths: Sequence[int], batch: int, epochs: int, seed: int) -> list[int]:
    """The same for rows to be padded: batches of like lengths, the batches by chance."""
    order: list[int] = []
    for epoch in range(epochs):
        random = Random(f"{seed} epoch {epoch}")
        for part in parts:
            rows = list(part)
            random.shuffle(rows)
            size = MEGABATCH * batch
            groups = [sorted(rows[i : i + size], key=lambda r: -lengths[r]) for i in range(0, len(rows), size)]
            batches = [group[i : i + batch] for group in groups for i in range(0, len(group), batch)]
            random.shuffle(batches)
            batches.sort(key=lambda b: len(b) < batch)  # a batch that is not full would shift those after it
            order += [row for rows in batches for row in rows]
    return order

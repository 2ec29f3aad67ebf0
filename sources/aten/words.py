"""What dimensions are called, and how large they are: as people write them, not as a test suite does."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from kdata.record import digest

MOST, LEAST = 1 << 20, 1 << 12  # elements of the largest input
NAMES: dict[int, tuple[tuple[str, ...], ...]] = {
    0: ((),),
    1: (("length",), ("num_elements",), ("features",), ("num_samples",)),
    2: (("batch_size", "features"), ("rows", "columns"), ("batch_size", "embed_dim"), ("num_tokens", "hidden_size")),
    3: (("batch_size", "sequence_length", "hidden_size"), ("batch_size", "channels", "length"),
        ("batch_size", "rows", "columns"), ("batch_size", "num_tokens", "embed_dim")),
    4: (("batch_size", "channels", "height", "width"), ("batch_size", "num_heads", "sequence_length", "head_dim"),
        ("batch_size", "frames", "num_tokens", "features")),
    5: (("batch_size", "channels", "depth", "height", "width"),
        ("batch_size", "frames", "channels", "height", "width")),
}  # fmt: skip
VALUES: dict[str, tuple[int, ...]] = {
    "length": (128, 256, 512, 1000), "num_elements": (65536, 100000, 262144), "num_samples": (4096, 16384, 50000),
    "batch_size": (4, 8, 16, 32), "features": (128, 256, 512, 1024), "dim": (256, 512, 768),
    "embed_dim": (256, 384, 512, 768),
    "rows": (64, 128, 256, 300), "columns": (128, 256, 384, 500), "num_tokens": (64, 128, 196, 256),
    "hidden_size": (128, 256, 512, 768), "sequence_length": (64, 128, 200, 256), "channels": (16, 32, 64, 96),
    "height": (16, 28, 32, 56), "width": (16, 28, 32, 56), "num_heads": (4, 8, 12), "head_dim": (32, 64),
    "frames": (4, 8, 12), "depth": (4, 8, 16), "in_features": (128, 256, 512), "out_features": (64, 192, 256, 384),
    "in_channels": (8, 16, 24, 32), "out_channels": (16, 32, 48, 64), "num_classes": (10, 80, 100, 256),
    "num_embeddings": (500, 1000, 4096), "embedding_dim": (64, 128, 256), "num_queries": (32, 64, 100),
    "num_keys": (48, 128, 160), "inner": (64, 128, 256), "num_indices": (32, 64, 100),
    "m": (128, 256, 384), "k": (64, 256, 320), "n": (128, 192, 512), "d": (32, 64, 96),
}  # fmt: skip
PRIMES = (7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47)


def names(rank: int, *key: object) -> tuple[str, ...]:
    """Words for the dimensions of a tensor, by what the program is."""
    choices = NAMES[rank]
    return choices[_number(*key, "names") % len(choices)]


def values(words: Sequence[str], *key: object, shapes: Sequence[Sequence[str]] = ()) -> dict[str, int]:
    """A size for each word, chosen by what the program is, such that no shape has too many elements, or very few.

    ``shapes`` are those of the inputs, as words and literals; without them the words are the only one.
    """
    every, found = shapes or [words], {word: _value(word, *key) for word in dict.fromkeys(words)}
    if not _flat(every):
        found = {word: value if value < 4096 else value // 128 for word, value in found.items()}
    return fitted(found, every)


def fitted(found: Mapping[str, int], shapes: Sequence[Sequence[str]], most: int = MOST) -> dict[str, int]:
    """These sizes, halved or doubled until no shape has more than ``most`` elements, and the largest enough."""
    fit = dict(found)
    if _flat(shapes):
        fit = {word: value if value >= LEAST else 128 * value for word, value in fit.items()}
    while max(elements(shape, fit) for shape in shapes) > most:
        largest = max(fit, key=lambda w: fit[w])
        fit[largest] //= 2
    while fit and max(elements(shape, fit) for shape in shapes) < LEAST:
        smallest = min((w for shape in shapes for w in shape if w in fit), key=lambda w: fit[w])
        fit[smallest] *= 2
    return fit


def _flat(shapes: Sequence[Sequence[str]]) -> bool:
    """Whether no shape has two dimensions."""
    return all(sum(not name.isdigit() for name in shape) < 2 for shape in shapes)


def elements(shape: Sequence[str], sizes: Mapping[str, int]) -> int:
    """How many elements a shape of names and literals has."""
    return math.prod(sizes.get(name) or int(name) for name in shape)


def _value(word: str, *key: object) -> int:
    options = VALUES.get(word) or VALUES.get(word.partition("_")[2]) or (32, 64, 128)
    return options[_number(*key, word) % len(options)]


def _number(*key: object) -> int:
    return int(digest(*map(str, key))[:8], 16)

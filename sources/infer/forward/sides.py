"""Of which sides, frames and numbers of tokens the images are that a module was made for, as it holds them."""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from torch import nn

from sources.hints.guesses import halves
from sources.infer.inputs import BATCH, SIDE, SPATIAL, TOKENS, Spec, Tensor

MAX_FRAMES, MAX_SIDE = 64, 512
MAX_AREA = 1 << 12  # tokens
PARTS = 20  # of a module, the first ones, that are asked
LARGE = 128  # sides of images of which a batch holds few
_FRAMES = re.compile(r"^n(um)?_?frames$|^clip_len")
_IMAGE = re.compile(r"im(age|g)_?(size|res|dim|h|w|side)|input_?(size|res|shape)|resolution|crop_?size|^[hw]$")
_PAIR = re.compile(rf"{_IMAGE.pattern}|^size$")  # of two numbers, which are no widths of layers


def as_made_for(module: nn.Module, known: Mapping[str, int], found: list[list[Spec]]) -> list[list[Spec]]:
    """The specs of each input, best first, with images and sequences of the module's own sizes before others.

    ``known`` are sizes that the constructor was given, by name.
    """
    sides = next(_pairs(module), None) or next(_sides(module, known), ())
    area = next((a for a in _areas(module) if a != TOKENS), 0)
    frames = next((v for n, v in known.items() if _FRAMES.search(n.lower()) and 1 < v <= MAX_FRAMES), 0)
    return [_of_sides(options, sides, area, frames) for options in found] if sides or area else found


def _held(module: nn.Module) -> Iterator[tuple[str, Any]]:
    """Names and values of what a module and its first parts hold."""
    for part in itertools.islice(module.modules(), PARTS):
        if not type(part).__module__.startswith("torch."):  # that an Upsample holds is what comes out of it
            yield from vars(part).items()


def _pairs(module: nn.Module) -> Iterator[tuple[int, int]]:
    """Heights and widths that differ: of 256 by 128, as persons are, of 32 by 128, as words are."""
    for name, value in _held(module):
        if isinstance(value, tuple | list) and [type(v) for v in value] == [int, int] and _PAIR.search(name.lower()):
            high, wide = value
            if high != wide and min(high, wide) > 7 and high * wide <= MAX_SIDE**2:
                yield high, wide


def _sides(module: nn.Module, known: Mapping[str, int]) -> Iterator[tuple[int, int]]:
    """Sides of squares; of several the last."""
    try:
        made = inspect.getsource(type(module).__init__) if known else ""
    except (OSError, TypeError):
        made = ""
    halved = [n for n in known if halves(n, made)]  # how often, until little is left
    yield from ((known[n], known[n]) for n in halved if 7 < known[n] <= MAX_SIDE and known[n] != SIDE)
    for name, value in itertools.chain(known.items(), _held(module)):
        last = value[-1] if isinstance(value, tuple | list) and value else value
        if type(last) is int and _IMAGE.search(name.lower()) and 7 < last <= MAX_SIDE and last != SIDE:
            yield last, last


def _areas(module: nn.Module) -> Iterator[int]:
    """Numbers of tokens that images of the extents that a module holds have: Swin's ``input_resolution``."""
    for name, value in _held(module):
        pair = value if isinstance(value, tuple | list) and [type(v) for v in value] == [int, int] else (0, 0)
        if "resolution" in name and 0 < pair[0] * pair[1] <= MAX_AREA:
            yield pair[0] * pair[1]


def _of_sides(options: list[Spec], sides: tuple[int, ...], area: int, frames: int) -> list[Spec]:
    """The options, each image first of the sides, and each sequence of the length, that the module was made for."""
    out: list[Spec] = []
    for option in options:
        if area and isinstance(option, Tensor) and len(option.shape) == 3 and option.shape[1] == TOKENS:
            out.append(option.resized(1, area))
        if sides and isinstance(option, Tensor) and option.shape[2:] == (SIDE, SIDE):
            batch = BATCH if max(sides) > LARGE else option.shape[0]
            out.append(replace(option, shape=(batch, option.shape[1], *sides)))
        if sides and frames and isinstance(option, Tensor) and option.shape[2:] == SPATIAL[3]:
            out.append(replace(option, shape=(2, option.shape[1], frames, *sides)))
        out.append(option)
    return list(dict.fromkeys(out))

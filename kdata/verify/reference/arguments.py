"""Other arguments for a task's constructor: an epsilon, a slope, a number of columns, a word. In the reference's child.

What a task constructs its module with is one choice of many, and a kernel may hold it as a constant; so are numbers
among the inputs, a temperature, of which the same is asked. Nothing else that is asked of a candidate shows that.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

from torch import Tensor
from torch.utils._pytree import tree_flatten, tree_flatten_with_path, tree_leaves, tree_unflatten

from kdata.verify.reference.values import finite, near

Arguments = tuple[list[Any], dict[str, Any]]
LARGEST_POWER = 1023  # of two, that a float may be
COUNTING: tuple[type, ...] = (int, bool)
FLOATS: tuple[type, ...] = (float,)
KINDS: tuple[tuple[type, ...], ...] = (FLOATS, COUNTING, (str,))
# Words of which torch takes any where it takes one of them; a word of two lists is tried by the first one's first.
WORDS = (("none", "tanh"), ("mean", "sum", "none"), ("relu", "gelu", "silu", "tanh"), ("zeros", "border", "reflection"),
         ("constant", "reflect", "replicate", "circular"), ("zeros", "reflect", "replicate", "circular"),
         ("nearest", "bilinear", "bicubic"))  # fmt: skip
VISIBLE = 0.01  # relative change of an answer that shows whatever the tolerance
FAINT = 1e-4  # and of what a word changes: GELU by tanh is as near to that by erf
SMALL = 64  # whole numbers up to this one are doubled
MOST = 6  # arguments of a kind that are changed


@dataclass(frozen=True, slots=True)
class Changed:
    """Other arguments, and what was changed as text: ``eps=1.00001, bias=False``."""

    arguments: Arguments
    detail: str


def changed(
    given: Arguments, kinds: tuple[type, ...], constructor: Callable[..., Any], answer: Callable[[Arguments], Any],
    sizes: Collection[int] = (),
) -> Changed | None:  # fmt: skip
    """The arguments with as many of some types changed as the reference's answer follows; None for none.

    ``answer``: what it answers to its inputs, constructed so; it may raise. ``sizes``: dimensions of the inputs, which
    arguments that are as large may be meant to be: as many filters as channels.
    """
    paths, structure = tree_flatten_with_path([*given])
    values, names = [value for _, value in paths], [_name(path, constructor) for path, _ in paths]
    usual = answer(given)
    said: dict[str, Any] = {}
    for place, value in [(n, v) for n, v in enumerate(values) if type(v) in kinds and not _size(v, sizes)][:MOST]:
        for other in _others(value):
            tried = [*values[:place], other, *values[place + 1 :]]
            positional, keyword = tree_unflatten(tried, structure)
            shows = FAINT if isinstance(value, str) else VISIBLE
            new = _follows(usual, lambda: answer((positional, keyword)), shows)  # noqa: B023 - called at once
            if new is not None:
                values, usual = tried, new
                said[names[place]] = other
                break
    positional, keyword = tree_unflatten(values, structure)
    return Changed((positional, keyword), ", ".join(f"{k}={v!r}" for k, v in said.items())) if said else None


def powered(given: Arguments, other: Arguments) -> Arguments | None:
    """The arguments with powers of two near those floats that are not as in others; None where they are such already.

    Of their signs. By powers of two nothing is rounded. Infinity and NaN stay.
    """
    values, structure = tree_flatten([*given])
    tried = [_power(v) if type(v) is float and v and v != w and math.isfinite(v) else v
             for v, w in zip(values, tree_leaves([*other]), strict=True)]  # fmt: skip
    positional, keyword = tree_unflatten(tried, structure)
    return None if all(a is b or a == b for a, b in zip(tried, values, strict=True)) else (positional, keyword)


def _power(value: float) -> float:
    return math.copysign(math.ldexp(1.0, min(LARGEST_POWER, round(math.log2(abs(value))))), value)


def with_numbers(drawn: list[Any], numbers: list[Any]) -> list[Any]:
    """Inputs as they were drawn, with the numbers and words of others that are built alike."""
    leaves, structure = tree_flatten(drawn)
    pairs = zip(leaves, tree_leaves(numbers), strict=True)
    chosen = [other if isinstance(one, int | float | str) else one for one, other in pairs]
    found: list[Any] = tree_unflatten(chosen, structure)
    return found


def counted(inputs: list[Any], number: int) -> list[Any] | None:
    """The inputs with this number in place of whole ones that are no dimensions; None where there are none."""
    leaves, structure = tree_flatten(inputs)
    sizes = {size for t in leaves if isinstance(t, Tensor) for size in t.shape}
    chosen = [number if type(leaf) is int and not _size(leaf, sizes) else leaf for leaf in leaves]
    found: list[Any] = tree_unflatten(chosen, structure)
    return None if chosen == leaves else found


def _size(value: Any, sizes: Collection[int]) -> bool:
    return type(value) is int and value > 1 and value in sizes


def _follows(usual: Any, answer: Callable[[], Any], shows: float) -> list[Any] | None:
    """Another answer, where it is finite and one that shows; its tensors only."""
    try:
        new = answer()
    except Exception:  # noqa: BLE001 - no such argument
        return None
    one, other = tree_leaves(usual), tree_leaves(new)
    alike = len(one) == len(other) and near(one, other, shows)
    return other if finite(new) and not alike else None


def _others(value: Any) -> Iterator[Any]:
    """What an argument may be instead, the most telling first."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, str):
        yield from (word for words in WORDS if value in words for word in words if word != value)
    elif isinstance(value, int):
        yield from (2 * value, value + 1) if 0 < value <= SMALL else (value + 1,)
        if value > 1:
            yield value - 1
    else:
        yield from (value / 2, value + 1.0, -value) if value else (0.5, -0.5)


def _name(path: tuple[Any, ...], constructor: Callable[..., Any]) -> str:
    """An argument's name, by its place among the positional or the keyword ones."""
    side, place, *within = (getattr(key, "idx", getattr(key, "key", key)) for key in path)
    names = [*inspect.signature(constructor).parameters]
    name = names[place] if side == 0 and place < len(names) else str(place)
    return name + "".join(f"[{part}]" for part in within)

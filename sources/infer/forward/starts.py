"""Which inputs of a module are tried first."""

from __future__ import annotations

import inspect
import linecache
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from torch import nn

from sources.infer.forward.input_guesses import guesses, source, takes_any
from sources.infer.forward.variants import Arguments
from sources.infer.inputs import TOKENS, Many, Spec, Specs, Tensor, all_tensors, edited, file_of, parameters

STEPS = 16  # of a sequence that is gone through step by step
# ``for t in range(...)``, and what is taken by that: ``x[:, t]``.
_LOOP = re.compile(r"(?m)^ *for (\w+) in range\((?!.*\bself\.).*\):")  # not as often as the constructor was told
_LOOPS = 40  # of one program, that are looked at


def given_sizes(module: nn.Module, arguments: Arguments) -> dict[str, int]:
    """Integers that a module was constructed with, by name, defaults included."""
    try:
        parameters = inspect.signature(type(module)).parameters
    except (TypeError, ValueError):
        return {}
    given: dict[str, int] = {name: p.default for name, p in parameters.items() if type(p.default) is int}
    return given | {n.split(".")[-1]: int(text) for n, text in arguments.items() if text.isdecimal()}


def costed(module: nn.Module, known: Mapping[str, int]) -> Iterator[tuple[float, Specs]]:
    """First guesses of a module's inputs, each with what it costs to try: the likeliest least."""
    choices = guesses(module, known)
    if _goes_by_steps(module):
        choices = [list(dict.fromkeys([*map(_brief, options), *options[:1]])) for options in choices]
    for i in range(max(map(len, choices), default=0) or 1):
        yield 0.4 * i, tuple(c[min(i, len(c) - 1)] for c in choices)
    if takes_any(module) and choices and _takes_places(module):
        for j, many in enumerate(o for o in choices[-1] if isinstance(o, Many) and not o.keys):
            yield 0.3 * j, (*(c[0] for c in choices[:-1]), *many.items)
    if len(choices) > 1:
        yield 0.2, (choices[0][0],) * len(choices)
        for at, options in enumerate(choices):
            for j, option in enumerate(options[1:4]):
                yield 0.8 + 0.5 * j, tuple(option if i == at else c[0] for i, c in enumerate(choices))


def _goes_by_steps(module: nn.Module) -> bool:
    """Whether the program goes through the steps of a sequence: each is as much as all at once are elsewhere."""
    text = "".join(linecache.getlines(file_of(module)))
    names = dict.fromkeys(m[1] for m in _LOOP.finditer(text))
    return any(re.search(rf"\w\[:, ?{name}[\],]", text) for name in [*names][:_LOOPS])


def _brief(spec: Spec) -> Spec:
    """An input with few steps; the last dimension of numbers that are no words is no step."""
    specs: Specs = (spec,)
    for path, t in all_tensors(specs):
        last = len(t.shape) - (t.kind in ("float", "unit") and len(t.shape) > 1)
        shape = tuple(STEPS if 0 < i < last and n == TOKENS else n for i, n in enumerate(t.shape))
        if len(t.shape) < 4:
            specs = edited(specs, path, replace(t, shape=shape, high=_within(t)))
    return specs[0]


def _within(t: Tensor) -> int:
    """The upper end of a tensor's values, where they are lengths that of a brief sequence."""
    return STEPS if t.kind == "full" and t.high == TOKENS else t.high


def _takes_places(module: nn.Module) -> bool:
    """Whether forward takes some of as many inputs as there are by their place: ``inputs[-2]``."""
    name = parameters(module.forward)[-1].name
    return re.search(rf"(?<!\*)\b{re.escape(name)}\[-?\d", source(type(module).forward)) is not None


def starts(module: nn.Module) -> list[Specs]:
    """First guesses of a module's inputs, best first."""
    return [specs for _, specs in sorted(costed(module, given_sizes(module, {})), key=lambda s: s[0])]

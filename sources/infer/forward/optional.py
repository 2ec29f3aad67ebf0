"""Inputs that ``forward`` may be called without: those of them that are given all the same."""

from __future__ import annotations

import inspect
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import nn

from sources.infer.forward.input_guesses import of_parameters
from sources.infer.inputs import Plain, Spec, Specs

_following: WeakKeyDictionary[nn.Module, dict[int, list[Spec]]] = WeakKeyDictionary()  # each failure asks


def following(module: nn.Module, count: int) -> list[Spec]:
    """Specs for the first parameter of ``forward`` that ``count`` inputs leave to its default; remembered."""
    known = _following.setdefault(module, {})
    if count not in known:
        plain = _positional(module)
        given = count >= len(plain) or not is_absent(plain[count].default)
        known[count] = [] if given else of_parameters(module, {}, [plain[count]])[0][:3]
    return known[count]


def is_absent(default: Any) -> bool:
    """Whether a parameter's default stands for no tensor: None, or, in scripted code, one of no rows."""
    return default is None or isinstance(default, torch.Tensor) and not (default.dim() and default.numel())


def up_to(module: nn.Module, specs: Specs, name: str) -> list[Specs]:
    """The inputs with the parameter of a name, which they leave to its default, and the defaults of those before it."""
    plain = _positional(module)
    at = next((i for i, p in enumerate(plain) if p.name == name and is_absent(p.default)), -1)
    if at < 0 or at < len(specs) and specs[at] != Plain(None):
        return []
    between = tuple(of_parameters(module, {}, [p])[0][0] if isinstance(p.default, torch.Tensor) else Plain(p.default)
                    for p in plain[len(specs) : at])  # fmt: skip
    return [(*specs[:at], *between, new, *specs[at + 1 :]) for new in of_parameters(module, {}, [plain[at]])[0][:3]]


def given_last(module: nn.Module, specs: Specs, new: Spec) -> list[Specs]:
    """The inputs with one for each parameter that they leave to None, and the defaults of those before it."""
    plain = _positional(module)
    places = [i for i, p in enumerate(plain) if p.default is None and i >= len(specs)]
    return [(*specs, *(Plain(p.default) for p in plain[len(specs) : i]), new) for i in places]


def flagged(module: nn.Module, specs: Specs, on: bool = True) -> list[Specs]:
    """The inputs with one of the flags ``on`` that they leave off, or off, and the defaults of what is before it."""
    plain = _positional(module)
    flags = [i for i, p in enumerate(plain) if p.default is not on and type(p.default) is bool and i >= len(specs)]
    return [(*specs, *(Plain(p.default) for p in plain[len(specs) : i]), Plain(on)) for i in flags]


def _positional(module: nn.Module) -> list[inspect.Parameter]:
    try:
        every = list(inspect.signature(module.forward).parameters.values())
    except (TypeError, ValueError):
        return []
    return [p for p in every if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]

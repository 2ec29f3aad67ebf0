"""Networks that a function makes of searched arguments, and that are run then: who watches sees their parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torch import nn

from sources.hints.makers import MADE
from sources.infer.constructor.constructions import Constructions, Told, build
from sources.infer.forward.variants import Arguments
from sources.infer.input_search import MAX_CALLS, InputSearch
from sources.infer.inputs import Specs
from sources.infer.running.calls import call
from sources.infer.running.progress import BUDGET, Budget

MAX_MADE = 2  # networks of one function that are run
WORK = BUDGET / 2  # of searching inputs of one


def run_made(
    kind: type[nn.Module], namespace: Mapping[str, Any], text: str, told: Told, tries: int, watch: Callable[[], None]
) -> None:
    """Search what a function needs, and inputs of what it makes; from then on ``watch``, and do all that once more.

    Who watches from the beginning has seen enough of what fails before anything runs.
    """
    arguments, inputs = _searched(kind, namespace, text, told, tries)
    watch()
    made = _nets(build(kind, arguments, namespace, Budget(), told.defaults)) if inputs else []
    for net, specs in zip(made, inputs, strict=False):
        if specs is not None:
            call(net, specs, Budget())


def _searched(
    kind: type[nn.Module], namespace: Mapping[str, Any], text: str, told: Told, tries: int
) -> tuple[Arguments, list[Specs | None]]:
    """Arguments, and inputs of each network that is made of them: those with which it runs, or comes furthest."""
    best: tuple[Arguments, list[Specs | None]] = {}, []
    for made, (arguments, maker) in enumerate(Constructions(kind, namespace, text, Budget(WORK), told, tries), 1):
        ran = [InputSearch(net, {}, Budget(WORK), None, MAX_CALLS, -1).run() for net in _nets(maker)]
        if ran and (made == 1 or any(tried.specs is not None for tried in ran)):
            best = arguments, [tried.specs or tried.furthest for tried in ran]
        if made >= MAX_MADE or any(tried.specs is not None for tried in ran):
            break
    return best


def _nets(maker: nn.Module) -> list[nn.Module]:
    found = getattr(maker, MADE, None)
    several = found if isinstance(found, tuple | list) else [found]
    return [net for net in several if isinstance(net, nn.Module)][:MAX_MADE]

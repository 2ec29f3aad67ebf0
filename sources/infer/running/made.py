"""A module that a search constructed, for who goes on with it.

Constructing a large network takes as long as several calls of it, and what it runs with is asked after by many.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from sources.infer.inputs import Specs, draw
from sources.infer.running.calls import has_tensor
from sources.infer.running.memory import bounded
from sources.infer.running.progress import Budget, Progress


@dataclass(slots=True)
class Made:
    """A module of a class, as it was constructed and called; it is there once, as two are not to be in memory."""

    kind: type[nn.Module]
    module: nn.Module | None

    def take(self, kind: type[nn.Module]) -> nn.Module | None:
        """The module, which goes from here; None where it is of another class, or gone."""
        module, self.module = self.module, None
        return module if self.kind is kind else None


def evaluated(made: Made | None, kind: type[nn.Module], specs: Specs) -> tuple[Any, bool] | None:
    """The answer in eval mode of a module that was made, and whether it draws no random numbers; None: it fails."""
    if made is None or made.kind is not kind or made.module is None:
        return None
    modes = [(part, part.training) for part in made.module.modules()]
    torch.manual_seed(0)
    inputs = [draw(spec) for spec in specs]
    before = torch.default_generator.get_state()
    try:
        with torch.no_grad(), bounded(), Progress(Budget()):
            result = made.module.eval()(*inputs)
        return result, torch.equal(before, torch.default_generator.get_state())
    except Exception:  # noqa: BLE001 - who looks closer sees it, too
        return None
    finally:
        for part, mode in modes:
            part.training = mode


def answers_quietly(made: Made | None, kind: type[nn.Module], specs: Specs) -> bool:
    """Whether a module that was made is seen to answer in eval mode without drawing random numbers; else it goes."""
    answer = evaluated(made, kind, specs)
    quietly = answer is not None and answer[1] and has_tensor(answer[0])
    if made is not None and not quietly:
        made.module = None
    return quietly

"""Parts that a program takes from outside and that no layer stands for: they are given more, or hold settings, too.

``layer(x, mask=mask, cache=None)``, and ``encoder.width`` beside ``encoder(x)``.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

NAME = "StubModule"
CALLED = "layer"  # the setting that says with what a part answers
ANSWERS = ["nn.Identity()", "nn.Linear(64, 64)", "nn.Conv2d(64, 64, 3, padding=1)", "nn.Embedding(1024, 64)"]
STUB = f"{NAME}({ANSWERS[0]})"
CLASS = f'''class {NAME}(nn.Module):
    """Stands for a module that is given from outside: a layer of the first tensor it takes, and settings."""

    def __init__(self, layer, **settings):
        super().__init__()
        self.layer = layer
        for name, value in settings.items():
            setattr(self, name, value)

    def forward(self, *given, **named):
        return self.layer(next(value for value in (*given, *named.values()) if isinstance(value, torch.Tensor)))
'''
_made: dict[str, Any] = {"nn": nn, "torch": torch, "__name__": __name__}
exec(CLASS, _made)  # noqa: S102 - our own text: it is laid into tasks, too
StubModule: type[nn.Module] = _made[NAME]

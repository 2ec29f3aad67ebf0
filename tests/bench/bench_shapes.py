"""Milliseconds of one call without data, on torch's ``meta`` device: torch alone is the peer of what we answer at once.

Mining tries whether large modules run with other sizes so.

python tests/bench/bench_shapes.py
"""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import nn

from sources.infer.running.shapes import Shapes

META = torch.device("meta")
CALLS = 20


def main() -> None:
    """Print one line a network: torch alone, ours, and how many times that is."""
    with META:
        images, words = torch.empty(2, 16, 32, 32), torch.empty(2, 64, 64)
        layers = [layer for _ in range(8) for layer in (nn.Conv2d(16, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU())]
        nets = {"convolutions": (nn.Sequential(*layers), images),
                "transformer": (nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, batch_first=True), 4), words),
                "mixer": (nn.Sequential(*(nn.Sequential(nn.LayerNorm(64), nn.Linear(64, 64), nn.GELU())
                                          for _ in range(8))), words)}  # fmt: skip
    for name, (net, x) in nets.items():
        alone, ours = _milliseconds(net, x, nullcontext()), _milliseconds(net, x, Shapes())
        print(f"{name:14} torch alone {alone:7.2f} ms  at once {ours:7.2f} ms  ratio {alone / ours:5.1f}")


def _milliseconds(net: nn.Module, x: torch.Tensor, way: AbstractContextManager[object]) -> float:
    with torch.no_grad(), way:
        net(x)
        start = time.perf_counter()
        for _ in range(CALLS):
            net(x)
    return 1e3 * (time.perf_counter() - start) / CALLS


if __name__ == "__main__":
    main()

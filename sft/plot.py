"""The loss curves of a run as one SVG file: no script, no library."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sft.checkpoints import read_metrics

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 360, 56, 16, 40, 44
TRAIN, HELD_OUT = "#4477aa", "#cc3311"  # Paul Tol's bright scheme: apart for the colour-blind, too
STYLE = "text{font:12px system-ui,sans-serif;fill:#555}.title{font-size:14px;fill:#222}line{stroke:#ccc}"

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Scale:
    """Data to pixels."""

    steps: float
    low: float
    high: float

    def x(self, step: float) -> float:
        """Pixel of a step."""
        return LEFT + (WIDTH - LEFT - RIGHT) * step / self.steps

    def y(self, loss: float) -> float:
        """Pixel of a loss."""
        return TOP + (HEIGHT - TOP - BOTTOM) * (self.high - loss) / (self.high - self.low)


def draw(run: Path) -> None:
    """Draw the plot of what is in ``metrics.jsonl``."""
    (run / "loss.svg").write_text(loss_curves(read_metrics(run / "metrics.jsonl")))


def loss_curves(metrics: Sequence[Mapping[str, Any]]) -> str:
    """Training and held-out loss by optimizer step, from the lines of ``metrics.jsonl``; "" without any."""
    train = _points(metrics, "loss")
    held_out = _points(metrics, "eval_loss")
    losses = [loss for _, loss in (*train, *held_out)]
    if not losses:
        return ""
    high, low = max(losses), min(losses)
    space = 0.05 * (high - low) or 0.5
    scale = Scale(max(step for step, _ in (*train, *held_out)) or 1, max(0.0, low - space), high + space)
    parts = [
        _grid(scale),
        _curve(train, scale, TRAIN, 1.2),
        _curve(held_out, scale, HELD_OUT, 2),
        _dots(held_out, scale),
    ]
    named = [("training", TRAIN, train), ("held out", HELD_OUT, held_out)]
    legend = [(name, colour) for name, colour, points in named if points]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="loss by step">'
        f'<style>{STYLE}</style><rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>'
        f'<text class="title" x="{LEFT}" y="22">Loss (nats a token of the answer)</text>{_legend(legend)}'
        f"{''.join(parts)}</svg>\n"
    )


def _points(metrics: Sequence[Mapping[str, Any]], name: str) -> list[tuple[float, float]]:
    return [(m["step"], m[name]) for m in metrics if name in m and math.isfinite(m[name])]


def _grid(scale: Scale) -> str:
    lines = []
    for i in range(5):
        loss = scale.low + (scale.high - scale.low) * i / 4
        y = scale.y(loss)
        lines.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        lines.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{loss:.3g}</text>')
        step = scale.steps * i / 4
        lines.append(f'<text x="{scale.x(step):.1f}" y="{HEIGHT - 22}" text-anchor="middle">{step:.0f}</text>')
    lines.append(f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 6}" text-anchor="end">optimizer step</text>')
    return "".join(lines)


def _curve(points: Points, scale: Scale, colour: str, width: float) -> str:
    path = " ".join(f"{scale.x(step):.1f},{scale.y(loss):.1f}" for step, loss in points)
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"/>' if points else ""


def _dots(points: Points, scale: Scale) -> str:
    return "".join(
        f'<circle cx="{scale.x(step):.1f}" cy="{scale.y(loss):.1f}" r="3" fill="{HELD_OUT}">'
        f"<title>step {step:.0f}: {loss:.4f}</title></circle>"
        for step, loss in points
    )


def _legend(named: Sequence[tuple[str, str]]) -> str:
    return "".join(
        f'<rect x="{WIDTH - RIGHT - 90 * (i + 1)}" y="13" width="10" height="10" fill="{colour}"/>'
        f'<text x="{WIDTH - RIGHT - 90 * (i + 1) + 15}" y="22">{name}</text>'
        for i, (name, colour) in enumerate(named)
    )

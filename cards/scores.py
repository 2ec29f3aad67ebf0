"""The section of a model card that tells what the model scores, from the results of ``kdata eval``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

TEMPLATE = "scores.md.j2"
START, END = "<!-- kdata eval -->", "<!-- end of kdata eval -->"
SUITES = {"kernelbench": "KernelBench", "tritonbench": "TritonBench-T", "heldout": "of the dataset's held-out split"}
SHOWN = ("compiled", "pass@", "fast_1@1 ", "fast_2@1 ", "speedup@1 ")


def with_scores(card: str, summary: Mapping[str, Any]) -> str:
    """The card with this section at its end, in place of an earlier one."""
    before, _, rest = card.partition(START)
    after = rest.partition(END)[2]
    return f"{before.rstrip()}\n\n{render(summary)}\n{after.lstrip()}"


def render(summary: Mapping[str, Any]) -> str:
    """The section's text.

    ``summary`` is what ``results.json`` of an evaluation holds.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(  # noqa: S701 - Markdown, not HTML
        loader=FileSystemLoader(Path(__file__).parent), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    samples = max(row["samples"] for row in summary["problems"])
    left_out = dict(Counter(row["reason"] for row in summary.get("left_out", [])).most_common())
    return environment.get_template(TEMPLATE).render(
        summary=summary, options=summary["options"], rows=list(_rows(summary["scores"])), samples=samples,
        suite=SUITES[summary["options"]["suite"]], left_out=left_out, start=START, end=END,
    )  # fmt: skip


def _rows(scores: Mapping[str, Any]) -> Iterator[tuple[str, str, list[str]]]:
    """Label, metric and a cell a rule."""
    groups = {rule: {"all": s["all"]} | _levels(s) for rule, s in scores.items()}
    for label, group in next(iter(groups.values())).items():
        for metric in group["metrics"]:
            if metric.startswith(SHOWN):
                yield label, metric, [_cell(metric, g[label]["metrics"][metric]) for g in groups.values()]


def _levels(scores: Mapping[str, Any]) -> dict[str, Any]:
    return {f"level {k}": v for k, v in scores["levels"].items()} if len(scores["levels"]) > 1 else {}


def _cell(metric: str, estimate: Mapping[str, float]) -> str:
    value, low, high = (estimate[k] for k in ("value", "low", "high"))
    if metric.startswith("speedup"):
        return f"{value:.2f}x ({low:.2f} to {high:.2f})"
    return f"{value:.1%} ({low:.1%} to {high:.1%})"

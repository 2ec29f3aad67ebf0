"""An evaluation's results for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

SHARES = ("compiled", "correct", "pass@", "fast_")
FAILURES = 15


def render(summary: Mapping[str, Any], problems: bool = False) -> RenderableType:
    """The numbers by rule, level and family, why answers failed, and (if wanted) every problem."""
    rules = summary["rules"]
    head = Text(f"{summary['model']}\n{summary['mode']}", style="bold")
    parts: list[RenderableType] = [head, _metrics(summary["scores"]), _families(summary["scores"])]
    notes = Text("\n".join(f"{rule}: {about}" for rule, about in rules.items()), style="dim")
    parts += [_failures(summary), *_left_out(summary), *([_problems(summary)] if problems else []), notes]
    return Group(*parts)


def _metrics(scores: Mapping[str, Any]) -> Table:
    made = Table(title="Mean over problems [95 % interval]", title_justify="left")
    made.add_column("problems")
    made.add_column("metric")
    for rule in scores:
        made.add_column(rule, justify="right")
    first = next(iter(scores.values()))
    for label, group in _groups(first):
        for metric in group["metrics"]:
            cells = [_cell(metric, dict(_groups(s))[label]["metrics"][metric]) for s in scores.values()]
            made.add_row(f"{label} ({group['problems']})", metric, *cells)
        for baseline in group.get("geometric_mean", {}):
            means = [dict(_groups(s))[label]["geometric_mean"][baseline] for s in scores.values()]
            name = f"geometric mean speedup over {baseline}"
            made.add_row(f"{label} ({group['problems']})", name, *map(_times, means))
        made.add_section()
    return made


def _groups(scores: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """All problems, and the levels where there is more than one."""
    yield "all", scores["all"]
    if len(scores["levels"]) > 1:
        yield from ((f"level {level}", group) for level, group in scores["levels"].items())


def _families(scores: Mapping[str, Any]) -> Table:
    made = Table(title="Correct answers by operator family", title_justify="left")
    made.add_column("family")
    made.add_column("problems", justify="right")
    for rule in scores:
        made.add_column(rule, justify="right")
    for name, group in next(iter(scores.values()))["families"].items():
        cells = [_cell("correct", s["families"][name]["metrics"]["correct"]) for s in scores.values()]
        made.add_row(name, str(group["problems"]), *cells)
    return made


def _failures(summary: Mapping[str, Any]) -> Table:
    made = Table(title="Why answers are not verified", title_justify="left")
    made.add_column("reason")
    made.add_column("answers", justify="right")
    for reason, count in list(summary["failures"].items())[:FAILURES]:
        made.add_row(reason, str(count))
    return made


def _left_out(summary: Mapping[str, Any]) -> Iterator[Table]:
    """Why problems of the suite are not asked, where there are such."""
    left = summary.get("left_out", [])
    if left:
        made = Table(title=f"Problems left out: {len(left)} of {len(left) + len(summary['problems'])}",
                     title_justify="left")  # fmt: skip
        made.add_column("reason")
        made.add_column("problems", justify="right")
        for reason, count in sorted(Counter(row["reason"] for row in left).items(), key=lambda item: (-item[1], item)):
            made.add_row(reason, str(count))
        yield made


def _problems(summary: Mapping[str, Any]) -> Table:
    made = Table(title="Correct of all samples, by problem", title_justify="left")
    rules = list(summary["rules"])
    for name in ("problem", "family", "samples", *rules, "best over eager", "commonest failure"):
        made.add_column(name)
    for row in summary["problems"]:
        best = row[rules[0]]["best over eager"]
        made.add_row(
            row["problem"], row["family"], str(row["samples"]), *(str(row[rule]["correct"]) for rule in rules),
            _times(best), next(iter(row["failures"]), ""),
        )  # fmt: skip
    return made


def _cell(metric: str, estimate: Mapping[str, float]) -> str:
    share = metric.startswith(SHARES)
    low, value, high = (f"{100 * estimate[k]:.1f}" if share else f"{estimate[k]:.2f}" for k in ("low", "value", "high"))
    return f"{value}{' %' if share else 'x'} [{low}, {high}]"


def _times(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}x"

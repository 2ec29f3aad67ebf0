"""The report: one self-contained HTML file to look at a build with. Nothing in it is fetched from anywhere."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kdata import storage
from kdata.charts import decades, histogram, svg
from kdata.record import Dropped, Pair, Trial, digest
from kdata.statistics import Funnel, describe, licence, lines, max_error

if TYPE_CHECKING:
    from markupsafe import Markup

SAMPLE = 40  # pairs to browse
EXAMPLES = 3  # dropped records shown for a reason
SHOWN_LINES = 400  # of one program
PAGE = Path(__file__).with_name("page")


@dataclass(frozen=True, slots=True)
class Chart:
    """A distribution with its caption."""

    title: str
    note: str
    svg: str


def write_report(
    out_html: str, funnel: Funnel, pairs: Sequence[Pair], dropped: Sequence[Dropped], notes: Sequence[str] = ()
) -> None:
    """Write the report of a build.

    Args:
        out_html: path or fsspec URL of the file.
        funnel: what each stage kept, see ``kdata.statistics``.
        pairs: the published pairs; an even choice over their families can be browsed.
        dropped: what the stages did not keep; a few are shown for each reason.
        notes: what else a reader should know, in short phrases.
    """
    storage.put(out_html, render(funnel, pairs, dropped, notes).encode("utf-8", "replace"))


def render(funnel: Funnel, pairs: Sequence[Pair], dropped: Sequence[Dropped], notes: Sequence[str] = ()) -> str:
    """The report's HTML."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(PAGE), undefined=StrictUndefined, autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"thousands": "{:,}".format, "small": "{:.2g}".format, "ratio": _ratio, "licence": licence}
    return environment.get_template("report.html.j2").render(
        style=Markup((PAGE / "report.css").read_text()),  # noqa: S704 - our own file
        script=Markup((PAGE / "report.js").read_text()),  # noqa: S704
        funnel=funnel, facts=describe(pairs, dropped), charts=[_markup(c) for c in charts(pairs)],
        targets=_target_charts(pairs), sample=sample(pairs), examples=examples(dropped), code=highlight,
        max_error=max_error, lines=lines, notes=notes, timed=any(p.receipt.timing for p in pairs),
    )  # fmt: skip


def sample(pairs: Sequence[Pair], count: int = SAMPLE) -> list[Pair]:
    """So many pairs, an even choice over the families: the same for the same set, in whatever order."""
    families: dict[str, list[Pair]] = defaultdict(list)
    for pair in sorted(pairs, key=lambda p: digest("sample", p.id)):
        families[pair.candidate.family].append(pair)
    turns = [(turn, family, pair) for family, own in families.items() for turn, pair in enumerate(own)]
    chosen = sorted(turns, key=lambda t: t[:2])[:count]
    return [pair for _, _, pair in sorted(chosen, key=lambda t: (t[1], t[2].task.entry_point.lower(), t[2].id))]


def examples(dropped: Sequence[Dropped]) -> Mapping[tuple[str, str], list[Dropped]]:
    """A few dropped records for each stage and reason, those that say most about themselves."""
    found: dict[tuple[str, str], list[Dropped]] = defaultdict(list)
    for record in sorted(dropped, key=lambda d: (not d.detail, digest(d.stage, d.id, d.detail))):
        shown = found[record.stage, record.reason]
        if len(shown) < EXAMPLES and (not record.detail or record.detail not in {s.detail for s in shown}):
            shown.append(record)
    return dict(found)


def charts(pairs: Sequence[Pair]) -> list[Chart]:
    """The distributions over pairs."""
    trials = [t for p in pairs for t in p.receipt.trials]
    ratios = [t.rmse / t.rmse_reference for t in trials if t.rmse_reference > 0]
    found = [
        _chart("Largest error", "absolute, against float64, per pair", decades([max_error(p) for p in pairs])),
        _chart("Error beside eager's", "RMSE over that of eager PyTorch, per run", decades(ratios, 6)),
        _chart("Kernel length", "non-blank lines per program", histogram([lines(p.candidate.source) for p in pairs])),
        _chart("Kernel launches", "per forward pass", histogram([len(p.receipt.launches) for p in pairs])),
    ]
    return [chart for chart in found if chart.svg]


def highlight(source: str) -> Markup:
    """Python text as highlighted HTML."""
    from markupsafe import Markup
    from pygments import highlight as pygments_highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    whole = source.strip("\n").splitlines()
    text = "\n".join(whole[:SHOWN_LINES])
    if len(whole) > SHOWN_LINES:
        text += f"\n# ... {len(whole) - SHOWN_LINES} more lines"
    return Markup(pygments_highlight(text, PythonLexer(), HtmlFormatter(nowrap=True)))  # noqa: S704 - it escapes


def _target_charts(pairs: Sequence[Pair]) -> dict[str, list[Chart]]:
    builds = [b for p in pairs for b in p.receipt.builds]
    found: dict[str, list[Chart]] = {}
    for target in sorted({b.target for b in builds}):
        own = [b for b in builds if b.target == target]
        registers = histogram([b.registers for b in own if b.registers is not None])
        shared = histogram([b.shared / 1024 for b in own if b.shared is not None])
        both = [_chart("Registers", "per thread", registers), _chart("Shared memory", "KiB per block", shared)]
        found[target] = [_markup(chart) for chart in both]
    return found


def _chart(title: str, note: str, bins: Any) -> Chart:
    return Chart(title, note, svg(bins, f"{title}, {note}"))


def _markup(chart: Chart) -> Chart:
    from markupsafe import Markup

    return Chart(chart.title, chart.note, Markup(chart.svg))  # noqa: S704 - made of numbers alone


def _ratio(trial: Trial) -> str:
    return f"{trial.rmse / trial.rmse_reference:.2f}" if trial.rmse_reference > 0 else "–"

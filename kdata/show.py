"""One pair in the terminal: task and kernel side by side, and the receipt below."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import fsspec
from rich.columns import Columns
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from kdata.publish import read_dataset
from kdata.record import Pair, Receipt
from kdata.shards import Store
from kdata.statistics import PIPELINE, licence

WIDE = 160  # columns from which two programs fit beside each other
STYLE = "ansi_dark"  # the terminal's own colours


def find(path: str, id_prefix: str) -> Pair:
    """The pair whose id, or whose task's id, starts with a prefix.

    ``path`` is a published folder or file, the folder of a build, or one of shards.

    Raises:
        FileNotFoundError: there is no such path, or nothing to read in it.
        ValueError: no pair has such an id, or several have.
    """
    if not id_prefix:
        raise ValueError("name a pair by its id, or by how that begins")
    found: dict[str, Pair] = {}
    for pairs in _pairs(path, id_prefix):
        found |= {p.id: p for p in pairs if p.id.startswith(id_prefix) or p.task.id.startswith(id_prefix)}
        if found:
            break
    if not found:
        raise ValueError(f"no pair in {path} has an id that begins with {id_prefix}")
    if len(found) > 1:
        some = ", ".join(f"{p.id[:12]} ({p.task.entry_point})" for p in list(found.values())[:5])
        raise ValueError(f"{len(found)} pairs in {path} have an id that begins with {id_prefix}: {some}")
    return next(iter(found.values()))


def render(pair: Pair) -> RenderableType:
    """A pair as something that a rich console prints."""
    return Group(_head(pair), _Programs(pair), *_receipt(pair.receipt))


class _Programs:
    """Task and kernel: beside each other where the terminal is wide enough."""

    def __init__(self, pair: Pair) -> None:
        self.pair = pair

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        candidate = self.pair.candidate
        task = _program("PyTorch", self.pair.task.source)
        kernel = _program(f"{candidate.language.capitalize()}, made by {candidate.made_by}", candidate.source)
        if options.max_width < WIDE:
            yield task
            yield kernel
            return
        grid = Table.grid(expand=True)
        grid.add_column(ratio=1)
        grid.add_column(ratio=1)
        grid.add_row(task, kernel)
        yield grid


def _program(title: str, source: str) -> Panel:
    syntax = Syntax(source.strip("\n"), "python", theme=STYLE, background_color="default", word_wrap=True)
    return Panel(syntax, title=title, title_align="left", border_style="dim")


def _head(pair: Pair) -> Table:
    candidate, origin = pair.candidate, pair.task.origin
    rows = {
        "id": pair.id,
        "from": f"{origin.repository} {origin.revision}  {origin.path}  {pair.task.symbol}",
        "licence": licence(pair),
        "family": candidate.family,
        "operators": " → ".join(candidate.ops),
        "left to ATen": ", ".join(candidate.left_to_aten),
    }
    grid = Table.grid(padding=(0, 2))
    grid.add_row(Text(pair.task.entry_point, "bold", overflow="fold"), _verdict(pair.receipt))
    for name, value in rows.items():
        if value:
            grid.add_row(Text(name, "dim"), Text(value, overflow="fold"))
    return grid


def _verdict(receipt: Receipt) -> Text:
    colour = {"verified": "green", "rejected": "red"}.get(receipt.verdict, "yellow")
    why = ": ".join(filter(None, (receipt.reason, receipt.detail)))
    return Text.assemble((receipt.verdict, f"bold {colour}"), f"  {why}" if why else "", overflow="fold")


def _receipt(receipt: Receipt) -> Iterator[RenderableType]:
    """The receipt, part by part; what it lacks is left out."""
    if receipt.checks:
        yield Columns([_check(c.name, c.passed, c.detail) for c in receipt.checks], padding=(0, 3))
    if receipt.trials:
        table = _table("shapes", "sizes", "seed", "max error", "RMSE", "eager's", "atol", "rtol", "")
        for t in receipt.trials:
            numbers = (t.max_abs, t.rmse, t.rmse_reference, t.atol, t.rtol)
            table.add_row(t.shapes, t.sizes, str(t.seed), *(f"{n:.2g}" for n in numbers), _mark(t.passed))
        yield table
    if receipt.builds:
        table = _table("kernel", "target", "registers", "spills", "shared bytes")
        for b in receipt.builds:
            figures = ("–" if n is None else str(n) for n in (b.registers, b.spills, b.shared))
            table.add_row(b.kernel, b.target, *((Text(b.error, "red"),) if b.error else figures))
        yield table
    how = (
        receipt.level,
        receipt.device,
        f"{receipt.mode} mode",
        receipt.precision,
        receipt.isolation,
        *receipt.versions,
    )
    yield Text("; ".join(filter(None, how)), "dim")


def _table(*names: str) -> Table:
    table = Table(box=None, header_style="dim", padding=(0, 3, 0, 0))
    text = {"shapes", "sizes", "kernel", "target", ""}
    for name in names:
        table.add_column(name, justify="left" if name in text else "right")
    return table


def _check(name: str, passed: bool, detail: str) -> Text:
    return Text.assemble(_mark(passed), f" {name}", (f" {detail}" if detail and not passed else "", "red"))


def _mark(passed: bool) -> Text:
    return Text("✓", "green") if passed else Text("✗", "red")


def _pairs(path: str, begins: str) -> Iterator[Iterable[Pair]]:
    """Pairs among which to look, those of a set first; of a build then its shards', the latest stage's first."""
    fs, inner = fsspec.core.url_to_fs(path)
    if not fs.exists(inner):
        raise FileNotFoundError(f"there is no {path}")
    published = fs.isfile(inner) or fs.glob(f"{inner}/data/*.parquet")
    if published:
        yield read_dataset(path, begins)
    root = path.rstrip("/")
    if published and not fs.exists(f"{inner}/shards"):
        return
    store = Store(f"{root}/shards" if fs.exists(f"{inner}/shards") else root)
    made = {stage: [m for m in store.manifests(stage) if m.kind == Pair.__name__] for stage in reversed(PIPELINE)}
    if not any(made.values()):
        raise FileNotFoundError(f"{path} holds neither a published set nor shards of pairs")
    for manifests in made.values():
        yield (pair for m in manifests for pair in store.read(m.name, Pair))
    for manifests in made.values():
        yield (d.pair for m in manifests for d in store.read_dropped(m.name) if d.pair)

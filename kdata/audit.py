"""What a verified set is worth: how much of it holds, what fails and why, as a page of Markdown."""

from __future__ import annotations

import posixpath
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from kdata import storage
from kdata.record import Dropped, Pair
from kdata.shards import Manifest, Store

NAME = "audit.md"
EXAMPLES = 3  # named for each reason
RULES = {"kernelbench": "KernelBench's rule", "screen": "kdata's judge, at screen level", "trust": "kdata's judge, at "
         "trust level"}  # fmt: skip


def write(out: str, made: Sequence[Manifest]) -> str:
    """Write the page into the folder of the shards and return where it is."""
    store = Store(out)
    kept = [pair for m in made for pair in store.read(m.name, Pair)]
    dropped = [record for m in made for record in store.read_dropped(m.name)]
    place = posixpath.join(out, NAME)
    storage.put(place, render(kept, dropped).encode("utf-8", "replace"))
    return place


def render(kept: Sequence[Pair], dropped: Sequence[Dropped]) -> str:
    """The page."""
    return "\n".join([*_verdicts(kept, dropped), *_reasons(dropped), *_breadth(kept)]) + "\n"


def _verdicts(kept: Sequence[Pair], dropped: Sequence[Dropped]) -> Iterator[str]:
    receipts = [p.receipt for p in (*kept, *(d.pair for d in dropped if d.pair))]
    counts = Counter(r.verdict for r in receipts)
    rules = sorted({RULES[r.effort] for r in receipts})
    whole = len(kept) + len(dropped)
    same = whole - len({p.id for p in (*kept, *(d.pair for d in dropped if d.pair))})
    yield f"# {whole} candidates before {' and '.join(rules) or 'nobody'}"
    yield ""
    yield "| verdict | candidates | share |"
    yield "|---|--:|--:|"
    for verdict in ("verified", "rejected", "unverified"):
        yield f"| {verdict} | {counts[verdict]} | {_share(counts[verdict], whole)} |"
    yield ""
    yield f"Unverified are those of which the judge cannot say. {same} candidates repeat another one."


def _reasons(dropped: Sequence[Dropped]) -> Iterator[str]:
    by_reason: dict[tuple[str, str], list[Dropped]] = defaultdict(list)
    for record in dropped:
        by_reason[record.pair.receipt.verdict if record.pair else "", record.reason].append(record)
    if by_reason:
        yield from (
            "",
            "## What fails, and why",
            "",
            "| verdict | reason | candidates | for example |",
            "|---|---|--:|---|",
        )
    for (verdict, reason), records in sorted(by_reason.items(), key=lambda item: (-len(item[1]), item[0])):
        examples = "<br>".join(_cell(f"{r.name}: {r.detail}" if r.detail else r.name) for r in records[:EXAMPLES])
        yield f"| {verdict} | {_cell(reason)} | {len(records)} | {examples} |"


def _breadth(kept: Sequence[Pair]) -> Iterator[str]:
    """What the verified ones hold for beyond what their tasks ask."""
    asked: Counter[str] = Counter()
    passed: Counter[str] = Counter()
    for check in (c for p in kept for c in p.receipt.checks):
        asked[check.name] += 1
        passed[check.name] += check.passed
    partly = [name for name in asked if passed[name] < asked[name]]
    if partly:
        yield from ("", "## What not all of the verified ones do", "", "| check | pass | of |", "|---|--:|--:|")
    for name in sorted(partly):
        yield f"| {_cell(name)} | {passed[name]} | {asked[name]} |"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else ""


def _cell(text: str) -> str:
    """Text that breaks no table, whatever a candidate put into an error's words."""
    plain = " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;").replace("`", "'")
    return plain if len(plain) <= 160 else f"{plain[:160]}…"

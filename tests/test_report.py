"""Looking at a set: its numbers, its page and one pair in the terminal."""

from __future__ import annotations

import io
import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from rich.console import Console

from cards import dataset
from filters import chain
from kdata import charts, publish, report, show, statistics
from kdata.record import Dropped, Pair
from kdata.shards import Manifest, Store
from tests import factories

DROPPED = [
    Dropped("verify", "b", "wrong result", "max error 0.3 <at> float32[3]", "gridcast:Head"),
    Dropped("mine", "a", "timeout", "60 s", "tidyvision:Slow"),
    Dropped("mine", "c", "timeout", "", "tidyvision:Slower"),
]


def test_statistics_count_by_hand() -> None:
    facts = statistics.describe(factories.pairs(), DROPPED)
    assert (facts.pairs, facts.tasks, facts.trials, facts.failed_trials) == (63, 63, 378, 0)
    assert facts.families["pointwise"] == 24
    assert list(facts.families) == sorted(facts.families, key=lambda f: (-facts.families[f], f))
    assert facts.licenses["Apache-2.0 AND MIT"] == facts.repositories["gridcast"]
    assert facts.checks == dict.fromkeys(sorted(facts.checks), 63)
    assert facts.variants == statistics.Spread(63, 3, 3, 3, 3, 3.0)
    assert [(t.name, t.kernels, t.failed) for t in facts.targets] == [("gfx942", 63, 0), ("sm_90", 63, 0)]
    assert list(facts.dropped) == ["mine", "verify"], "in the order of the pipeline"
    assert facts.dropped["mine"] == {"timeout": 2}


def test_statistics_of_nothing() -> None:
    facts = statistics.describe([])
    assert (facts.pairs, facts.errors, facts.targets) == (0, None, ())


def test_spread_takes_quantiles_from_the_set() -> None:
    assert statistics.spread([4, 1, 3, 2]) == statistics.Spread(4, 1, 2, 4, 4, 2.5)
    assert statistics.spread([7]) == statistics.Spread(1, 7, 7, 7, 7, 7.0)


def test_error_of_a_pair_without_trials_is_unknown() -> None:
    pair = factories.pair()
    untried = Pair(pair.candidate, replace(pair.receipt, trials=()))
    assert math.isnan(statistics.max_error(untried))
    assert statistics.describe([untried, pair]).errors == statistics.describe([pair]).errors
    half = replace(pair.receipt.trials[0], dtype="float16", max_abs=9.0)
    wider = Pair(pair.candidate, replace(pair.receipt, trials=(*pair.receipt.trials, half)))
    assert statistics.max_error(wider) == statistics.max_error(pair)
    infinite = replace(pair.receipt.trials[0], max_abs=math.inf)
    assert statistics.describe([Pair(pair.candidate, replace(pair.receipt, trials=(infinite,)))]).errors is None


def test_funnel_sums_the_shards_of_a_stage() -> None:
    found = (("mine/a", {"timeout": 1}), ("mine/b", {"timeout": 2, "crash": 5}))
    mined = [Manifest(name, "mine", "Task", 3, sum(why.values()), why, [], {}, 1.5) for name, why in found]
    funnel = statistics.funnel({"collect": [], "mine": mined})
    assert funnel.stages == (statistics.Stage("mine", 6, 8, {"crash": 5, "timeout": 3}, "Task", 3.0),)
    assert list(funnel.stages[0].reasons) == ["crash", "timeout"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [([], []), ([1, 1, 1], [("1", 3)]), ([1, 2, 2, 4], [("1", 1), ("2", 2), ("3", 0), ("4", 1)]), ([math.inf], [])],
)
def test_histogram(values: list[float], expected: list[tuple[str, int]]) -> None:
    assert [(b.label, b.count) for b in charts.histogram(values)] == expected


def test_histograms_lose_no_value() -> None:
    values = [factories.number(i) * 1000 for i in range(500)]
    assert sum(b.count for b in charts.histogram(values)) == 500
    assert len(charts.histogram(values)) <= 16
    small = [v * 1e-9 for v in values] + [0.0, 0.0]
    bins = charts.decades(small)
    assert (bins[0].label, bins[0].count) == ("0", 2)
    assert sum(b.count for b in bins) == 502


class Page(HTMLParser):
    """What a browser would fetch, and whether tags close."""

    void = frozenset({"meta", "input", "br", "link", "img", "line"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.open: list[str] = []
        self.pairs = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.fetched += [f"{tag} {given[a]}" for a in ("src", "data", "srcset") if given.get(a)]
        self.fetched += [f"{tag} {given['href']}"] if tag == "link" else []
        self.pairs += given.get("class") == "pair"
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element of SVG without content."""

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> closes nothing"


FUNNEL = statistics.Funnel((
    statistics.Stage("mine", 400, 12, {"timeout": 11, "<b>odd</b>": 1}, "Task"),
    statistics.Stage("verify", 0, 0, {}, "Pair"),
))  # fmt: skip


def test_report_is_one_file_that_fetches_nothing(tmp_path: Path) -> None:
    out = tmp_path / "new" / "report.html"
    report.write_report(str(out), FUNNEL, factories.pairs(), DROPPED)
    text = out.read_text()
    page = Page(text)
    assert page.open == []
    assert page.fetched == []
    assert page.pairs == report.SAMPLE
    assert "@import" not in text
    assert "url(" not in text
    assert not re.search(
        r"\b20\d\d-\d\d-\d\d|\bNone\b(?!</span>)|Undefined", re.sub(r"<pre.*?</pre>", "", text, flags=re.S)
    )


def test_report_is_the_same_each_time() -> None:
    first = report.render(FUNNEL, factories.pairs(), DROPPED)
    assert first == report.render(FUNNEL, factories.pairs()[::-1], DROPPED[::-1])


def test_report_shows_numbers_and_escapes_what_others_wrote() -> None:
    evil = factories.rewritten(
        factories.pair(), "x = '</pre><script>alert(1)</script>'\n# <img src=x onerror=alert(2)>"
    )
    text = report.render(FUNNEL, [evil], DROPPED)
    assert "<script>alert" not in text
    assert "<img src=x" not in text
    assert "&lt;b&gt;odd&lt;/b&gt;" in text
    assert "max error 0.3 &lt;at&gt; float32[3]" not in text, "its reason is not in the funnel"
    assert "tidyvision:Slow" in text
    assert "97%" in text
    assert "javascript:" not in report.render(FUNNEL, [relinked(evil, "javascript:alert(3)")], [])


def test_report_tells_its_notes() -> None:
    text = report.render(FUNNEL, factories.pairs(), [], ("not compared with <anything>",))
    assert "Not compared with &lt;anything&gt;." in text
    assert "compared with" not in report.render(FUNNEL, [], [])


def relinked(pair: Pair, url: str) -> Pair:
    origin = replace(pair.task.origin, url=url)
    return Pair(replace(pair.candidate, task=replace(pair.task, origin=origin)), pair.receipt)


def test_report_of_nothing_says_so() -> None:
    text = report.render(FUNNEL, [], DROPPED)
    assert "No pair came through" in text
    assert Page(text).open == []


def test_sample_is_even_over_families() -> None:
    chosen = report.sample(factories.pairs(), 16)
    families = [p.candidate.family for p in chosen]
    assert {f: families.count(f) for f in families} == dict.fromkeys(sorted(set(families)), 2)


def test_long_programs_are_cut() -> None:
    text = report.highlight("x = 1\n" * 1000)
    assert text.count("\n") <= report.SHOWN_LINES + 1
    assert "600 more lines" in text


def printed(pair: Pair, width: int) -> str:
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(show.render(pair))
    return console.export_text()


@pytest.mark.parametrize(("width", "beside"), [(200, True), (90, False)])
def test_show_puts_programs_side_by_side_where_there_is_room(width: int, beside: bool) -> None:
    text = printed(factories.pair(7), width)
    assert any("PyTorch" in line and "Triton, made by inductor" in line for line in text.splitlines()) is beside
    for part in ("class SoftShrink", "softshrink_kernel", "verified", "gfx942", "✓ inputs unchanged"):
        assert part in text
    assert not beside or "float32[3, 127, 16]" in text
    assert max(map(len, text.splitlines())) <= width


def test_show_tells_why_a_pair_was_rejected_and_prints_markup_as_it_is() -> None:
    pair = factories.rewritten(factories.pair(), "x = '[bold]not markup[/]'\n")
    text = printed(factories.rejected(pair, "wrong result", "[3] is off"), 120)
    assert "rejected  wrong result: [3] is off" in text
    assert "[bold]not markup[/]" in text


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build's folder: shards of two stages, and a published set in a folder of its own."""
    path = tmp_path_factory.mktemp("build")
    store, pairs = Store(str(path / "shards")), list(factories.pairs()[:5])
    store.write(Pair, pairs, [], Manifest("verify/a", "verify", "Pair", 5, 0, {}, [], {}, 0.0))
    chain.step().run(store, ["verify/a"])
    publish.write_dataset(pairs, [], str(path / "dataset"), dataset.render)
    return path


@pytest.mark.parametrize("place", ["", "shards", "dataset", "dataset/data/train-00000-of-00001.parquet"])
def test_find_reads_whatever_holds_pairs(build: Path, place: str) -> None:
    train = publish.read_dataset(str(build / "dataset" / "data" / "train-00000-of-00001.parquet"))
    pair = train[0]
    assert show.find(str(build / place), pair.id) == pair
    assert show.find(str(build / place), pair.id[:10]) == pair
    assert show.find(str(build / place), pair.task.id[:10]) == pair


def test_find_makes_records_of_no_other_rows(build: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 10,000 rows one is wanted."""
    pair, made = publish.read_dataset(str(build / "dataset"))[0], []
    monkeypatch.setattr(publish.rows, "pair", lambda row, read=publish.rows.pair: made.append(row) or read(row))
    assert show.find(str(build / "dataset"), pair.id[:10]) == pair and len(made) == 1


def test_find_finds_the_rejected_too(tmp_path: Path) -> None:
    pair = factories.rejected(factories.pairs()[9], "wrong result", "0.3")
    publish.write_dataset(factories.pairs()[:3], [], str(tmp_path), dataset.render)
    dropped = Dropped("verify", pair.id, "wrong result", pair=pair)
    Store(str(tmp_path / "shards")).write(
        Pair, [], [dropped], Manifest("verify/a", "verify", "Pair", 0, 1, {}, [], {}, 0.0)
    )
    assert show.find(str(tmp_path), pair.id) == pair


def test_find_says_in_one_line_what_is_wrong(build: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no pair in .* has an id that begins with zzz"):
        show.find(str(build), "zzz")
    with pytest.raises(ValueError, match="name a pair by its id"):
        show.find(str(build), "")
    with pytest.raises(FileNotFoundError, match="there is no"):
        show.find(str(tmp_path / "absent"), "a")
    with pytest.raises(FileNotFoundError, match="neither a published set nor shards"):
        show.find(str(tmp_path), "a")


def test_find_names_those_it_cannot_tell_apart(tmp_path: Path) -> None:
    pairs = factories.pairs()
    Store(str(tmp_path)).write(Pair, pairs, [], Manifest("dedup/a", "dedup", "Pair", 63, 0, {}, [], {}, 0.0))
    letter = max("0123456789abcdef", key=lambda c: sum(p.id.startswith(c) for p in pairs))
    with pytest.raises(ValueError, match=r"pairs in .* have an id that begins with .: \w{12} \("):
        show.find(str(tmp_path), letter)

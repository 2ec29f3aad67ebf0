"""Duplicates: what is found, what is left alone, and who stays."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from filters import canonical, dedup, near_duplicates
from kdata import kernelbook
from kdata.record import Candidate, Dropped, Pair
from tests import factories


def run(pairs: Sequence[Pair]) -> tuple[list[Pair], list[Dropped]]:
    outcomes = list(dedup.step().function(pairs))
    kept = [o for o in outcomes if isinstance(o, Pair)]
    return kept, [o for o in outcomes if isinstance(o, Dropped)]


def renamed(pair: Pair) -> Pair:
    source = pair.task.source
    for old, new in {"gamma": "scale", "eps": "tiny", "x": "signal", "width": "features"}.items():
        source = re.sub(rf"\b{old}\b", new, source)
    return factories.rewritten(pair, f"# A copy.\n{source}")


def test_distinct_tasks_all_stay() -> None:
    kept, dropped = run(factories.pairs())
    assert not dropped
    assert {p.id for p in kept} == {p.id for p in factories.pairs()}


@pytest.mark.parametrize(
    ("change", "same"),
    [
        (lambda s: s.replace("self.gamma", "self.scale"), True),
        (lambda s: s.replace("Swish", "SiLU"), True),
        (lambda s: s.replace("def forward(self, x):", "def forward(self, x: torch.Tensor) -> torch.Tensor:"), True),
        (lambda s: s.replace("randn(4, 32, 16)", "rand(7)"), True),
        (lambda s: s.replace("return [16]", "return [32]"), True),
        (lambda s: s.replace("return [16]", "return [16, 'gelu']"), False),
        (lambda s: s.replace("torch.sigmoid", "torch.tanh"), False),
        (lambda s: s.replace("x * ", "x + "), False),
        (lambda s: s.replace("eps=1e-6", "eps=1e-5"), False),
    ],
)
def test_skeleton_is_blind_to_names_only(change: object, same: bool) -> None:
    source = factories.task(0).source
    changed = change(source)  # type: ignore[operator]
    assert changed != source
    assert (canonical.skeleton(changed) == canonical.skeleton(source)) is same


def test_the_same_operator_over_inputs_of_another_rank_stays() -> None:
    first = factories.pair()
    image = replace(first.task.inputs[0], shape=(4, 8, 32, 16), free=(True,) * 4)
    other = factories.rewritten(first, first.task.source.replace("randn(4, ", "randn(4, 8, "))
    task = replace(other.task, inputs=(image,))
    kept, dropped = run([first, Pair(replace(other.candidate, task=task), other.receipt), renamed(first)])
    assert {len(p.task.inputs[0].shape) for p in kept} == {3, 4}
    assert [d.reason.partition(":")[0] for d in dropped] == ["exact duplicate"]


def test_renaming_keeps_apart_what_is_apart() -> None:
    one = "def f(a, b):\n    return a - b\n"
    assert canonical.skeleton(one) != canonical.skeleton("def f(a, b):\n    return b - a\n")


def test_text_that_does_not_parse_stands_for_itself() -> None:
    assert canonical.skeleton("def f(:") == canonical.skeleton("def f(:") != canonical.skeleton("def g(:")
    assert canonical.shingles("def f(:") == frozenset({"def f(:"})


def test_exact_duplicate_of_the_more_starred_repository_stays() -> None:
    famous, obscure = factories.pair(3, repository=0), renamed(factories.pair(3, repository=1))
    for order in ([famous, obscure], [obscure, famous]):
        kept, dropped = run(order)
        assert kept == [famous]
        assert (dropped[0].reason, dropped[0].detail) == ("exact duplicate", f"of task {famous.task.id}")


def test_near_duplicate_names_its_similarity() -> None:
    original = factories.pair(15, variant=2, repository=0)
    edited = factories.rewritten(original, original.task.source.replace("+ self.eps", "+ 2 * self.eps"))
    kept, dropped = run([edited, original])
    assert len(kept) == 1
    assert dropped[0].reason == "near duplicate"
    exact = canonical.jaccard(canonical.shingles(original.task.source), canonical.shingles(edited.task.source))
    assert dropped[0].detail == f"Jaccard {exact:.2f} with task {kept[0].task.id}"


def test_short_tasks_of_other_operators_are_no_near_duplicates() -> None:
    relu = factories.rewritten(
        factories.pair(0), factories.task(0).source.replace("x * torch.sigmoid(x)", "torch.relu(x)")
    )
    selu = factories.rewritten(relu, relu.task.source.replace("relu", "selu"))
    selu = Pair(replace(selu.candidate, ops=("selu",)), selu.receipt)
    assert canonical.jaccard(canonical.shingles(relu.task.source), canonical.shingles(selu.task.source)) >= 0.7
    assert len(run([relu, selu])[0]) == 2


def test_rows_whose_operators_nobody_traced_are_told_apart_by_what_they_call() -> None:
    """Rows in KernelBook's columns: activations in a module of the same words were near duplicates of each other."""
    text = factories.task(0).source
    rows = [{"python_code": text.replace("x * torch.sigmoid(x)", f"torch.{name}(x)"), "entry_point": "Model",
             "triton_code": f"class ModelNew: {name} = 1"} for name in ("relu", "selu", "tanh")]  # fmt: skip
    edited = rows[0] | {"python_code": rows[0]["python_code"].replace("def forward", "eps = 1e-5\n\n    def forward")}
    candidates = [kernelbook.candidate(row) for row in (*rows, edited)]
    kept, dropped = run([Pair(c, replace(factories.pair(0).receipt, candidate_id=c.id)) for c in candidates])
    assert len(kept) == 3
    assert [d.reason for d in dropped] == ["near duplicate"]


def test_a_row_in_kernelbook_s_columns_is_a_duplicate_of_a_mined_one() -> None:
    ours = factories.pair(0)
    row = {"python_code": ours.task.source, "entry_point": ours.task.entry_point, "triton_code": "class ModelNew: 1"}
    theirs = kernelbook.candidate(row | {"python_code": f"# A copy.\nimport os\n{row['python_code']}"})
    kept, dropped = run([ours, Pair(theirs, replace(ours.receipt, candidate_id=theirs.id))])
    assert ours.task.inputs and not theirs.task.inputs
    assert len(kept) == 1 and [d.reason for d in dropped] == ["exact duplicate"]


@pytest.mark.parametrize(
    ("drawn", "ranks"),
    [("[torch.rand([4, 4, 4, 4]), torch.rand([4])]", (4, 1)), ("[torch.randn(N, 8), 3]", (2, 0)),
     ("[torch.randint(0, 9, (4, 7))]", (2,)), ("inputs", ()), ("[torch.rand(4, 4) > 0.5]", (0,)),
     ("[torch.rand(4, 4).cuda(), 2 * torch.rand(4, 4, 4).half() - 1]", (2, 3)),
     ("[torch.randint(0, 9, size=(4, 7, 4)), torch.rand(6, 4).view(2, 3, 4)]", (3, 3))],
)  # fmt: skip
def test_ranks_are_read_from_the_text(drawn: str, ranks: tuple[int, ...]) -> None:
    assert canonical.drawn_ranks(f"def get_inputs():\n    return {drawn}\n") == ranks


def test_a_shared_helper_makes_no_near_duplicates() -> None:
    """Tasks of one package may carry the same hundred lines and do quite different work with them."""
    helper = "\n\n" + "\n".join(f"def helper_{i}(a, b):\n    return a * {i} + b\n" for i in range(40))
    first, second = (factories.rewritten(p, p.task.source + helper) for p in (factories.pair(0), factories.pair(9, 1)))
    assert canonical.jaccard(canonical.shingles(first.task.source), canonical.shingles(second.task.source)) >= 0.7
    assert len(run([first, second])[0]) == 2


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [("abc", "abc", 1.0), ("abc", "abd", 0.0), ("abcdefgh", "abcdefgx", 5 / 7), ("", "", 1.0), ("abcdefg", "", 0.0)],
)
def test_likeness_of_operators(one: str, other: str, alike: float) -> None:
    assert canonical.ops_jaccard(tuple(one), tuple(other)) == alike


def test_two_candidates_of_one_task_both_stay_and_the_same_one_does_not() -> None:
    first = factories.pair(2)
    other = Candidate.make(first.task, first.candidate.source.replace("1024", "512"), "triton", "teacher:x")
    second = Pair(other, replace(first.receipt, candidate_id=other.id))
    kept, dropped = run([first, second, first])
    assert {p.id for p in kept} == {first.id, second.id}
    assert [(d.reason, d.detail) for d in dropped] == [("exact duplicate", "the same pair")]


def test_any_order_gives_the_same_set() -> None:
    mixed = [*factories.pairs(), *(renamed(p) for p in factories.pairs()[::3])]
    expected = [p.id for p in run(mixed)[0]]
    for seed in range(3):
        shuffled = random.Random(seed).sample(mixed, len(mixed))
        assert [p.id for p in run(shuffled)[0]] == expected
    assert len(expected) == len(factories.pairs())


def test_lsh_proposes_what_the_threshold_asks_for() -> None:
    """Every pair of texts above the threshold is found: 51 bands of 5 rows miss one in 10^4 at 0.7."""
    words = [f"w{i}" for i in range(400)]
    index = near_duplicates.Index()
    base = frozenset(words[:200])
    index.add("base", base, ())
    for shared in range(170, 200, 3):
        text = frozenset([*words[:shared], *words[200 : 400 - shared]])
        found = index.nearest(text, ())
        assert (found is not None) is (canonical.jaccard(base, text) >= 0.7)

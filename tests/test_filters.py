"""The checks that look at one pair, and the chain of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from filters import chain, completeness, conciseness, correctness, diversity, leakage, licence
from kdata.record import Dropped, Pair
from kdata.shards import Manifest, Store
from tests import factories


def test_correctness_names_the_receipts_reason() -> None:
    pair = factories.pair()
    assert correctness.check(pair) is None
    assert correctness.check(factories.rejected(pair, "wrong result", "0.3 > 1e-5")) == "wrong result: 0.3 > 1e-5"


def test_correctness_refuses_the_receipt_of_another_candidate() -> None:
    pair = Pair(factories.candidate(0), factories.receipt(factories.candidate(1)))
    assert correctness.check(pair) == "receipt of another candidate"


def test_completeness() -> None:
    pair = factories.pair()
    impure = Pair(replace(pair.candidate, left_to_aten=("mm", "sort")), pair.receipt)
    assert completeness.check(pair) is None
    assert completeness.check(impure) == "leaves compute to ATen: mm, sort"
    assert completeness.check(impure, {"sort"}) == "leaves compute to ATen: mm"
    assert completeness.check(impure, {"sort", "mm"}) is None


@pytest.mark.parametrize(
    ("licenses", "expected"),
    [
        (["MIT"], None),
        (["mit"], None),
        (["BSD-3-Clause", "Apache-2.0"], None),
        (["Apache-2.0 WITH LLVM-exception"], None),
        (["MIT OR GPL-3.0-only"], None),
        (["MIT AND GPL-3.0-only"], "licence not permissive: MIT AND GPL-3.0-only"),
        (["MIT", "AGPL-3.0-only"], "licence not permissive: AGPL-3.0-only"),
        (["Apache-2.0 OR (MIT AND LGPL-2.1-only)"], None),
        (["CC-BY-NC-4.0"], "licence not permissive: CC-BY-NC-4.0"),
        (["My own licence"], "unknown licence: My own licence"),
        (["MIT AND"], "unknown licence: MIT AND"),
        ([], "no licence found"),
        ([""], "no licence found"),
    ],
)
def test_licence(licenses: list[str], expected: str | None) -> None:
    assert licence.check(factories.relicensed(factories.pair(), *licenses)) == expected


def test_conciseness() -> None:
    pair = factories.pair()
    assert conciseness.check(pair) is None
    assert conciseness.check(pair, max_lines=5) == "kernel too long: 23 lines, at most 5"
    assert "characters, at most 100" in (conciseness.check(pair, max_characters=100) or "")


def test_chain_accounts_for_every_pair_and_splits_reasons(tmp_path: Path) -> None:
    good, gpl, wrong = factories.pair(0), factories.relicensed(factories.pair(1), "GPL-3.0-only"), factories.pair(2)
    wrong = factories.rejected(wrong, "wrong result", "0.3 > 1e-5")
    store, step = Store(str(tmp_path)), chain.step()
    store.write(Pair, [good, gpl, wrong], [], Manifest("verify/a", "verify", "Pair", 3, 0, {}, [], {}, 0.0))
    manifest = step.run(store, ["verify/a"])
    assert (manifest.kept, manifest.dropped) == (1, 2)
    assert manifest.reasons == {"licence not permissive": 1, "wrong result": 1}
    assert store.read(manifest.name, Pair) == [good]
    assert [d.detail for d in store.read_dropped(manifest.name)] == ["GPL-3.0-only", "0.3 > 1e-5"]


def test_policy_changes_the_shards_name() -> None:
    assert chain.step().output(["a"]) != chain.step(chain.Policy(max_lines=10)).output(["a"])


def test_diversity_caps_without_regard_to_order() -> None:
    pairs = factories.pairs()
    run = diversity.step(per_repository=10, per_family=8, seed=3).function
    kept = [p.id for p in run(pairs) if isinstance(p, Pair)]
    assert kept == [p.id for p in run(pairs[::-1]) if isinstance(p, Pair)]
    chosen = [p for p in pairs if p.id in kept]
    for key in ("repository", "family"):
        names = [p.task.origin.repository if key == "repository" else p.candidate.family for p in chosen]
        assert max(names.count(n) for n in names) <= (10 if key == "repository" else 8)
    dropped = [d for d in run(pairs) if isinstance(d, Dropped)]
    assert len(kept) + len(dropped) == len(pairs)
    assert {d.reason for d in dropped} == {"enough of its repository", "enough of its operator family"}


RELU = """
import torch
class Model(torch.nn.Module):
    '''Applies a ReLU.'''
    def __init__(self): super().__init__()
    def forward(self, x: torch.Tensor) -> torch.Tensor: return torch.relu(x)
batch = 16
def get_inputs(): return [torch.rand(batch, 4096)]
def get_init_inputs(): return []
"""
RELU_ELSEWHERE = """
import torch
class Clip(torch.nn.Module):
    def __init__(self):
        super().__init__()
    def forward(self, signal):
        return torch.relu(signal)
def get_inputs(): return [torch.rand(2, 3)]
"""
OTHER_RELU = RELU_ELSEWHERE.replace("torch.relu(signal)", "torch.clamp(signal, min=0).contiguous().add(0).view(-1)")


def fingerprints(path: Path, trace: leakage.Trace = lambda _: ()) -> leakage.Problems:
    made = leakage.fingerprint_step(trace, "1").function(leakage.read_problems(str(path)))
    return leakage.Problems(tuple(p for p in made if isinstance(p, leakage.Problem)))


@pytest.fixture
def problems(tmp_path: Path) -> leakage.Problems:
    (tmp_path / "level1").mkdir()
    (tmp_path / "level2").mkdir()
    (tmp_path / "level1" / "19_ReLU.py").write_text(RELU)
    norm = factories.task(8).source.replace("RMSNorm", "Model")
    (tmp_path / "level2" / "3_Norm.py").write_text(norm)
    return fingerprints(tmp_path, lambda text: ("relu",) if text == RELU else ("pow", "mean", "mul"))


def with_task(source: str, entry_point: str, *ops: str) -> Pair:
    pair = factories.rewritten(factories.pair(), source)
    task = replace(pair.task, entry_point=entry_point)
    return Pair(replace(pair.candidate, task=task, ops=ops), pair.receipt)


def test_leakage_finds_the_renamed_class(problems: leakage.Problems) -> None:
    pair = with_task(RELU_ELSEWHERE, "Clip", "relu")
    assert leakage.check(pair, problems) == "benchmark problem, same program: level1/19_ReLU"


def test_leakage_finds_similar_text(problems: leakage.Problems) -> None:
    text = factories.task(8).source.replace("self.eps = eps", "self.eps = 2 * eps")
    reason = leakage.check(with_task(text, "RMSNorm", "pow", "mean", "mul"), problems)
    assert reason
    assert reason.startswith("benchmark problem, similar text: level2/3_Norm, Jaccard 0.")
    assert leakage.check(with_task(text, "RMSNorm", "pow", "mean", "exp"), problems) is None, "other work"


def test_leakage_flags_one_operator_and_drops_longer_sequences(problems: leakage.Problems) -> None:
    single = with_task(OTHER_RELU, "Clip", "relu")
    assert leakage.check(single, problems) is None
    assert leakage.flags([single], problems) == {single.id: "level1/19_ReLU"}
    longer = with_task(OTHER_RELU, "Clip", "pow", "mean", "mul")
    assert leakage.check(longer, problems) == "benchmark problem, same operators: level2/3_Norm"
    assert leakage.flags([longer], problems) == {}


def test_leakage_of_long_operator_sequences(tmp_path: Path) -> None:
    (tmp_path / "level3").mkdir()
    (tmp_path / "level3" / "5_Net.py").write_text(RELU)
    ops = tuple(f"op{i}" for i in range(30))
    problems = fingerprints(tmp_path, lambda _: ops)
    near = with_task(OTHER_RELU, "Clip", *ops[:-2])
    assert leakage.check(near, problems) == "benchmark problem, similar operators: level3/5_Net"
    assert leakage.check(with_task(OTHER_RELU, "Clip", *ops[:15]), problems) is None


def test_problems_from_parquet_equal_those_from_files(tmp_path: Path) -> None:
    (tmp_path / "level1").mkdir()
    (tmp_path / "level1" / "19_ReLU.py").write_text(RELU)
    pq.write_table(pa.table({"code": [RELU], "level": [1], "name": ["19_ReLU"]}), tmp_path / "k.parquet")
    from_parquet = fingerprints(tmp_path / "k.parquet").items[0]
    (tmp_path / "k.parquet").unlink()
    assert from_parquet == fingerprints(tmp_path).items[0]


def test_a_levels_own_folder_keeps_the_level(tmp_path: Path) -> None:
    (tmp_path / "level1").mkdir()
    (tmp_path / "level1" / "19_ReLU.py").write_text(RELU)
    assert leakage.read_problems(str(tmp_path / "level1")) == leakage.read_problems(str(tmp_path))


@pytest.mark.parametrize("content", [None, b"nothing", "empty"])
def test_bad_problems_give_one_line(tmp_path: Path, content: bytes | str | None) -> None:
    path = tmp_path / "problems.parquet"
    if content == "empty":
        path = tmp_path
    elif isinstance(content, bytes):
        path.write_bytes(content)
    with pytest.raises(ValueError, match=r"benchmark problems|not a parquet file") as error:
        leakage.read_problems(str(path))
    assert "\n" not in str(error.value)


def _fail(text: str) -> tuple[str, ...]:
    raise AssertionError(text)


def test_a_file_that_is_no_problem_is_dropped(tmp_path: Path) -> None:
    (tmp_path / "19_ReLU.py").write_text(RELU)
    (tmp_path / "evaluate.py").write_text("import os\n")
    (tmp_path / "old.py").write_text("print 'x'\n")
    step = leakage.fingerprint_step(lambda _: ("relu",), "1")
    store, files = Store(str(tmp_path / "cache")), leakage.read_problems(str(tmp_path))
    manifest = step.run_on(store, files)
    assert (manifest.kept, manifest.reasons) == (1, {"not a task": 2})
    assert store.read(manifest.name, leakage.Problem)[0].ops == ("relu",)
    assert leakage.fingerprint_step(_fail, "1").run_on(store, files) == manifest
    with pytest.raises(AssertionError):
        leakage.fingerprint_step(_fail, "2").run_on(store, files)


def test_leakage_stage_is_named_by_its_problems(problems: leakage.Problems) -> None:
    fewer = leakage.Problems(problems.items[:1])
    assert leakage.step(problems).output(["a"]) != leakage.step(fewer).output(["a"])
    outcomes = list(leakage.step(problems).function([with_task(RELU_ELSEWHERE, "Clip", "relu"), factories.pair(4)]))
    assert [type(o) for o in outcomes] == [Dropped, Pair]

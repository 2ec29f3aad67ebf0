"""The dataset folder: what is in it, that it reads back, that it is the same each time, and that the Hub takes it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cards import dataset
from kdata import publish, rows
from kdata.record import Dropped, Origin, Pair, Timing
from kdata.split import split
from kdata.verbs import read_all
from tests import factories, hub_stub

DROPPED = [
    Dropped("mine", "a", "timeout", "60 s", "tidyvision:Slow", "secret text"),
    Dropped("filter", "b", "licence not permissive", "GPL-3.0-only", "other:Net"),
]
KERNELBOOK = (  # the columns of huggingface.co/datasets/GPUMODE/KernelBook
    "uuid", "entry_point", "python_code", "triton_code", "original_triton_code", "repo_name", "module_name",
    "synthetic", "licenses", "stars", "sha", "repo_link",
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("dataset")
    publish.write_dataset(
        factories.pairs(), DROPPED, str(path), dataset.render, overlaps={factories.pairs()[4].id: "L1/19"}
    )
    return path


def contents(path: Path) -> dict[str, bytes]:
    return {p.relative_to(path).as_posix(): p.read_bytes() for p in path.rglob("*") if p.is_file()}


def test_pairs_read_back_as_they_were(folder: Path) -> None:
    read = publish.read_dataset(str(folder))
    assert sorted(read, key=lambda p: p.id) == sorted(factories.pairs(), key=lambda p: p.id)


def test_any_order_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    overlaps = {factories.pairs()[4].id: "L1/19"}
    publish.write_dataset(factories.pairs()[::-1], DROPPED[::-1], str(tmp_path), dataset.render, overlaps=overlaps)
    assert contents(tmp_path) == contents(folder)


def test_the_card_says_whether_a_benchmark_was_compared_with(folder: Path, tmp_path: Path) -> None:
    assert "same single operator (1 pairs)" in (folder / "README.md").read_text()
    publish.write_dataset(factories.pairs(), [], str(tmp_path), dataset.render)
    assert "not compared with any benchmark's problems" in (tmp_path / "README.md").read_text()


def test_the_card_counts_what_was_dropped_only_where_it_is_known(folder: Path, tmp_path: Path) -> None:
    assert "| dropped on the way | 2 |" in (folder / "README.md").read_text()
    publish.write_dataset(factories.pairs(), [], str(tmp_path), dataset.render)  # `kdata publish` knows of none
    card = (tmp_path / "README.md").read_text()
    assert "dropped on the way" not in card and "|\n| digest of the data |" in card


def test_kernelbook_columns_come_first(folder: Path) -> None:
    found = pq.read_table(folder / "data")
    assert tuple(found.column_names[:12]) == KERNELBOOK
    first = found.to_pylist()[0]
    assert (type(first["uuid"]), type(first["synthetic"]), type(first["licenses"])) == (int, bool, list)
    assert len(set(found["uuid"].to_pylist())) == found.num_rows
    assert Counter(found["benchmark_overlap"].to_pylist()) == {"": 62, "L1/19": 1}


def test_parquet_is_written_for_the_hub(folder: Path) -> None:
    metadata = pq.read_metadata(folder / "data" / "train-00000-of-00001.parquet")
    column = metadata.row_group(0).column(0)
    assert column.compression == "ZSTD"
    assert column.has_offset_index
    assert column.has_column_index


def test_text_of_the_dropped_is_not_published(folder: Path) -> None:
    found = pq.read_table(folder / "dropped")
    assert found.column_names == ["stage", "id", "name", "reason", "detail"]
    assert not any(b"secret text" in data for data in contents(folder).values())


def test_card_tells_what_was_written(folder: Path) -> None:
    import yaml

    card = (folder / "README.md").read_text()
    metadata = yaml.safe_load(card.split("---\n")[1])
    assert metadata["size_categories"] == ["n<1K"]
    assert [c["config_name"] for c in metadata["configs"]] == ["default", "dropped"]
    assert metadata["license"] == "other"
    for name in rows.columns().names:
        assert f"`{name}`" in card, f"the card does not explain {name}"
    for fact in ("| pairs | 63 (", "verified 63", "378, all passed", "| pointwise | 24 |", "| mine | timeout | 1 |"):
        assert fact in card
    assert not re.search(r"\b20\d\d-\d\d|/tmp|None|Undefined", card)


def test_card_of_one_licence_names_it(tmp_path: Path) -> None:
    pairs = [factories.relicensed(p, "MIT") for p in factories.pairs()[:3]]
    publish.write_dataset(pairs, [], str(tmp_path), dataset.render)
    card = (tmp_path / "README.md").read_text()
    assert "\nlicense: mit\n" in card
    assert "config_name: dropped" not in card
    assert not (tmp_path / "dropped").exists()


@pytest.mark.parametrize(
    ("licence", "named"), [("BSD-3-Clause", "bsd-3-clause"), ("PSF-2.0", "other"), ("0BSD", "other")]
)
def test_the_hub_is_told_no_licence_that_it_does_not_know(tmp_path: Path, licence: str, named: str) -> None:
    publish.write_dataset([factories.relicensed(factories.pair(), licence)], [], str(tmp_path), dataset.render)
    assert f"\nlicense: {named}\n" in (tmp_path / "README.md").read_text()


def test_the_card_tells_what_was_timed_and_what_nobody_wrote(folder: Path, tmp_path: Path) -> None:
    card = (folder / "README.md").read_text()
    assert "no kernel was timed" in card and "synthetic**" not in card
    timing = Timing("1", "H200", "580", "ieee", "", "eager", 1.1, 1.0, 1.2, 1.1, 1.0, 5.0, 1.0, 1.0, ("k",), 1, 2)
    first, second = factories.pairs()[:2]
    origin = replace(first.task.origin, source="ops", repository="torch-chains")
    made = Pair(
        replace(first.candidate, task=replace(first.task, origin=origin)), replace(first.receipt, timing=timing)
    )
    publish.write_dataset([made, second], [], str(tmp_path), dataset.render)
    card = (tmp_path / "README.md").read_text()
    assert "1 of 2 pairs were timed on a GPU" in card and "nothing was timed" not in card
    assert "Of the modules 1 are **synthetic**" in card
    found = {r["id"]: r["synthetic"] for r in pq.read_table(tmp_path / "data").to_pylist()}
    assert found == {made.id: True, second.id: False}


def test_published_sets_can_be_put_together(folder: Path, tmp_path: Path) -> None:
    read = read_all([str(folder), str(folder / "data" / "test-00000-of-00001.parquet")], Pair)
    assert {p.id for p in read} == {p.id for p in factories.pairs()}
    assert len(read) == 63 + 6


def test_what_may_not_be_given_away_is_not_uploaded(tmp_path: Path, environment: dict[str, str]) -> None:
    unknown = [factories.relicensed(p) for p in factories.pairs()[:2]]
    pairs = [*unknown, factories.rejected(factories.pairs()[2], "wrong result"), *factories.pairs()[3:9]]
    publish.write_dataset(pairs, [], str(tmp_path), dataset.render)
    command = [sys.executable, "-m", "kdata", "publish", str(tmp_path), "--to", "someone/pairs"]
    with hub_stub.serve() as (address, hub):
        asked = environment | {"HF_ENDPOINT": address, "HF_TOKEN": hub_stub.TOKEN, "HF_HUB_DISABLE_XET": "1"}
        done = subprocess.run(command, env=asked, capture_output=True, text=True, timeout=120, check=False)
        assert not hub.files
    assert done.returncode == 1
    assert "3 of 9 pairs may not be uploaded (no licence found 2, wrong result 1)" in done.stderr


def test_license_manifest_has_a_line_for_each_repository_and_licence(folder: Path) -> None:
    lines = [json.loads(line) for line in (folder / "LICENSES.jsonl").read_text().splitlines()]
    assert [(x["repository"], x["license"]) for x in lines] == [
        ("gridcast", "Apache-2.0"), ("gridcast", "MIT"), ("lumen/speechkit", "BSD-3-Clause"), ("moltensor", "MIT"),
        ("tidyvision", "Apache-2.0"),
    ]  # fmt: skip
    assert all(x["url"] and x["revision"] and x["pairs"] for x in lines)


def test_a_set_that_was_written_in_half_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    publish.write_dataset(factories.pairs(), DROPPED, str(tmp_path), dataset.render)
    before = contents(tmp_path)
    replace_file = os.replace

    def full(source: str, target: str | Path) -> None:
        if str(target).endswith("LICENSES.jsonl"):
            raise OSError(28, "No space left on device")
        replace_file(source, target)

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        publish.write_dataset(factories.pairs()[:3], [], str(tmp_path), dataset.render)
    after = contents(tmp_path)
    assert after["LICENSES.jsonl"] == before["LICENSES.jsonl"]
    assert publish.written([str(tmp_path)], "elsewhere", None) == ""  # no dataset folder: it has no card
    with pytest.raises(publish.PublishError, match="no README"):
        publish.push(str(tmp_path), "a/b", "token")


def test_smaller_set_leaves_no_stale_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publish, "ROWS_PER_FILE", 10)
    publish.write_dataset(factories.pairs(), DROPPED, str(tmp_path), dataset.render)
    assert len(list(tmp_path.glob("data/train-*-of-00006.parquet"))) == 6
    assert len(publish.read_dataset(str(tmp_path))) == 63
    publish.write_dataset(factories.pairs()[:9], [], str(tmp_path), dataset.render)
    assert len(publish.read_dataset(str(tmp_path))) == 9
    assert not list(tmp_path.glob("dropped/*"))


@pytest.mark.parametrize(("many", "expected"), [(40, "repository"), (4, "source file"), (1, "task")])
def test_split_keeps_groups_whole(many: int, expected: str) -> None:
    pairs = [spread(p, i, many) for i, p in enumerate(factories.pairs())]
    train, test, name = split(pairs)
    assert name == expected
    assert len(train) + len(test) == len(pairs)
    assert 0.05 * len(pairs) <= len(test) <= 0.10 * len(pairs)
    group = {"repository": lambda p: p.task.origin.repository, "task": lambda p: p.task.id}.get(
        name, lambda p: (p.task.origin.repository, p.task.origin.path)
    )
    assert not {group(p) for p in train} & {group(p) for p in test}  # type: ignore[no-untyped-call]


def spread(pair: Pair, index: int, many: int) -> Pair:
    """The pair in one of so many repositories; of one, all in a single file."""
    path = f"file_{index % 20}.py" if many > 1 else "file.py"
    origin = Origin("git", f"repository {index % many}", "1", path, ("MIT",))
    return Pair(replace(pair.candidate, task=replace(pair.task, origin=origin)), pair.receipt)


def test_split_of_few() -> None:
    pairs = factories.pairs()
    assert [len(part) for part in split(pairs[:1])[:2]] == [1, 0]
    assert [len(part) for part in split(pairs[:5])[:2]] == [4, 1]


def test_split_moves_no_repository_when_others_grow() -> None:
    pairs = [spread(p, i, 40) for i, p in enumerate(factories.pairs())]
    seeds = {tuple(sorted({p.task.origin.repository for p in split(pairs, seed)[1]})) for seed in range(4)}
    assert len(seeds) > 1, "the seed decides"
    assert split(pairs)[1] == split(list(pairs))[1]


def test_nothing_and_twins_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nothing to publish"):
        publish.write_dataset([], [], str(tmp_path), dataset.render)
    with pytest.raises(ValueError, match="same id"):
        publish.write_dataset([factories.pair()] * 2, [], str(tmp_path), dataset.render)
    assert not list(tmp_path.iterdir())


def test_foreign_data_gives_one_line(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no"):
        publish.read_dataset(str(tmp_path / "absent"))
    with pytest.raises(FileNotFoundError, match=r"holds no data/\*\.parquet"):
        publish.read_dataset(str(tmp_path))
    foreign = tmp_path / "foreign.parquet"
    pq.write_table(pa.table({"python_code": ["x"]}), foreign)
    with pytest.raises(ValueError, match="no set published by kdata: it lacks the columns benchmark_overlap"):
        publish.read_dataset(str(foreign))
    foreign.write_bytes(b"PAR?")
    with pytest.raises(ValueError, match="is not a parquet file"):
        publish.read_dataset(str(foreign))


LOAD = """
import json, os, sys
from datasets import load_dataset
where, = sys.argv[1:]
pairs, dropped = load_dataset(where), load_dataset(where, "dropped")
first = pairs["test"][0]
streamed = next(iter(load_dataset(where, split="train", streaming=True)))
print(json.dumps({"rows": {k: len(v) for k, v in {**pairs, "dropped": dropped["train"]}.items()},
    "trial": first["receipt"]["trials"][0]["dtype"], "input": first["inputs"][0]["shape"], "streamed": streamed["id"]}),
    flush=True)
os._exit(0)  # the threads of a stream that is left in the middle abort now and then where the interpreter ends
"""


def load(where: str, environment: dict[str, str], cache: Path, **more: str) -> Any:
    environment = {**environment, "HF_HOME": str(cache), "HF_HUB_DISABLE_XET": "1", **more}
    command = [sys.executable, "-c", LOAD, where]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def test_datasets_reads_the_folder(folder: Path, tmp_path: Path, environment: dict[str, str]) -> None:
    found = load(str(folder), environment, tmp_path, HF_HUB_OFFLINE="1")
    assert found["rows"] == {"train": 57, "test": 6, "dropped": 2}
    assert (found["trial"], found["input"][:2]) == ("float32", [4, 32])


def test_hub_takes_the_folder_and_gives_it_back(
    folder: Path, tmp_path: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
    with hub_stub.serve() as (address, hub):
        for _ in range(2):
            url = publish.push(str(folder), "someone/pairs", hub_stub.TOKEN, address)
        assert url.endswith("/datasets/someone/pairs")
        stored = {k: v for k, v in hub.files["someone/pairs"].items() if k != ".gitattributes"}
        assert stored == contents(folder)
        assert hub.commits == 1, "the second upload changed nothing"
        found = load("someone/pairs", environment, tmp_path, HF_ENDPOINT=address, HF_TOKEN=hub_stub.TOKEN)
        assert found["rows"] == {"train": 57, "test": 6, "dropped": 2}


def test_a_folder_that_is_written_goes_up_as_it_is(folder: Path, environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "kdata", "publish", str(folder), "--to", "someone/pairs"]
    with hub_stub.serve() as (address, hub):
        asked = environment | {"HF_ENDPOINT": address, "HF_TOKEN": hub_stub.TOKEN, "HF_HUB_DISABLE_XET": "1"}
        done = subprocess.run(command, env=asked, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        stored = {k: v for k, v in hub.files["someone/pairs"].items() if k != ".gitattributes"}
    assert done.stdout.strip().endswith("/datasets/someone/pairs")
    assert stored == contents(folder)


def test_push_takes_only_the_dataset_and_removes_what_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
    (tmp_path / "shards").mkdir()
    (tmp_path / "shards" / "mined.parquet").write_bytes(b"of any licence")
    (tmp_path / "options.json").write_text("{}")
    with hub_stub.serve() as (address, hub):
        for pairs, dropped in ((factories.pairs(), DROPPED), (factories.pairs()[:20], [])):
            publish.write_dataset(pairs, dropped, str(tmp_path), dataset.render)
            publish.push(str(tmp_path), "someone/pairs", hub_stub.TOKEN, address)
            stored = {p for p in hub.files["someone/pairs"] if p != ".gitattributes"}
            expected = {p for p in contents(tmp_path) if not p.startswith(("shards", "options"))}
            assert stored == expected
    assert not any(p.startswith("dropped") for p in stored)


def test_push_without_what_it_needs_gives_one_line(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(publish.PublishError, match="needs a token: set HF_TOKEN"):
        publish.push(str(folder), "someone/pairs", None)
    with pytest.raises(publish.PublishError, match="no dataset folder"):
        publish.push(str(tmp_path), "someone/pairs", "t")
    with hub_stub.serve() as (address, _):
        with pytest.raises(publish.PublishError, match=r"the Hub did not take someone/pairs: .*401") as refused:
            publish.push(str(folder), "someone/pairs", "wrong", address)
        with pytest.raises(publish.PublishError, match="the Hub did not take"):
            publish.push(str(folder), "a b//c", hub_stub.TOKEN, address)
    assert "\n" not in str(refused.value)

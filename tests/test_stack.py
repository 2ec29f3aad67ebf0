"""The Stack v2 and v3: a local copy of the dataset, contents from a real S3 server that fails now and then."""

from __future__ import annotations

import gzip
import hashlib
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import hub_stub
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import s3_faulty

from kdata.record import Dropped, SourceFile
from sources.collect import SourceError, collect, is_remote
from sources.fetch import hub, software_heritage, stack, stack_v2
from sources.fetch.software_heritage import Archive, Refused

ROWS = 400
ROOT = Path(__file__).resolve().parents[1]


def sha1(data: bytes) -> str:
    return hashlib.sha1(data).hexdigest()


def content(i: int) -> bytes:
    """A file; every fiftieth is Latin-1, every sixtieth no text in the encoding that its row tells."""
    text = f"import torch\n\nVALUE = {i}  # é\n"
    if i % 60 == 59:
        return b"import torch\n\x81\x8d " + str(i).encode()
    return text.encode("latin-1" if i % 50 == 49 else "utf-8")


def row(i: int, **more: Any) -> dict[str, Any]:
    blob_id = sha1(content(i)) if i % 2 else git_sha1(content(i))
    return {
        "blob_id": blob_id, "path": f"/pkg/module_{i}.py", "repo_name": f"someone/nets_{i % 40}", "revision_id": "c" * 40,
        "star_events_count": i, "language": "Python", "length_bytes": len(content(i)), "detected_licenses": ["MIT"],
        "license_type": "permissive", "src_encoding": "ISO-8859-1" if i % 50 == 49 else "UTF-8", "is_vendor": False,
        "is_generated": False, **more,
    }  # fmt: skip


def git_sha1(data: bytes) -> str:
    return sha1(b"blob %d\0" % len(data) + data)


def odd(i: int) -> dict[str, Any]:
    """Rows that must not be fetched."""
    odds: list[dict[str, Any]] = [
        {"license_type": "no_license", "detected_licenses": []}, {"is_vendor": True}, {"is_generated": True},
        {"length_bytes": 9 << 20}, {"path": "/.hidden/x.py"}, {"blob_id": "../../etc/passwd"},
    ]  # fmt: skip
    return {"blob_id": sha1(b"odd %d" % i), "path": f"/odd_{i}.py", **odds[i % len(odds)]}


def write(folder: Path, rows: list[dict[str, Any]], name: str = "data/Python/train-00000.parquet") -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), folder / name)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hub") / "the-stack-v2-dedup"
    rows = [row(i) for i in range(ROWS)] + [row(i, **odd(i)) for i in range(12)]
    write(folder, rows[: ROWS // 2])
    write(folder, rows[ROWS // 2 :], "data/Python/train-00001.parquet")
    return folder


@pytest.fixture(scope="module")
def bucket() -> Iterator[tuple[str, s3_faulty.Faults]]:
    """The archive with all contents but every hundredth, and one that is damaged."""
    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    with s3_faulty.serve() as (address, faults):
        s3 = boto3.client("s3", endpoint_url=address, region_name="us-east-1", aws_access_key_id="k",
                          aws_secret_access_key="s")  # fmt: skip
        s3.create_bucket(Bucket="softwareheritage")
        for i in range(ROWS):
            if i % 100 != 7:
                data = gzip.compress(content(i) if i != 13 else b"something else", mtime=0)
                s3.put_object(
                    Bucket="softwareheritage", Key=f"content/{row(i)['blob_id']}", Body=data, ACL="public-read"
                )
        yield address, faults


@pytest.fixture
def archive(
    bucket: tuple[str, s3_faulty.Faults], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[s3_faulty.Faults, Path]:
    """A fresh cache, anonymous access to the bucket, short pauses, and no fault yet."""
    address, faults = bucket
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", address)
    monkeypatch.setenv("KDATA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(software_heritage, "PAUSE", 0.01)
    monkeypatch.setattr(software_heritage, "LONGEST_PAUSE", 0.05)
    faults.busy.clear()
    faults.cut.clear()
    faults.asked.clear()
    return faults, tmp_path / "cache" / "softwareheritage"


def kept(found: list[SourceFile | Dropped]) -> dict[str, SourceFile]:
    return {f.origin.path: f for f in found if isinstance(f, SourceFile)}


def reasons(found: list[SourceFile | Dropped]) -> dict[str, int]:
    dropped = [d.reason for d in found if isinstance(d, Dropped)]
    return {reason: dropped.count(reason) for reason in sorted(set(dropped))}


def test_every_row_is_fetched_or_counted(dataset: Path, archive: tuple[s3_faulty.Faults, Path]) -> None:
    faults, cache = archive
    faults.busy = {row(i)["blob_id"]: 2 for i in range(3, ROWS, 100)}
    faults.cut = {row(i)["blob_id"]: 1 for i in range(5, ROWS, 100)}
    spec = f"stack-v2:Python?dataset={dataset}&limit={ROWS + 50}"
    found = collect(spec)
    undecodable = len(range(59, ROWS, 60)) - 1  # number 299 says Latin-1, in which all bytes are text
    assert reasons(found) == {
        "absent from the archive": 4, "damaged in the archive": 1, "file too large": 2, "generated": 2,
        "license not wanted": 2, "no blob id": 2, "undecodable": undecodable, "vendored": 2,
    }  # fmt: skip
    assert len(found) == ROWS + 10, "two hidden files are none of the source"
    files = kept(found)
    assert len(files) == ROWS - 5 - undecodable
    assert files["pkg/module_49.py"].text.endswith("= 49  # é\n"), "Latin-1, as the row says"
    assert files["pkg/module_103.py"].text == content(103).decode(), "came after two refusals"
    assert files["pkg/module_105.py"].text == content(105).decode(), "came after a cut connection"
    assert all(faults.asked[row(i)["blob_id"]] == 3 for i in range(3, ROWS, 100))
    assert not any(k in faults.asked for i in range(12) if (k := odd(i)["blob_id"])), "refused before they are fetched"
    repositories = [f.origin.repository for f in found if isinstance(f, SourceFile)]
    assert repositories == sorted(repositories)
    origin = files["pkg/module_3.py"].origin
    revision = hub.resolve(str(dataset))
    assert (origin.source, origin.licenses, origin.stars) == ("stack-v2", ("MIT",), 3)
    assert origin.revision == f"{'c' * 40} the-stack-v2-dedup@{revision}"

    faults.asked.clear()
    again = collect(spec)
    assert again == found, "the same, from the cache"
    fetchable = {row(i)["blob_id"] for i in range(ROWS) if i % 100 != 7 and i != 13}
    assert not fetchable & set(faults.asked)
    assert {p.name for p in cache.glob("*/*")} == fetchable


def test_a_killed_run_refetches_nothing(dataset: Path, archive: tuple[s3_faulty.Faults, Path]) -> None:
    faults, cache = archive
    code = f"from sources.collect import collect; print(len(collect('stack-v2:Python?dataset={dataset}&limit={ROWS}')))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    first = subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.DEVNULL)
    while len(list(cache.glob("*/*"))) < 50 and first.poll() is None:
        time.sleep(0.02)
    first.send_signal(signal.SIGKILL)
    first.wait()
    have = {p.name for p in cache.glob("*/[0-9a-f]*")}
    assert 50 <= len(have) < ROWS - 20, "killed in the middle"
    faults.asked.clear()
    found = collect(f"stack-v2:Python?dataset={dataset}&limit={ROWS}")
    assert len(found) == ROWS
    assert not have & set(faults.asked)


def test_an_archive_that_is_away_is_worth_another_try(dataset: Path, archive: tuple[s3_faulty.Faults, Path]) -> None:
    faults, _ = archive
    faults.busy = {row(i)["blob_id"]: 10**6 for i in range(20)}
    with pytest.raises(SourceError, match=r"did not answer for 20 of 40 contents; .*next time") as raised:
        collect(f"stack-v2:Python?dataset={dataset}&limit=40")
    assert not raised.value.lasting
    faults.busy = {row(3)["blob_id"]: 10**6}
    faults.asked.clear()
    found = collect(f"stack-v2:Python?dataset={dataset}&limit=40")
    assert reasons(found)["archive unreachable"] == 1, "one that never comes does not hold up the others"
    assert set(faults.asked) >= {row(i)["blob_id"] for i in range(20)}
    assert row(30)["blob_id"] not in faults.asked


def test_a_damaged_cache_is_mended(archive: tuple[s3_faulty.Faults, Path]) -> None:
    faults, cache = archive
    blob_id = row(1)["blob_id"]
    (cache / blob_id[:2]).mkdir(parents=True)
    (cache / blob_id[:2] / blob_id).write_bytes(gzip.compress(b"forged"))
    for _ in range(2):
        assert Archive().contents([blob_id]) == {blob_id: content(1)}
    assert faults.asked == {blob_id: 1}


def test_contents_that_unpack_without_end_are_refused(archive: tuple[s3_faulty.Faults, Path], bucket: Any) -> None:
    s3 = boto3.client("s3", endpoint_url=bucket[0], region_name="us-east-1", aws_access_key_id="k",
                      aws_secret_access_key="s")  # fmt: skip
    bomb = "b" * 40
    s3.put_object(Bucket="softwareheritage", Key=f"content/{bomb}", Body=gzip.compress(bytes(200 << 20), 9),
                  ACL="public-read")  # fmt: skip
    assert Archive().contents([bomb]) == {bomb: Refused("file too large")}


def test_no_access_is_one_line_and_not_many_requests(
    archive: tuple[s3_faulty.Faults, Path], bucket: Any, dataset: Path
) -> None:
    s3 = boto3.client("s3", endpoint_url=bucket[0], region_name="us-east-1", aws_access_key_id="k",
                      aws_secret_access_key="s")  # fmt: skip
    ids = [sha1(b"secret %d" % i) for i in range(300)]
    for blob_id in ids[:60]:
        s3.put_object(Bucket="softwareheritage", Key=f"content/{blob_id}", Body=b"x")
    with pytest.raises(SourceError, match="denies access: set AWS_ACCESS_KEY_ID") as raised:
        Archive(workers=4).contents(ids[:60])
    assert raised.value.lasting
    assert sum(archive[0].asked.values()) < 60


COLLECT = """
import sys
from sources.collect import SourceError, collect, is_remote
try:
    print(len(collect(sys.argv[1])), "files")
except SourceError as error:
    print(error)
"""


def run(spec: str, **more: str) -> str:
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        **more,
    }
    command = [sys.executable, "-c", COLLECT, spec]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip()


def test_rows_come_from_the_hub_with_a_token(
    dataset: Path, archive: tuple[s3_faulty.Faults, Path], tmp_path: Path
) -> None:
    name = "bigcode/the-stack-v2-dedup"
    with hub_stub.serve() as (address, hub_):
        hub_.files[name] = {p.relative_to(dataset).as_posix(): p.read_bytes() for p in dataset.rglob("*.parquet")}
        hub_.gated.add(name)
        where = {"HF_ENDPOINT": address, "HF_HOME": str(tmp_path / "hf")}
        refused = run("stack-v2:Python?limit=20", **where)
        assert refused == (
            f"{name} is gated: accept its terms at https://huggingface.co/datasets/{name}, and set HF_TOKEN to a token "
            "of the account that did"
        )
        assert run("stack-v2:Python?limit=20", HF_TOKEN=hub_stub.TOKEN, **where) == "20 files"
        assert "train-00001" not in " ".join(a for a in hub_.asked if a.startswith("GET /datasets")), (
            "only what is needed"
        )
        absent = run("stack-v2:Python?dataset=bigcode/absent", HF_TOKEN=hub_stub.TOKEN, **where)
        assert absent.startswith("bigcode/absent: the Hub has no such dataset or revision")


@pytest.mark.parametrize(
    ("spec", "remote"),
    [("stack-v2:Python?limit=5", True), ("stack-v3:Python?dataset=.", False), ("stack-v3:Python?dataset=a/b", True)],
)
def test_local_copies_are_read_again_each_time(spec: str, remote: bool) -> None:
    assert is_remote(spec) is remote


def test_rows_of_whole_repositories(tmp_path: Path, archive: tuple[s3_faulty.Faults, Path]) -> None:
    folder = tmp_path / "the-stack-v2-train-smol-ids"
    files = [{k: v for k, v in row(i).items() if k not in ("repo_name", "revision_id", "star_events_count")}
             for i in range(20)]  # fmt: skip
    groups = [files[:5], [{**f, "license_type": "no_license"} for f in files[5:8]], [{**files[8], "language": "C"}] * 2,
              files[9:12], files[12:]]  # fmt: skip
    rows = [{"repo_name": f"a/r{i}", "revision_id": "d", "star_events_count": None, "files": group}
            for i, group in enumerate(groups)]  # fmt: skip
    write(folder, rows, "data/train-00000.parquet")
    found = collect(f"stack-v2:Python?dataset={folder}&limit=6")
    assert reasons(found)["license not wanted"] == 1
    assert reasons(found)["no file of the language"] == 1
    repositories = [f.origin.repository for f in found if isinstance(f, SourceFile)]
    assert repositories == ["a/r0"] * 5 + ["a/r3"] * 3, "the last repository stays whole"
    later = collect(f"stack-v2:Python?dataset={folder}&limit=6&skip=6")
    assert {f.origin.repository for f in kept(later).values()} == {"a/r4"}


def v3_row(name: str, files: list[tuple[str, str, str]]) -> dict[str, Any]:
    return {
        "repo_path": name, "repo_id": 1, "commit_id": "e" * 40, "github_metadata": {"stars": 7, "forks": 0}, "num_files": 1,
        "files": [
            {"content_id": sha1(t.encode()), "content": t, "size_bytes": len(t), "file_path": p, "file_timestamp": 1,
             "language": language, "is_vendor": False, "license_type": "permissive", "detected_licenses": ["BSD-3-Clause"]}
            for p, language, t in files
        ],
    }  # fmt: skip


def test_stack_v3_holds_its_contents(tmp_path: Path) -> None:
    write(tmp_path, [
        v3_row("a/net", [("net/layers.py", "Python", "X = 1\n"), ("net/model.py", "Python", "import torch\r\n"), ("x.c", "C", "int x;")]),
        v3_row("b/web", [("app.py", "Python", "import flask\n")] * 2),
    ], "data/part-00000.parquet")  # fmt: skip
    found = collect(f"stack-v3:Python?dataset={tmp_path}")
    assert {p: f.text for p, f in kept(found).items()} == {"net/layers.py": "X = 1\n", "net/model.py": "import torch\n"}
    assert reasons(found) == {"repository without torch": 1}
    assert kept(found)["net/model.py"].origin.licenses == ("BSD-3-Clause",)
    assert kept(found)["net/model.py"].origin.stars == 7
    every = collect(f"stack-v3:Python?dataset={tmp_path}&mentions=&license=BSD-3-Clause")
    assert len(kept(every)) == 3
    assert reasons(every) == {"another file of the same path": 1}
    with pytest.raises(SourceError, match="holds no readable"):
        collect(f"stack-v3:Python?dataset={tmp_path}&license=MIT")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("stack-v2:?limit=1", "names no language"),
        ("stack-v2:Python?limt=1", "no option limt; there are dataset,"),
        ("stack-v2:Python?limit=many", "whole numbers"),
        ("stack-v2:Python?limit", "name=value"),
        ("stack-v2:Python?dataset=./nowhere", "there is no such folder"),
        ("stack-v3:Python?dataset={empty}", "data files"),
    ],
)
def test_bad_parts_say_so_in_one_line(spec: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=message) as raised:
        collect(spec.format(empty=tmp_path))
    assert "\n" not in str(raised.value)


def test_missing_columns_are_named(tmp_path: Path) -> None:
    write(tmp_path, [{"path": "x.py"}])
    with pytest.raises(SourceError, match="repo_name"):
        list(stack_v2.rows(stack.parse(f"Python?dataset={tmp_path}", ""), ""))

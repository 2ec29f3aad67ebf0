"""Raw kernels of operator libraries: what is taken, in which language, under which licence."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kdata.record import Dropped
from kdata.shards import Store
from sources import corpus
from sources.collect import collect
from sources.corpus import CorpusFile
from sources.fetch.licences import of_field, of_text
from sources.fetch.texts import SourceError
from sources.libraries import LIBRARIES, Library

ROOT = Path(__file__).resolve().parents[1]
FILES = {
    "LICENSE": "BSD 3-Clause. Redistribution and use in source and binary forms ... Neither the name of the holder ...",
    "include/gemm.h": "template <int M> __device__ void mma();\n",
    "include/plain.hpp": "struct Shape {};\n",
    "include/copy.hpp": "struct Shape {};\n",
    "include/foreign.h": "// SPDX-License-Identifier: MIT\nint x;\n",
    "include/closed.h": "// SPDX-License-Identifier: LicenseRef-NvidiaProprietary\nint y;\n",
    "include/third_party/other.h": "int z;\n",
    "examples/01/main.cu": "__global__ void k() {}\n",
    "examples/python/add.py": "import cutlass\nimport cutlass.cute as cute\n",
    "examples/python/tool.py": "import argparse\n",
    "examples/readme.md": "words",
    "python/dsl.py": "import cutlass.cute as cute\n",
    "test/unit/test.cu": "__global__ void t() {}\n",
}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "cutlass"
    for path, text in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    for command in (["init", "-q"], ["add", "."], [*identity, "commit", "-q", "-m", "one"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return folder


def test_kernels_of_a_library_with_their_licences(repository: Path) -> None:
    found = corpus.collect(f"cutlass={repository}")
    assert found == corpus.collect(f"cutlass=git:{repository}")
    rows = {r.origin.path: r for r in found if isinstance(r, CorpusFile)}
    assert {path: r.language for path, r in rows.items()} == {
        "include/gemm.h": "CUDA", "include/copy.hpp": "C++", "include/foreign.h": "C++", "examples/01/main.cu": "CUDA",
        "examples/python/add.py": "CuTe DSL",
    }  # fmt: skip
    assert rows["include/foreign.h"].origin.licenses == ("MIT",)
    assert rows["include/gemm.h"].origin.licenses == ("BSD-3-Clause",)
    assert rows["include/gemm.h"].library == "cutlass"
    assert len(rows["include/gemm.h"].origin.revision) == 40
    assert {d.name.split(":")[1]: d.reason for d in found if isinstance(d, Dropped)} == {
        "include/plain.hpp": "same text as another file", "include/closed.h": "license unknown",
        "examples/python/tool.py": "no kernels",
    }  # fmt: skip


def test_the_verb_writes_a_shard_and_finds_it_again(repository: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "kdata.cli", "corpus", f"cutlass={repository}", "--out", str(tmp_path / "out")]
    code = "import sys; from kdata.cli import main; sys.argv = ['kdata', *sys.argv[1:]]; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, *command[3:]], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "5 kept, 3 dropped (license unknown 1, no kernels 1, same text as another file 1)" in done.stdout
    store = Store(str(tmp_path / "out"))
    (manifest,) = store.manifests("corpus")
    assert corpus.make(store, f"cutlass={repository}") == manifest
    assert manifest.parameters["languages"] == {"C++": 2, "CUDA": 2, "CuTe DSL": 1}
    assert len(store.read(manifest.name, CorpusFile)) == 5


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@triton.jit\ndef k(): ...", "Triton"),
        ("import tilelang\n@triton.jit\n", "TileLang"),
        ("import cuda.tile as ct\n", "cuTile"),
        ("import helion\n@helion.kernel()\ndef f(): ...", "Helion"),
        ("from triton.experimental import gluon\n@gluon.jit\n", "Gluon"),
        ("import triton\nprint('no kernel')\n", ""),
    ],
)
def test_dialects_of_python(text: str, expected: str) -> None:
    assert corpus.language("a/b.py", text) == expected


def test_hpc_instruct(tmp_path: Path) -> None:
    rows = [
        {
            "problem statement": "Add two arrays.",
            "solution": "__global__ void add();",
            "language": "Cuda",
            "model": "x",
        },
        {"problem statement": "Again.", "solution": "__global__ void add();", "language": "Cuda", "model": "x"},
        {"problem statement": "Nothing.", "solution": None, "language": "C", "model": "x"},
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "train.parquet")
    row, twin, empty = corpus.collect(f"hpc-instruct?dataset={tmp_path}")
    assert isinstance(row, CorpusFile) and isinstance(twin, Dropped) and isinstance(empty, Dropped)
    assert (row.language, row.origin.licenses, row.text) == (
        "Cuda",
        ("MIT",),
        "Add two arrays.\n\n__global__ void add();\n",
    )
    assert (twin.reason, empty.reason) == ("same text as another file", "no solution")
    assert isinstance(corpus.collect(f"hpc-instruct?dataset={tmp_path}&limit=1&skip=2")[0], Dropped)


def test_bsd_as_meta_words_it() -> None:
    text = (
        "Redistribution and use in source and binary forms ... Neither the name Meta nor the names of its contributors"
    )
    assert of_text(text) == ("BSD-3-Clause",)


def test_unknown_libraries_are_told(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no library 'cutlas'; there are cutlass,"):
        corpus.collect("cutlas")
    with pytest.raises(SourceError, match="read from cutlass's repository"):
        corpus.collect("cutlass=pypi:nvidia-cutlass")
    with pytest.raises(SourceError, match="there is no such folder"):
        corpus.collect(f"cutlass={tmp_path}/none")
    with pytest.raises(SourceError, match="is no git repository: run `git init`"):
        corpus.collect(f"cutlass={tmp_path}")


@pytest.mark.parametrize(
    ("named", "told"),
    [("pipi:timm", "'pipi' is no kind of source"), ("https://github.com/a/b", "name git:https://github.com/a/b")],
)
def test_a_source_of_no_kind_is_told(named: str, told: str) -> None:
    with pytest.raises(SourceError, match=told):
        collect(named)


@pytest.mark.parametrize("library", LIBRARIES.values(), ids=list(LIBRARIES))
def test_the_table_is_complete(library: Library) -> None:
    assert library.repository.count("/") == 1
    assert of_field(library.license) == (library.license,)
    assert library.kernels and library.references
    assert not any(f.startswith("/") or f.endswith("/") for f in (*library.kernels, *library.references))


def test_all_libraries_of_the_survey_are_there() -> None:
    assert len({lib.repository for lib in LIBRARIES.values()}) == 27


def test_cuda_of_the_stack(tmp_path: Path) -> None:
    def file(path: str, language: str, content: str) -> dict[str, object]:
        return {"content": content, "size_bytes": len(content), "file_path": path, "language": language,
                "is_vendor": False, "license_type": "permissive", "detected_licenses": ["MIT"]}  # fmt: skip

    files = [file("a.cu", "Cuda", "__global__ void k() {}"), file("b.py", "Python", "import torch")]
    rows = [{"repo_path": "a/b", "commit_id": "c", "github_metadata": {"stars": 1}, "files": files}]
    (tmp_path / "data").mkdir()
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "data" / "part-0.parquet")
    (row,) = corpus.collect(f"stack-v3:Cuda?dataset={tmp_path}")
    assert isinstance(row, CorpusFile)
    assert (row.library, row.language, row.origin.repository) == ("stack-v3", "CUDA", "a/b")

"""Shards: parquet files of records, the dropped beside the kept, a manifest written last.

A shard ``NAME`` is three files: ``NAME.parquet``, ``NAME.dropped.parquet`` and ``NAME.json``.  The manifest appears
last and whole, so a shard without one was never finished, and a killed run loses the shard in hand and nothing else.
Paths go through fsspec: a local folder or any object store.
"""

from __future__ import annotations

import json
import posixpath
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any, TypeVar, cast

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq

from kdata import storage
from kdata.record import Dropped, records, table

Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a finished shard holds and what made it."""

    name: str
    stage: str
    kind: str
    kept: int
    dropped: int
    reasons: dict[str, int]
    inputs: list[str]
    parameters: dict[str, Any]
    seconds: float


@dataclass(frozen=True, slots=True)
class Store:
    """A folder of shards, local or remote."""

    root: str

    def _open(self, name: str) -> tuple[fsspec.AbstractFileSystem, str]:
        return cast("tuple[fsspec.AbstractFileSystem, str]", fsspec.core.url_to_fs(posixpath.join(self.root, name)))

    def make(
        self, name: str, stage: str, kind: type[Record], kept: Sequence[Record], dropped: Sequence[Dropped],
        parameters: Mapping[str, Any], started: float, inputs: Sequence[str] = (),
    ) -> Manifest:  # fmt: skip
        """Write a shard of what a stage made since ``started``, a monotonic time, and return its manifest."""
        manifest = Manifest(
            name, stage, kind.__name__, len(kept), len(dropped), dict(Counter(d.reason for d in dropped)),
            list(inputs), dict(parameters), round(time.monotonic() - started, 3),
        )  # fmt: skip
        self.write(kind, kept, dropped, manifest)
        return manifest

    def write(self, kind: type[Record], kept: Sequence[Record], dropped: Sequence[Dropped], manifest: Manifest) -> None:
        """Write a shard; its manifest last."""
        stem = posixpath.join(self.root, manifest.name)
        storage.put(f"{stem}.parquet", _parquet(table(kept, kind)))
        storage.put(f"{stem}.dropped.parquet", _parquet(table(dropped, Dropped)))
        storage.put(f"{stem}.json", json.dumps(asdict(manifest), indent=1, sort_keys=True).encode())

    def manifest(self, name: str) -> Manifest | None:
        """The manifest of a finished shard, or None."""
        fs, path = self._open(f"{name}.json")
        return Manifest(**json.loads(fs.cat_file(path))) if fs.exists(path) else None

    def manifests(self, stage: str) -> list[Manifest]:
        """All finished shards of a stage, by name."""
        fs, path = self._open(stage)
        names = sorted(fs.glob(f"{path}/*.json"))
        return [Manifest(**json.loads(fs.cat_file(name))) for name in names]

    def read(self, name: str, kind: type[Record]) -> list[Record]:
        """The kept records of a shard."""
        return read(posixpath.join(self.root, f"{name}.parquet"), kind)

    def read_dropped(self, name: str) -> list[Dropped]:
        """The dropped records of a shard, with their reasons."""
        return read(posixpath.join(self.root, f"{name}.dropped.parquet"), Dropped)


def read(path: str, kind: type[Record]) -> list[Record]:
    """Records of one parquet file.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is not parquet or lacks the columns of ``kind``.
    """
    fs, inner = fsspec.core.url_to_fs(path)
    with fs.open(inner, "rb") as file:
        try:
            found = pq.read_table(file)
        except pa.ArrowInvalid as error:
            raise ValueError(f"{path} is not a parquet file: {error}") from error
    missing = required(cast(type, kind)) - set(found.column_names)
    if missing:
        raise ValueError(f"{path} holds no {kind.__name__} records: it lacks the columns {', '.join(sorted(missing))}")
    return records(found.to_pylist(), kind)


def required(kind: type) -> set[str]:
    """The columns of a record class that have no default."""
    return {f.name for f in fields(kind) if f.default is MISSING}


def _parquet(data: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(data, sink, compression="zstd")
    return cast(bytes, sink.getvalue().to_pybytes())

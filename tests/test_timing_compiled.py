"""Baselines that are compiled once a task: what is kept, for whom, and what is not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kdata.record import Origin, Task
from kdata.verify.exchange.scratch import COMPILATION
from kdata.verify.timing.compiled import kept, key

ALL = ("eager", "compile", "max-autotune")
H200, OTHER = {"device": {"name": "NVIDIA H200"}}, {"device": {"name": "NVIDIA A100"}}


class Reference:
    """Its process, as far as it is asked here: what it was given, and what it leaves."""

    def __init__(self, folder: Path, leaves: bytes) -> None:
        folder.mkdir()
        self.folder, self.leaves, self.asked = folder, leaves, []  # type: ignore[var-annotated]
        self.bench = self

    def trust(self, question: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        self.asked.append(question["do"])
        if question["do"] == "remember":
            (self.folder / COMPILATION).write_bytes(self.leaves)
        return {"left": bool(self.leaves)}

    def read(self, name: str, most: int) -> bytes:
        return (self.folder / name).read_bytes()[:most]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KDATA_CACHE", str(tmp_path / "cache"))


def task(text: str) -> Task:
    return Task.make(text, "Model", Origin("local", "tests", "", "a.py"))


def run(tmp_path: Path, name: str, leaves: bytes, by: str) -> Reference:
    full = Reference(tmp_path / name, leaves)
    with kept(full, by):  # type: ignore[arg-type]
        full.asked.append("compile")
    return full


def test_a_second_run_of_a_task_gets_what_the_first_compiled(tmp_path: Path) -> None:
    by = key(task("x = 1"), "train", False, ALL, H200)
    assert run(tmp_path, "first", b"chosen", by).asked == ["compile", "remember"]
    second = run(tmp_path, "second", b"other", by)
    assert second.asked == ["recall", "compile"]
    assert (second.folder / COMPILATION).read_bytes() == b"chosen"


def test_other_tasks_modes_tracks_and_devices_compile_anew(tmp_path: Path) -> None:
    keys = {key(task("x = 1"), "train", False, ALL, H200), key(task("x = 2"), "train", False, ALL, H200),
            key(task("x = 1"), "eval", False, ALL, H200), key(task("x = 1"), "train", True, ALL, H200),
            key(task("x = 1"), "train", False, ALL, OTHER), key(task("x = 1"), "train", False, ALL[:2], H200)}  # fmt: skip
    assert len(keys) == 6
    for number, by in enumerate(keys):
        assert run(tmp_path, str(number), b"chosen", by).asked == ["compile", "remember"]


def test_what_failed_or_left_nothing_is_not_kept(tmp_path: Path) -> None:
    by, full = key(task("x = 1"), "train", False, ALL, H200), Reference(tmp_path / "fails", b"half")
    with pytest.raises(RuntimeError), kept(full, by):  # type: ignore[arg-type]
        raise RuntimeError
    assert full.asked == []
    assert run(tmp_path, "nothing", b"", by).asked == ["compile", "remember"]
    assert run(tmp_path, "again", b"chosen", by).asked == ["compile", "remember"]


def test_without_a_place_each_run_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("KDATA_CACHE", str(tmp_path / "file"))
    full = Reference(tmp_path / "full", b"chosen")
    with kept(full, key(task("x = 1"), "train", False, ALL, H200)) as lost:  # type: ignore[arg-type]
        assert "no place" in lost
    assert full.asked == []

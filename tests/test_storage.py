"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, cast

import pytest

from kdata import cache, storage


def test_a_link_leads_on_and_what_it_leads_to_is_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    storage.put(str(tmp_path / "link"), b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "new"


@pytest.mark.parametrize(("mask", "mode"), [(0o077, 0o600), (0o022, 0o644)])
def test_who_may_read_a_file_is_what_the_user_says(tmp_path: Path, mask: int, mode: int) -> None:
    before = os.umask(mask)
    try:
        storage.put(str(tmp_path / "new" / "file"), b"")
    finally:
        os.umask(before)
    assert (tmp_path / "new" / "file").stat().st_mode & 0o777 == mode


def test_what_could_not_be_written_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        cache.put(tmp_path / "file", cast("Any", 3))
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="directory"):
        storage.put(str(tmp_path / "folder"), b"")
    assert [p.name for p in tmp_path.iterdir()] == ["folder"]


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    """As ``/dev/stdout`` is one, to which ``kdata align --out`` may be told to write."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    storage.demand_file(str(pipe))
    storage.put(str(pipe), b"new")
    assert os.read(reader, 9) == b"new" and pipe.is_fifo()
    os.close(reader)

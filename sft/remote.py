"""A model behind an OpenAI-compatible server, such as vLLM's, llama.cpp's, SGLang's, or ``transformers serve``.

Tried with vLLM 0.32.0 (``vllm serve``): the same texts for the same seeds as ``sft.offline`` makes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import tenacity
from huggingface_hub import InferenceClient, get_session
from huggingface_hub.errors import HfHubHTTPError, HTTPError  # type: ignore[attr-defined] # httpx's or httpx2's

from kdata.record import Dropped
from sft.answers import GENERATE, Answer, Request, Sampling

CONCURRENT = 32
SECONDS = 1800.0  # for one answer, waiting in the server's queue included
TRIES = 8  # with the pauses some two minutes: limits of so many requests a minute pass by then
LONGEST = 300.0  # seconds of a pause that a server may ask for
BUSY = {408, 409, 425, 429, 500, 502, 503, 504}
REFUSED = {400, 413, 422}  # this prompt, not the server
# These servers sample as the model's generation_config.json says, unless each request says otherwise; it is in no
# parameter of OpenAI's, and servers that have none of these may refuse them.
OWNERS = {"vllm", "sglang"}
NEUTRAL = {"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}


@dataclass
class Server:
    """The model that a server has, or one of its models by name."""

    url: str
    served: str | None = None
    batch: int = CONCURRENT
    apart: bool = False
    key: str = field(default_factory=lambda: os.environ.get("OPENAI_API_KEY", ""), repr=False)

    def __post_init__(self) -> None:
        self.url = self.url.rstrip("/")

    @property
    def name(self) -> str:
        """Address and model."""
        return f"{self.model} at {self.url}"

    @cached_property
    def model(self) -> str:
        """The server's name for the model.

        Raises:
            ValueError: the server does not answer, or has several and none is chosen.
        """
        found = [str(m["id"]) for m in self._models]
        if self.served in found or (self.served and not found):
            return str(self.served)
        if self.served is None and len(found) == 1:
            return found[0]
        raise ValueError(f"{self.url} serves {', '.join(found) or 'no model'}: choose one with --served-model")

    def answer(self, requests: Sequence[Request], sampling: Sampling) -> Iterator[Answer | Dropped]:
        """Ask for all at once; the server batches."""
        with ThreadPoolExecutor(self.batch) as threads:
            yield from threads.map(lambda request: self._answer(request, sampling), requests)

    @cached_property
    def _models(self) -> list[dict[str, Any]]:
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        try:
            reply = get_session().get(f"{self.url}/models", headers=headers, timeout=60.0)
            models: list[dict[str, Any]] = reply.raise_for_status().json()["data"]
        except (HTTPError, ValueError, LookupError, TypeError) as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise ValueError(f"{self.url} is no OpenAI-compatible server that answers: {reason[:200]}") from error
        return models

    def _answer(self, request: Request, sampling: Sampling) -> Answer | Dropped:
        try:
            return _read(self._ask(request, sampling), request, self.name)
        except HfHubHTTPError as error:
            if error.response.status_code not in REFUSED:
                raise ValueError(f"{self.url} does not answer: {_line(error)}") from error
            return Dropped(GENERATE, request.id, "the server refuses the prompt", _line(error))
        except HTTPError as error:
            raise ValueError(f"{self.url} does not answer: {_line(error)}") from error
        except (ValueError, LookupError, TypeError, AttributeError) as error:  # JSON of another form, or none
            raise ValueError(f"{self.url} answers in another form than OpenAI's: {_line(error)}") from error

    def _ask(self, request: Request, sampling: Sampling) -> Any:
        chosen: dict[str, Any] = asdict(sampling) | {"seed": request.seed, "model": self.model} | self._more(sampling)
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception(_passing), stop=tenacity.stop_after_attempt(TRIES),
            wait=_pause, reraise=True,
        )  # fmt: skip
        return retrying(self._client.chat_completion, [dict(m) for m in request.messages], **chosen)

    def _more(self, sampling: Sampling) -> dict[str, Any]:
        """What only some servers are asked for. vLLM refuses a prompt for more tokens than its whole context."""
        about: dict[str, Any] = next((m for m in self._models if m["id"] == self.model), {})
        if about.get("owned_by") not in OWNERS:
            return {}
        return {"max_tokens": min(sampling.max_tokens, about.get("max_model_len") or sampling.max_tokens),
                "extra_body": NEUTRAL}  # fmt: skip

    @cached_property
    def _client(self) -> InferenceClient:
        return InferenceClient(base_url=self.url, api_key=self.key or "none", timeout=SECONDS)


def _read(reply: Any, request: Request, name: str) -> Answer:
    """The answer in a server's reply; one without a text is empty."""
    choice = reply.choices[0]
    text = choice.message.content or ""
    if not isinstance(text, str):
        raise TypeError("the content is no text")
    tokens = reply.usage.completion_tokens if reply.usage else None
    return Answer(request.id, name, request.seed, text, choice.finish_reason or "", tokens)


def _pause(state: tenacity.RetryCallState) -> float:
    """Seconds to wait: longer each time, and as long as the server asks for."""
    error = state.outcome.exception() if state.outcome else None
    asked = error.response.headers.get("Retry-After", "") if isinstance(error, HfHubHTTPError) else ""
    wanted = min(float(asked), LONGEST) if asked.isdecimal() else 0.0  # it may be a date, too
    return max(wanted, tenacity.wait_exponential_jitter(1, 60)(state))


def _passing(error: BaseException) -> bool:
    """Whether asking again may help."""
    if isinstance(error, HfHubHTTPError):
        return error.response.status_code in BUSY
    return isinstance(error, HTTPError) and not isinstance(error, TimeoutError)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__

"""A server that answers oddly, or not at once: what is said of it, and how long it is waited for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import openai_stub
import pytest
from huggingface_hub.errors import HfHubHTTPError

from sft import remote
from sft.answers import Answer, Request, Sampling

REQUEST = Request(({"role": "user", "content": "?"},), 0)


def reply(content: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content}
    return {"id": "1", "choices": [{"index": 0, "message": message, "finish_reason": "length"}], "model": "stub"}


@pytest.mark.parametrize(
    "said", [{}, {"choices": []}, {"error": {"message": "overloaded"}}, reply([{"type": "text", "text": "a"}])]
)
def test_a_reply_of_another_form_is_told_in_one_line(said: dict[str, Any]) -> None:
    with openai_stub.serve(lambda prompt, seed: said) as server, pytest.raises(ValueError, match="another form"):
        list(remote.Server(server.url).answer([REQUEST], Sampling(0.8, 0.95, 8)))


def test_an_answer_without_a_text_is_empty() -> None:
    with openai_stub.serve(lambda prompt, seed: reply(None)) as server:
        (said,) = remote.Server(server.url).answer([REQUEST], Sampling(0.8, 0.95, 8))
    assert isinstance(said, Answer) and (said.text, said.finish) == ("", "length")


@pytest.mark.parametrize(("asked", "least", "most"), [("20", 20, 20), ("", 1, 3), ("soon", 1, 3), ("9999", 300, 300)])
def test_a_busy_server_is_given_the_time_it_asks_for(asked: str, least: float, most: float) -> None:
    response: Any = SimpleNamespace(status_code=429, headers={"Retry-After": asked}, request=None)
    error = HfHubHTTPError("busy", response=response)
    state: Any = SimpleNamespace(outcome=SimpleNamespace(exception=lambda: error), attempt_number=1)
    assert least <= remote._pause(state) <= most

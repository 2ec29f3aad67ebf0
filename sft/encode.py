"""Conversations as tokens: what the model will see when it is asked, and what it should say then."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sft.data import Example

IGNORED = -100  # label of a token that is not learnt
# For base models, which have no template: turns apart by a blank line, answers ended by the end-of-text token.
PLAIN_TEMPLATE = (
    "{% for m in messages %}{{ m['content'] }}{{ eos_token if m['role'] == 'assistant' else '' }}\n\n{% endfor %}"
)
PROBE = "kdata probe"


@dataclass(frozen=True, slots=True)
class Encoded:
    """One example as token ids; ``labels`` are ``IGNORED`` up to the answer."""

    ids: list[int]
    labels: list[int]

    @property
    def learnt(self) -> int:
        """Tokens of the answer, its end included."""
        return sum(1 for label in self.labels if label != IGNORED)


class Encoder:
    """A tokenizer with its chat template.

    The prompt is what generation starts from, token for token; the answer follows, with the end of the turn as the
    template writes it, so that the model learns to stop.  That end becomes the tokenizer's end-of-text token: base
    models may have another (Qwen2.5's do), and no generator would stop where answers were taught to.
    """

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        if tokenizer.chat_template is None:
            # What was pretrained with a token at the beginning of each text (Llama) expects it.
            begins = tokenizer.bos_token_id is not None and tokenizer("?")["input_ids"][0] == tokenizer.bos_token_id
            tokenizer.chat_template = ("{{ bos_token }}" if begins else "") + PLAIN_TEMPLATE
        self.end = self._end_of_turn()
        if len(self._ids(self.end)) == 1:
            tokenizer.eos_token = self.end

    def __call__(self, example: Example) -> Encoded:
        """Encode one example."""
        given = self._ids(self._text([dict(m) for m in example.messages], True))
        learnt = self._ids(example.answer + self.end)
        return Encoded(given + learnt, [IGNORED] * len(given) + learnt)

    def _end_of_turn(self) -> str:
        """What the template puts after an answer, up to the layout before the next turn."""
        asked = [{"role": "user", "content": "?"}, {"role": "assistant", "content": PROBE}]
        return self._text(asked, False).rpartition(PROBE)[2].strip() or str(self.tokenizer.eos_token)

    def _text(self, messages: list[dict[str, Any]], ask: bool) -> str:
        return str(self.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=ask))

    def _ids(self, text: str) -> list[int]:
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])


def encode(examples: Iterable[Example], encoder: Encoder, max_length: int) -> tuple[list[Encoded], int]:
    """Examples as tokens, and how many were left out because they are longer than ``max_length``.

    An answer cut short would teach the model not to end.
    """
    cache: dict[str, Encoded] = {}
    kept, long = [], 0
    for example in examples:
        if example.id not in cache:
            cache[example.id] = encoder(example)
        found = cache[example.id]
        if len(found.ids) <= max_length:
            kept.append(found)
        else:
            long += 1
    return kept, long

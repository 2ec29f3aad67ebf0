"""Models of transformers whose users take their answers by name: our configurations leave them tuples otherwise."""

from __future__ import annotations

import re

NOTE = "its models answer with what goes by name"
WANTED = re.compile(
    r"tuple indices must be integers or slices, not str"
    r"|'tuple' object has no attribute '(last_hidden_state|pooler_output|hidden_states|logits|loss|attentions)'"
)
_SETTINGS = ('"use_return_dict": False', '"return_dict": False')  # as our own stand-in for a configuration has them


def named_answers(source: str) -> str:
    """The text with such answers; the same text where it has no configuration of ours."""
    for setting in _SETTINGS:
        source = source.replace(setting, setting.replace("False", "True"))
    return source

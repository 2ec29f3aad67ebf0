"""Examples in words: what is asked, what is answered, and what is read from an answer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from factories import pair, task

from kdata.record import Pair
from sft.chat import Unreadable, answer, parse, prompt

KERNEL = "class ModelNew:\n    pass\n"


def made(source: str, reasoning: str = "") -> Pair:
    given = pair()
    return replace(given, candidate=replace(given.candidate, source=source, reasoning=reasoning))


def fence(source: str) -> str:
    return f"```python\n{source}```\n"


def test_an_answer_reads_back_as_its_program() -> None:
    given = made('"""```\nfenced in a docstring\n```"""\nclass ModelNew:\n    pass\n')
    assert parse(answer(given)) == given.candidate.source


def test_reasoning_comes_before_the_program_and_is_left_out_on_request() -> None:
    given = made(KERNEL, "```python\nclass ModelNew: wrong\n```")
    assert answer(given).startswith("<think>\n```python")
    assert parse(answer(given)) == KERNEL
    assert answer(given, reasoning=False) == fence(KERNEL).strip()


def test_the_prompt_holds_the_task_and_names_its_class() -> None:
    asked = task()
    (message,) = prompt(asked)
    assert asked.source.strip() in message["content"]
    assert f"`{asked.entry_point}`" in message["content"]
    assert "CUDA" in prompt(asked, "cuda")[0]["content"]
    with pytest.raises(ValueError, match="no prompt for rust"):
        prompt(asked, "rust")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("I cannot do that.", "no fenced block"),
        ("", "no fenced block"),
        ("```python\nclass ModelNew:\n    pass", "answer cut off"),
        ("```python\n", "answer cut off"),
        ("<think>\nLet me see", "reasoning without an end"),
        (fence("class Model:\n    pass\n"), "no class ModelNew"),
        (fence("class ModelNew:\n"), "not Python"),
        (fence("def f():\n    class ModelNew:\n        pass\n"), "no class ModelNew"),
    ],
)
def test_unreadable_answers_say_why(text: str, reason: str) -> None:
    found = parse(text)
    assert isinstance(found, Unreadable)
    assert found.reason == reason


def test_the_last_program_with_the_class_counts() -> None:
    use = "ModelNew()\n"
    first = "class ModelNew:\n    first = True\n"
    assert parse(f"Try\n{fence(first)}no, better:\n{fence(KERNEL)}and:\n{fence(use)}") == KERNEL
    named = "class M:\n    pass\nModelNew = M\n"
    assert parse(f"thoughts</think>\n{fence(named)}") == named

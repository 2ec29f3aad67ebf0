"""Examples in words: what is asked, what is answered, and what is read from an answer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from factories import pair, task

from kdata.record import Pair, Task, digest
from sft.chat import Unreadable, answer, parse, prompt

TWO_CLASSES = """
class GateBase(nn.Module):
    name = 'Gate'


class Gate(nn.Module):
    def __init__(self):
        super(Gate, self).__init__()
        self.inner = layers.Gate()
"""
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
    asked = Task.make(TWO_CLASSES.replace("Gate", "Model"), "Model", task().origin)
    (message,) = prompt(asked)
    assert asked.source.strip() in message["content"]
    assert "`Model`" in message["content"]
    assert "CUDA" in prompt(asked, "cuda")[0]["content"]
    with pytest.raises(ValueError, match="no prompt for rust"):
        prompt(asked, "rust")


def test_models_are_trained_on_these_very_words() -> None:
    asked = prompt(Task.make(TWO_CLASSES, "Gate", task().origin))[0]["content"]
    assert digest(asked) == "d22557b432435f72f8fdfea847fcf0e3"


def test_cuda_is_asked_for_in_the_form_that_is_judged() -> None:
    asked = prompt(task(), "cuda")[0]["content"]
    assert "triton" not in asked.lower().replace(task().source.lower(), "")
    assert all(word in asked for word in ("load_inline", "cuda_sources", "cpp_sources", "functions", "__global__"))
    said = "The kernel:\n```cpp\n__global__ void f() {}\n```\nThe program:\n" + fence('S = """void f();"""\n' + KERNEL)
    assert parse(said) == 'S = """void f();"""\n' + KERNEL


def test_the_class_of_a_task_is_called_model_where_that_name_is_free() -> None:
    origin = task().origin
    asked = prompt(Task.make(TWO_CLASSES, "Gate", origin))[0]["content"]
    assert "class Model(nn.Module)" in asked
    assert "super(Model, self)" in asked
    assert "class GateBase" in asked
    assert "layers.Gate()" in asked  # another's
    assert "name = 'Gate'" in asked  # a text is no name
    taken = TWO_CLASSES.replace("GateBase", "Model")
    assert "class Gate(nn.Module)" in prompt(Task.make(taken, "Gate", origin))[0]["content"]
    imported = f"from layers import Gate\n{TWO_CLASSES}"
    assert "class Gate(nn.Module)" in prompt(Task.make(imported, "Gate", origin))[0]["content"]
    assert "`Gate`" in prompt(Task.make("class Gate(:", "Gate", origin))[0]["content"]


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

"""The one place that words an example: the same prompt in training and in evaluation, and the way back from an answer.

``prompt`` and ``answer`` make the two sides of a conversation, ``parse`` reads what a model answered.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from dataclasses import dataclass
from itertools import pairwise
from typing import TypedDict

from markdown_it import MarkdownIt
from markdown_it.token import Token

from kdata.record import Pair, Task

MODEL = "Model"
THINK, END_OF_THINKING = "<think>", "</think>"
LANGUAGES = {"triton": "Triton", "cuda": "CUDA C++"}
MODULES = {
    "triton": "torch, triton and triton.language",
    "cuda": "torch, and compile with "
    "torch.utils.cpp_extension.load_inline(name, cpp_sources, cuda_sources, functions): cuda_sources holds "
    "the __global__ functions and the C++ functions that launch them, cpp_sources declares those "
    "that Python calls, and functions names them",
}
REQUEST = """\
Rewrite this PyTorch program with {language} kernels.

{task}

Write a class `ModelNew` with the constructor, the parameters and the buffers of `{entry_point}`, so that it takes its \
state_dict. Its `forward` takes the same inputs and returns the same results, for every size of the inputs; \
{language} kernels of your own compute them, not PyTorch's operators. Import only {modules}.

Answer with the whole program in one fenced block."""


class Message(TypedDict):
    """One turn of a conversation, in the form that chat templates take."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why no kernel program can be read from an answer: a short fixed phrase, and one line of detail."""

    reason: str
    detail: str = ""


def prompt(task: Task, language: str = "triton") -> list[Message]:
    """The conversation up to the model's turn: one message of the user.

    The task's class is called ``Model``, as in KernelBench, where the text has no other use for that name: a model that
    has learnt other names only answers with a second ``class Model``.

    Raises:
        ValueError: the language is not one of ``LANGUAGES``.
    """
    if language not in LANGUAGES:
        raise ValueError(f"no prompt for {language}: choose one of {', '.join(LANGUAGES)}")
    source, entry_point = _named_model(task)
    content = REQUEST.format(
        language=LANGUAGES[language], task=_fenced(source), entry_point=entry_point, modules=MODULES[language],
    )  # fmt: skip
    return [Message(role="user", content=content)]


def _named_model(task: Task) -> tuple[str, str]:
    """The task's text with its class called ``Model``, and what the class is called.

    A class ``LayerNorm`` may hold an ``nn.LayerNorm``: attributes keep their names.
    """
    lines = list(io.StringIO(task.source))
    try:
        tokens = list(tokenize.generate_tokens(iter(lines).__next__))
    except (tokenize.TokenError, SyntaxError):  # others' data may be no Python
        return task.source, task.entry_point
    own = [t for before, t in pairwise(tokens) if t.string == task.entry_point and before.string != "."]
    if any(t.string == MODEL for t in tokens) or any(t.line.lstrip().startswith(("import ", "from ")) for t in own):
        return task.source, task.entry_point
    for token in reversed(own):
        (row, start), (_, end) = token.start, token.end
        lines[row - 1] = lines[row - 1][:start] + MODEL + lines[row - 1][end:]
    return "".join(lines), MODEL


def answer(pair: Pair, reasoning: bool = True) -> str:
    """What the model should say: its maker's reasoning, where there is one, then the program in one fenced block."""
    thoughts = pair.candidate.reasoning.strip() if reasoning else ""
    thinking = f"{THINK}\n{thoughts}\n{END_OF_THINKING}\n\n" if thoughts else ""
    return thinking + _fenced(pair.candidate.source)


def parse(text: str) -> str | Unreadable:
    """The kernel program of an answer, or why there is none.

    Of several fenced blocks the last that defines ``ModelNew`` counts. Whether the program is right is not looked at.
    """
    said = _after_thinking(text)
    if said is None:
        return Unreadable("reasoning without an end")
    blocks = [t for t in MarkdownIt().parse(said) if t.type == "fence"]
    if not blocks:
        return Unreadable("no fenced block")
    if not _closed(blocks[-1], said):
        return Unreadable("answer cut off")
    return _program([b.content for b in blocks])


def _program(sources: list[str]) -> str | Unreadable:
    """The last of these programs that defines ModelNew."""
    problem = Unreadable("no class ModelNew")
    for source in reversed(sources):
        try:
            body = ast.parse(source).body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            problem = Unreadable("not Python", " ".join(str(error).split()))
            continue
        if any(_defines(statement) for statement in body):
            return source
    return problem


def _defines(statement: ast.stmt) -> bool:
    """Whether a statement at the top of a program gives ModelNew a value."""
    if isinstance(statement, ast.ClassDef):
        return statement.name == "ModelNew"
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return any(isinstance(t, ast.Name) and t.id == "ModelNew" for t in targets)


def _after_thinking(text: str) -> str | None:
    """The answer without its reasoning; None where that never ends. Templates may have opened it in the prompt."""
    before, end, after = text.partition(END_OF_THINKING)
    if end:
        return after
    return None if THINK in before else text


def _closed(block: Token, text: str) -> bool:
    """Whether a block ends with its own fence, not with the text."""
    assert block.map is not None
    last = text.splitlines()[block.map[1] - 1].strip() if block.map[1] - block.map[0] > 1 else ""
    return len(last) >= len(block.markup) and set(last) == set(block.markup)


def _fenced(source: str) -> str:
    """Python text in a fence that is longer than any in it."""
    longest = max((len(run) for run in re.findall(r"`{3,}", source)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}python\n{source.strip()}\n{fence}"

"""Files of which a part is no Python 3: all the rest of them is read, as it may well be what is wanted."""

from __future__ import annotations

import ast
import re

MAX_MENDED = 50  # places of one file
_FORMER_PRINT = re.compile(r"print\b(?!\s*\()[^;\\]*$")
_FORMER_EXCEPT = re.compile(r"^(\s*except\s+[\w.()]+(?:\s*,\s*[\w.]+\))?)\s*,\s*(\w+)\s*:")
_BEFORE = re.compile(r"on line (\d+)$")  # "expected an indented block after 'if' statement on line 131"
# A line that begins a statement of the top level: no closing bracket, no other branch, no mark of a merge.
_BEGINS = re.compile(r"(?!(?:else|elif|except|finally)\b|<<<<<<<|=======|>>>>>>>)[^\s#)\]}]")


def readable(text: str) -> tuple[str, ast.Module, str]:
    """The text without what does not parse in it, on the same lines; its tree; the first error, "" for none.

    Python 2's prints go, as a task prints nothing; else the statement of the top level goes that the error is in,
    a whole class or function.

    Raises:
        SyntaxError: nothing, or hardly anything, of it parses.
        ValueError, RecursionError, MemoryError: as ``ast.parse`` does.
    """
    first: SyntaxError | None = None
    lines: list[str] = []
    for _ in range(MAX_MENDED):
        try:
            tree = ast.parse(text)
        except SyntaxError as error:
            first = first or error
            lines = lines or text.split("\n")
            if not _mend(lines, error):
                raise first from None
            text = "\n".join(lines)
        else:
            if first is not None and not any(map(str.strip, lines)):
                raise first
            return text, tree, f"{type(first).__name__}: {first}" if first else ""
    assert first is not None
    raise first


def _mend(lines: list[str], error: SyntaxError) -> bool:
    """Take the place of an error out of the lines; False where there is nothing left to take."""
    named = _BEFORE.search(error.msg)
    at = min(int(named[1]) if named else error.lineno or 1, len(lines)) - 1
    column = max(0, (error.offset or 1) - 1)
    if _FORMER_PRINT.match(lines[at][column:]):
        lines[at] = lines[at][:column] + "pass"
        return True
    if (said := _FORMER_EXCEPT.sub(r"\1 as \2:", lines[at])) != lines[at]:
        lines[at] = said
        return True
    start = next((n for n in range(at, -1, -1) if _BEGINS.match(lines[n])), 0)
    end = next((n for n in range(at + 1, len(lines)) if _BEGINS.match(lines[n])), len(lines))
    while start and lines[start - 1].startswith("@"):
        start -= 1
    found = any(map(str.strip, lines[start:end]))
    lines[start:end] = [""] * (end - start)
    return found

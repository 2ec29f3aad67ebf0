"""Files of which a part is no Python 3: all the rest of them is read, as it may well be what is wanted."""

from __future__ import annotations

import ast
import re

MAX_MENDED = 50  # places of one file
_FORMER_PRINT = re.compile(r"print\b(?!\s*\()(.*)$")
_FORMER_EXCEPT = re.compile(r"^(\s*except\s+[\w.()]+(?:\s*,\s*[\w.]+\))?)\s*,\s*(\w+)\s*:")
_BEFORE = re.compile(r"on line (\d+)$")  # "expected an indented block after 'if' statement on line 131"
# A line that begins a statement of the top level: no closing bracket, no other branch, no mark of a merge.
_BEGINS = re.compile(r"(?!(?:else|elif|except|finally)\b|<<<<<<<|=======|>>>>>>>)[^\s#)\]}]")
_DEFINES = re.compile(r"^(?:async\s+def|def|class)\s+(\w+)", re.M)
_MAIN = re.compile(r"if\s+\(?\s*__name__\b")
_BLOCK = re.compile(r"(?:if|for|while|with|try)\b")


def readable(text: str) -> tuple[str, ast.Module, str]:
    """The text without what does not parse in it, on the same lines; its tree; the first error, "" for none.

    Python 2's prints go, as a task prints nothing; else the statement of the top level goes that the error is in,
    a whole class or function.

    Raises:
        SyntaxError: nothing, or hardly anything, of it parses; or what does not may change what the rest means.
        ValueError, RecursionError, MemoryError: as ``ast.parse`` does.
    """
    first: SyntaxError | None = None
    lines, lost = list[str](), set[str]()
    for _ in range(MAX_MENDED):
        try:
            tree = ast.parse(text)
        except SyntaxError as error:
            first = first or error
            lines = lines or text.split("\n")
            if (gone := _mended(lines, error)) is None:
                raise first from None
            lost |= gone
            text = "\n".join(lines)
        else:
            if first is not None and (not any(map(str.strip, lines)) or not lost.isdisjoint(_bound(tree))):
                raise first
            return text, tree, f"{type(first).__name__}: {first}" if first else ""
    assert first is not None
    raise first


def _mended(lines: list[str], error: SyntaxError) -> set[str] | None:
    """Take the place of an error out of the lines: names that what goes may give values to.

    None where there is nothing left to take.
    """
    named = _BEFORE.search(error.msg)
    at = min(int(named[1]) if named else error.lineno or 1, len(lines)) - 1
    column = max(0, (error.offset or 1) - 1)
    if (said := _FORMER_PRINT.match(lines[at][column:])) and _is_whole(said[1]):
        lines[at] = lines[at][:column] + "pass"
        return set()
    if (now := _FORMER_EXCEPT.sub(r"\1 as \2:", lines[at])) != lines[at]:
        lines[at] = now
        return set()
    start = next((n for n in range(at, -1, -1) if _BEGINS.match(lines[n])), 0)
    end = next((n for n in range(at + 1, len(lines)) if _BEGINS.match(lines[n])), len(lines))
    while start and lines[start - 1].startswith("@"):
        start -= 1
    gone = "\n".join(lines[start:end])
    lines[start:end] = [""] * (end - start)
    return _given(gone) if gone.strip() else None


def _is_whole(printed: str) -> bool:
    """Whether what is printed ends where its line does: else the rest of it would be read as something of its own."""
    try:
        ast.parse(f"({printed}\n)")
    except SyntaxError:
        return False
    return True


def _given(statement: str) -> set[str]:
    """Names that a statement of the top level may give a value to, or change what they hold."""
    if _MAIN.match(statement):
        return set()
    if defined := _DEFINES.search(statement):
        return {defined[1]}
    names = re.findall(r"[^\W\d]\w*", statement)
    return {*names} if _BLOCK.match(statement) else {*names[:1]}


def _bound(tree: ast.Module) -> set[str]:
    """Names that the top level of a text defines, or gives values to."""
    found = set[str]()
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(statement.name)
        else:
            found |= {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return found

"""Edits to Python text by the positions of its syntax tree, so that layout and comments survive."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable, Container
from dataclasses import dataclass, field

from kdata.task import is_future
from sources.text.scope import nodes

BLOCKS = ("body", "orelse", "finalbody")  # fields of nodes that hold statements


class RewriteError(ValueError):
    """The text at a node's position is not what the node says (nodes inside f-strings have no true positions)."""


@dataclass(slots=True)
class Text:
    """The bytes of a file, addressed as ``ast`` does: 1-based lines and UTF-8 columns."""

    data: bytes
    lines: list[int] = field(default_factory=list)  # where each line starts

    @staticmethod
    def of(text: str) -> Text:
        data = text.encode("utf-8", "surrogatepass")
        starts, at = [0, 0], 0
        while (at := data.find(b"\n", at) + 1) > 0:
            starts.append(at)
        return Text(data, starts)

    def start(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword) -> int:
        return self.lines[node.lineno] + node.col_offset

    def end(self, node: ast.expr | ast.stmt | ast.arg) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.lines[node.end_lineno] + node.end_col_offset

    def line_end(self, at: int) -> int:
        end = self.data.find(b"\n", at)
        return len(self.data) if end < 0 else end


@dataclass(slots=True)
class Edits:
    """Replacements of byte ranges of one text; of two that overlap the one that starts first, or is longer, holds."""

    text: Text
    changes: list[tuple[int, int, bytes]] = field(default_factory=list)

    def replace(self, start: int, end: int, new: str) -> None:
        self.changes.append((start, end, new.encode()))

    def rename(self, node: ast.Name | ast.Attribute, new: str) -> None:
        """Replace a name, or a whole dotted chain, by another name.

        Raises:
            RewriteError: the node's position is wrong.
        """
        start, end = self.text.start(node), self.text.end(node)
        if re.sub(rb"\s", b"", self.text.data[start:end]).decode() != ast.unparse(node):
            raise RewriteError(f"no true position for {ast.unparse(node)}")
        self.replace(start, end, new)

    def remove(self, statement: ast.stmt, instead: str = "") -> None:
        """Take a statement out with its decorators and the comments right above, or put ``instead`` in its place."""
        start, end = extent(self.text, statement)
        line = self.text.data.rfind(b"\n", 0, start) + 1
        alone = not self.text.data[line:start].strip() and not self.text.data[end : self.text.line_end(end)].strip()
        if instead or not alone:
            self.replace(start, end, instead or "pass")
        else:
            self.replace(comments_above(self.text, line), self.text.line_end(end) + 1, "")

    def cut(self, statement: ast.stmt) -> str:
        """The edited text of a top-level statement, with the comments right above it."""
        start, end = extent(self.text, statement)
        line = self.text.data.rfind(b"\n", 0, start) + 1
        if not self.text.data[line:start].strip():
            start = comments_above(self.text, line)
        rest = self.text.data[end : self.text.line_end(end)]
        if rest.lstrip().startswith(b"#"):
            end = self.text.line_end(end)
        return textwrap.dedent(_tidy(self._apply(start, end)))

    def whole(self) -> str:
        """The edited text."""
        return self._apply(0, len(self.text.data) + 1)  # what is put behind the last byte, too

    def parsed(self) -> str:
        """The edited text, or the text as it was: for rules that may meet a layout that they do not foresee."""
        changed = self.whole()
        try:
            ast.parse(changed)
        except SyntaxError:
            return self.text.data.decode("utf-8", "surrogatepass")
        return changed

    def _apply(self, start: int, end: int) -> str:
        out, at = [], start
        for first, last, new in sorted(self.changes, key=lambda c: (c[0], -c[1])):
            if first < at or first >= end:
                continue
            out += [self.text.data[at:first], new]
            at = min(last, end)  # removing the last statement of a block takes the line's end with it
        return b"".join([*out, self.text.data[at:end]]).decode("utf-8", "surrogatepass")


def first_import(tree: ast.Module) -> ast.Import | ast.ImportFrom | None:
    """The first import of a file, before which another may stand."""
    return next((s for s in tree.body if isinstance(s, ast.Import | ast.ImportFrom) and not is_future(s)), None)


def extent(text: Text, statement: ast.stmt) -> tuple[int, int]:
    """Byte range of a statement with its decorators."""
    start = text.start(statement)
    for decorator in getattr(statement, "decorator_list", []):
        start = min(start, text.data.rfind(b"@", 0, text.start(decorator)))
    return start, text.end(statement)


def comments_above(text: Text, line: int) -> int:
    """Where the block of comment lines right above the line that starts at ``line`` starts."""
    while line > 0:
        above = text.data.rfind(b"\n", 0, line - 1) + 1
        if not text.data[above:line].lstrip().startswith(b"#"):
            break
        line = above
    return line


def remove_statements(
    edits: Edits, root: ast.AST, unwanted: Callable[[ast.stmt], bool], refused: Container[int] = ()
) -> None:
    """Remove the unwanted statements of every block under ``root``; an emptied block becomes ``pass``.

    One whose statements are ``refused``, by id, becomes an error: the task is not to enter it.
    """
    for node in nodes(root):
        for block in (getattr(node, name, None) for name in BLOCKS):
            if not isinstance(block, list):
                continue
            out = [s for s in block if isinstance(s, ast.stmt) and unwanted(s)]
            for i, statement in enumerate(out):
                instead = "raise NotImplementedError" if id(statement) in refused else "pass"
                edits.remove(statement, instead if len(out) == len(block) and i == 0 else "")


def without_docstrings(source: str) -> str:
    """A text without what its functions and classes say of themselves."""
    edits = Edits(Text.of(source))
    for node in nodes(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and ast.get_docstring(node, False):
            edits.remove(node.body[0], "pass" if len(node.body) == 1 else "")
    return edits.whole()


def _tidy(text: str) -> str:
    """No runs of blank lines, none at a block's start, no blanks at a line's end."""
    text = re.sub(r"[ \t]+\n", "\n", text)
    text = re.sub(r"\n{3,}(?=[ \t])", "\n\n", text)
    return re.sub(r":\n{2,}(?=[ \t])", ":\n", text).rstrip()


def hint_end(text: Text, start: int, hint: ast.expr) -> int:
    """Where a type hint whose colon or arrow is at ``start`` ends, parentheses around it included."""
    end = text.end(hint)
    for _ in range(text.data.count(b"(", start, text.start(hint))):
        end = text.data.index(b")", end) + 1
    return end


def joined(body: list[str]) -> str:
    """Two blank lines around definitions, none between the lines of a run of constants."""
    out = ""
    for previous, text in zip(["", *body], body, strict=False):
        short = "\n" not in previous and "\n" not in text and previous
        out += ("\n" if short else "\n\n\n" if previous else "") + text
    return out

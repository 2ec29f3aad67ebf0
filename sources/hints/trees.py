"""Settings of settings, as a program assigns them, ``_C.MODEL.WIDTH = 64``, and as each of its configurations has them.

A name alone says little in them: what counts is the part that it is in.  And they belong together: of many files that
configure many networks, the one that names a class is that class's.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from sources.text.documents import Section
from sources.text.on_cpu import names_cuda

LEAST = 8  # assignments to parts of one record: fewer are no tree of settings
MAX_FILES = 200
_SHORT = 64  # characters of a word that may name a class


@dataclass(slots=True)
class Trees:
    """Values by the last two names that lead to them: ``MODEL.WIDTH``."""

    assigned: dict[str, dict[str, Counter[str]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(Counter))
    )
    files: list[tuple[frozenset[str], dict[str, str]]] = field(
        default_factory=list
    )  # the words of each, and its values

    def note(self, node: ast.AST) -> None:
        """Note a plain value that a part of a record is given."""
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        if not isinstance(target, ast.Attribute) or not isinstance(target.value, ast.Attribute):
            return
        root, *names = ast.unparse(target).split(".")
        assert isinstance(node, ast.Assign)
        if root != "self" and all(n.isidentifier() for n in names) and (text := _plain(node.value)):
            self.assigned[root][".".join(names[-2:])][text] += 1

    def add(self, sections: Iterable[Section]) -> None:
        """Note a configuration: its mappings."""
        every = list(sections)
        texts = {value for section in every for _, value in section}
        words = frozenset(t[1:-1] for t in texts if t[:1] in "'\"" and len(t) < _SHORT)
        values = {
            f"{part}.{name}": text for section in every for part, inner in section for name, text in _inner(inner)
        }
        if values and words and len(self.files) < MAX_FILES:
            self.files.append((words, values))

    def told(self, words: Collection[str], name: str) -> dict[str, str]:
        """Values of settings whose names are among the ``words`` that a class's text says; ``name`` is the class's."""
        known = {k: likeliest(c) for values in self.assigned.values() if len(values) >= LEAST
                 for k, c in values.items() if _among(k, words)}  # fmt: skip
        own = [{k: v for k, v in values.items() if _among(k, words)} for said, values in self.files if name in said]
        # the plainest one: with most that the others and the program have, too
        return known | max(own, key=lambda v: sum(1 if known.get(k, t) == t else -1 for k, t in v.items()), default={})

    def value(self, node: ast.expr) -> ast.expr | None:
        """What an expression reads out of a part of a record, ``cfg.SLOW.ALPHA``, as the program assigns it."""
        _, *names = ast.unparse(node).split(".")
        key = ".".join(names[-2:])
        text = self.told(names[-2:], "").get(key, "") if isinstance(node, ast.Attribute) and len(names) > 1 else ""
        return ast.parse(text, mode="eval").body if text else None


def likeliest(counts: Mapping[str, int]) -> str:
    """The most frequent value of a setting; of several the first, but none of 1, with which tests make networks."""
    return max(counts, key=lambda text: (counts[text], text != "1"))


def _among(key: str, words: Collection[str]) -> bool:
    return all(name in words for name in key.split("."))


def _plain(node: ast.expr) -> str:
    """A value as an expression, "" where it is none that is known, or nothing."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return ""
    return "'cpu'" if names_cuda(value) else repr(value) if value not in (None, "", {}) else ""


def _inner(text: str) -> Iterator[tuple[str, str]]:
    """Names and plain values of a mapping that is an expression."""
    for name, value in ast.literal_eval(text).items() if text[:1] == "{" else ():
        if isinstance(name, str) and name.isidentifier() and value not in (None, "", {}):
            tuple_ = isinstance(value, str) and value[:1] == "(" and _plain(_parsed(value))  # YAML has none
            yield name, tuple_ or ("'cpu'" if names_cuda(value) else repr(value))


def _parsed(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return ast.Constant(None)

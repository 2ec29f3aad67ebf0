"""Leaving out of a text what nothing needs that is wanted of it."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from sources.text.registries import handed_on, stored
from sources.text.rewrite import Edits, Text
from sources.text.scope import reads, root_of, walk


def pruned(source: str, wanted: Iterable[str]) -> str:
    """A cut without the definitions that the ``wanted`` expressions, and what these need, do not name."""
    wanted = [*wanted]
    tree = ast.parse(source)
    text, binds, needs = Text.of(source), {}, {}
    stores = {s.name: {*stored(s), *handed_on(s)} for s in tree.body if isinstance(s, ast.FunctionDef)}
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            by = {n.id for d in statement.decorator_list for n in walk(d) if isinstance(n, ast.Name)}
            binds[id(statement)] = {statement.name, *_registers(statement)}.union(*(stores.get(n, ()) for n in by))
            needs[id(statement)] = {n.id for n in reads(statement).names}
    kept: set[str] = {n for e in wanted for n in re.findall(r"[^\W\d]\w*", e)}
    for statement in tree.body:
        if id(statement) not in binds:
            kept |= {n.id for n in walk(statement) if isinstance(n, ast.Name)}
    while True:
        more = kept.union(*(needs[i] for i, names in binds.items() if names & kept))
        if more == kept:
            break
        kept = more
    if "globals" in kept:  # by which definitions are looked up that nothing names
        return source
    edits = Edits(text)
    for statement in tree.body:
        if id(statement) in binds and not binds[id(statement)] & kept:
            edits.remove(statement)
    return re.sub(r"\n{4,}", "\n\n\n", _without_unused_imports(edits.whole(), wanted) if edits.changes else source)


def _without_unused_imports(source: str, wanted: Iterable[str]) -> str:
    """The text without the imports of which no word says a name, in it or in the ``wanted`` expressions."""
    words = Counter(re.findall(r"[^\W\d]\w*", " ".join([source, *wanted, "torch"])))  # which makes the inputs
    edits = Edits(Text.of(source))
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.Import | ast.ImportFrom) and getattr(statement, "module", "") != "__future__":
            names = [(a.asname or a.name).split(".")[0] for a in statement.names]
            if all(words[name] == 1 for name in names):
                edits.remove(statement)
    return edits.whole()


def _registers(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Iterator[str]:
    """Names of what decorators put a definition into: where that is needed, so may be the definition."""
    for decorator in node.decorator_list:
        root = root_of(decorator.func if isinstance(decorator, ast.Call) else decorator)
        if isinstance(root, ast.Name) and (root.id.isupper() or "." in ast.unparse(decorator)):
            yield root.id

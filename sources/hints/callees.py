"""What a package's own functions call by a parameter, as its defaults tell: ``conv=default_conv``."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator

from sources.hints.said import said
from sources.hints.spelling import required
from sources.hints.uses import uses
from sources.text.symbols import Package
from sources.text.targets import Here


class Callees:
    """Defaults that name functions and classes of the package, by the names of their parameters."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self._named: dict[str, list[tuple[str, ast.Name | ast.Attribute]]] = defaultdict(list)

    def note(self, path: str, node: ast.AST) -> None:
        """Keep the defaults of a function that are names."""
        for name, default, _ in said(node) if isinstance(node, ast.FunctionDef) else ():
            if isinstance(default, ast.Name | ast.Attribute):
                self._named[name].append((path, default))

    def of(self, node: ast.ClassDef) -> Iterator[tuple[str, Here]]:
        """What a class may call by its required parameters: what most of the others do, where they name something."""
        used = uses(node)
        for name in (name for name, _ in required(node) if name in used and used[name].called):
            meant = (self.package.whole(path, default) for path, default in self._named.get(name, ()))
            found = Counter(target for target in meant if isinstance(target, Here))
            yield from ((name, here) for here, _ in found.most_common(1))

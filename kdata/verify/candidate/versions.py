"""How often a tensor was changed, as candidates read it: numbers that are known again for such. In children only.

Who packs weights keeps the version that he packed, to see whether it is still the weights' own. After a call with other
weights he keeps another one, as what he packed is other, too; that is no count of calls.
"""

from __future__ import annotations

import ast
from typing import Any

NAME = "how often changed"  # no text can say it


class Version(int):
    """A tensor's version."""

    __slots__ = ()


def marked(tree: ast.Module) -> ast.Module:
    """The text with its readings of versions by way of a call."""
    _Marking().visit(tree)
    return ast.fix_missing_locations(tree)


def read(thing: Any) -> Any:
    """What ``thing._version`` is."""
    found = thing._version
    return Version(found) if type(found) is int else found


class _Marking(ast.NodeTransformer):
    """Puts calls in the place of attributes."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """An attribute, or the call that reads it."""
        self.generic_visit(node)
        if node.attr != "_version" or not isinstance(node.ctx, ast.Load):
            return node
        return ast.copy_location(ast.Call(ast.Name(NAME, ast.Load()), [node.value], []), node)


NAMES = {NAME: read}

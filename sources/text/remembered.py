"""What was found out about a text, kept for others that ask; about a syntax tree, for as long as the tree itself."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from typing import TypeVar
from weakref import WeakKeyDictionary

Answer = TypeVar("Answer")


@functools.lru_cache(maxsize=4)
def parsed(text: str) -> ast.Module:
    """The tree of a program, one for all that look at it: who changes part of it changes a copy.

    Raises:
        SyntaxError: it does not parse.
    """
    return ast.parse(text)


def remembered(function: Callable[[ast.AST], Answer]) -> Callable[[ast.AST], Answer]:
    """The function, asked once of each tree.

    What is cut is parsed anew many times for one look each: a cache that held these trees was half of what cutting a
    package took.  An answer may hold what is inside its tree, and not the tree, which it would keep alive.
    """
    known: WeakKeyDictionary[ast.AST, Answer] = WeakKeyDictionary()

    @functools.wraps(function)
    def told(tree: ast.AST) -> Answer:
        try:
            return known[tree]
        except KeyError:
            answer = known[tree] = function(tree)
            return answer

    return told

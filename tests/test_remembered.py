"""What is remembered of a syntax tree is asked once, and goes when the tree goes."""

from __future__ import annotations

import ast
import gc
import weakref

from sources.text.on_cpu import respelled
from sources.text.remembered import remembered
from sources.text.scope import nodes
from sources.text.weights import left_out

LOADS = (
    "def make(pretrained):\n    net = Net().cuda()\n    if pretrained:\n        net.load_state_dict(torch.load('f'))\n"
)


def test_each_tree_is_asked_once() -> None:
    asked = list[ast.AST]()

    @remembered
    def size(tree: ast.AST) -> int:
        asked.append(tree)
        return len(ast.dump(tree))

    one, other = ast.parse("x = 1"), ast.parse("x = 1")
    assert size(one) == size(one) == size(other)
    assert asked == [one, other]  # trees that say the same are two


def test_no_answer_keeps_its_tree_alive() -> None:
    gc.collect()
    gc.disable()  # references alone decide
    try:
        tree = ast.parse(LOADS)
        assert nodes(tree)[0] is tree
        assert nodes(tree) == tuple(n for n in nodes(tree) if not isinstance(n, ast.expr_context))
        assert left_out(tree.body[0])
        assert not respelled(tree.body[0])
        gone = [weakref.ref(tree), weakref.ref(tree.body[0])]
        del tree
        assert [ref() for ref in gone] == [None, None]
    finally:
        gc.enable()

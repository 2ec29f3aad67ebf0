"""A task's text as it runs here: where a judge puts its tensors is the judge's to say, not the text's.

Many tasks draw their inputs by ``torch.randn(8, device="cuda")`` or end in ``.cuda()``. References run on the host too,
and are moved to a GPU whole.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

GPU = re.compile(r"cuda(:.*)?")


def on_host(text: str) -> ast.Module | str:
    """The text, or where it names a GPU its tree with the host in that place.

    Raises:
        SyntaxError: it is not Python.
    """
    if "cuda" not in text:
        return text
    tree = ast.parse(text, "<task>")
    return ast.fix_missing_locations(_Placing(tree).visit(tree))  # type: ignore[return-value]


def names_gpu(value: object) -> bool:
    """Whether a value is a string that names one."""
    return isinstance(value, str) and GPU.fullmatch(value) is not None


def moves(node: ast.AST) -> bool:
    """Whether it is a call like ``x.cuda()``."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "cuda"


def refuses(node: ast.AST) -> bool:
    """Whether a statement goes on for what it asks about, and for nothing else: ``assert x.is_cuda``."""
    if isinstance(node, ast.If):
        return any(block and isinstance(block[0], ast.Raise) for block in (node.body, node.orelse))
    return isinstance(node, ast.Assert)


def questions(node: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """What a statement or a conditional expression asks about where a tensor is, and the answer on a GPU."""
    if isinstance(node, ast.Assert | ast.If | ast.IfExp):
        for asked in ast.walk(node.test):
            if isinstance(asked, ast.Attribute) and asked.attr == "is_cuda":
                yield asked, True
            elif isinstance(asked, ast.Compare) and (kind := _compared(asked)):
                yield asked, (kind == "cuda") == isinstance(asked.ops[0], ast.Eq)


def _compared(node: ast.Compare) -> str:
    """The type of device that a tensor's is compared with; "": none is."""
    if len(node.ops) > 1 or not isinstance(node.ops[0], ast.Eq | ast.NotEq):
        return ""
    if not ast.unparse(node.left).endswith(".device.type"):
        return ""
    (other,) = node.comparators
    return str(other.value) if isinstance(other, ast.Constant) and other.value in ("cuda", "cpu") else ""


class _Placing(ast.NodeTransformer):
    def __init__(self, tree: ast.AST) -> None:
        """Of the questions about where tensors are those that refuse one get the answer that lets it through."""
        self._answers: dict[int, ast.expr] = {}
        for node in ast.walk(tree):
            for asked, on_gpu in questions(node):
                self._answers[id(asked)] = ast.copy_location(ast.Constant(on_gpu), asked) if refuses(node) else asked

    def visit(self, node: ast.AST) -> ast.AST:
        """A question, answered or as it is; else what becomes of the node."""
        return self._answers.get(id(node)) or super().visit(node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """``x.cuda()`` is ``x``; what is asked of ``torch.cuda`` is asked of it."""
        self.generic_visit(node)
        return node.func.value if moves(node) else node  # type: ignore[attr-defined]  # it is an Attribute

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        """``"cuda:0"`` is ``"cpu"``."""
        return ast.copy_location(ast.Constant("cpu"), node) if names_gpu(node.value) else node

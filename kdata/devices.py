"""A task's text as it runs here: where a judge puts its tensors is the judge's to say, not the text's.

Many tasks draw their inputs by ``torch.randn(8, device="cuda")`` or end in ``.cuda()``. References run on the host too,
and are moved to a GPU whole.
"""

from __future__ import annotations

import ast
import re

GPU = re.compile(r"cuda(:.*)?")


def on_host(text: str, name: str) -> ast.Module | str:
    """The text, or where it names a GPU its tree with the host in that place.

    ``name``: of the file, for errors.

    Raises:
        SyntaxError: it is not Python.
    """
    if "cuda" not in text:
        return text
    tree: ast.Module = ast.fix_missing_locations(_Placing().visit(ast.parse(text, name)))
    return tree


def names_gpu(value: object) -> bool:
    """Whether a value is a string that names one."""
    return isinstance(value, str) and GPU.fullmatch(value) is not None


def moves(node: ast.AST) -> bool:
    """Whether it is a call like ``x.cuda()``."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "cuda"


class _Placing(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.expr:
        """``x.cuda()`` is ``x``; what is asked of ``torch.cuda`` is asked of it."""
        self.generic_visit(node)
        return node.func.value if moves(node) else node  # type: ignore[attr-defined]  # it is an Attribute

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        """``"cuda:0"`` is ``"cpu"``."""
        return ast.copy_location(ast.Constant("cpu"), node) if names_gpu(node.value) else node

"""A task's text as it runs here: where a judge puts its tensors is the judge's to say, not the text's.

Many tasks draw their inputs by ``torch.randn(8, device="cuda")`` or end in ``.cuda()``. References run on the host too,
and are moved to a GPU whole.
"""

from __future__ import annotations

import ast
import re

GPU = re.compile(r"cuda(:\d+)?")


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


class _Placing(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.expr:
        """``x.cuda()`` is ``x``; what is asked of ``torch.cuda`` is asked of it."""
        self.generic_visit(node)
        method = isinstance(node.func, ast.Attribute) and node.func.attr == "cuda"
        return node.func.value if method else node  # type: ignore[attr-defined]  # it is an Attribute

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        """``"cuda:0"`` is ``"cpu"``."""
        named = isinstance(node.value, str) and GPU.fullmatch(node.value)
        return ast.copy_location(ast.Constant("cpu"), node) if named else node

"""What a file lends to a module that it imports, ``nn.MaskedLinear = MaskedLinear``, is its own wherever it is used."""

from __future__ import annotations

import ast
import re

from sources.text.rewrite import Edits, Text
from sources.text.scope import nodes

_LENDS = re.compile(r"(?m)^(nn|F|torch(\.nn)?(\.functional)?)\.(\w+) = \4$")


def with_lent(text: str, tree: ast.Module) -> str:
    """The text with such a name as it stands in the file in place of ``nn.MaskedLinear``."""
    lent = {f"{found[1]}.{found[4]}": found[4] for found in _LENDS.finditer(text)}
    if not lent:
        return text
    edits = Edits(Text.of(text))
    for node in nodes(tree):
        said = ast.unparse(node) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) else ""
        if said in lent and isinstance(node, ast.Attribute):
            edits.replace(edits.text.start(node), edits.text.end(node), lent[said])
    return edits.whole()

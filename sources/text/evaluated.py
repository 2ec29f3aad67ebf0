"""What ``eval`` is used for in place of ``getattr``, said without it.

``eval("self.conv" + str(i))(x)`` takes an attribute with a computed name, ``eval(kind)(x)`` a definition of the file.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator

from sources.text.rewrite import Edits, Text
from sources.text.scope import nodes, walk

_ROOT = re.compile(r"(?P<root>[^\W\d]\w*(?:\.[^\W\d]\w*)*)\.(?=\w*(?:$|[{%]))")
_FIELD = re.compile(r"\{\w*\}|%[sd]")
_TAIL = re.compile(r"[.\[(]")
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)
# What ``eval`` makes of a word of a configuration: a definition, a variable, a plain value, or what a call gives.
_MEANT = """

def meant_by(word, known):
    import ast
    import operator

    computed = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv}

    def value(node):
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name) and node.id in known:
            return known[node.id]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -value(node.operand)
        if isinstance(node, ast.BinOp) and type(node.op) in computed:
            return computed[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.List):
            return [value(item) for item in node.elts]
        if isinstance(node, ast.Tuple):
            return tuple(value(item) for item in node.elts)
        if isinstance(node, ast.Attribute):
            return getattr(value(node.value), node.attr)
        if isinstance(node, ast.Call):
            return value(node.func)(*map(value, node.args), **{k.arg: value(k.value) for k in node.keywords})
        raise NameError(word)

    return value(ast.parse(word, mode="eval").body)
"""
_SPELLING = ("torch", "functools", "math", "numpy")  # packages that words of configurations are spelled with


def without_evaluating(text: str, tree: ast.Module) -> str:
    """The text with plain expressions in place of ``eval`` wherever what is evaluated says of what form it is."""
    if "eval(" not in text:
        return text
    edits, words, spelled = Edits(Text.of(text)), [*_words(tree)], _spelled_with(tree)
    known = ", ".join(["{**globals()", "**locals()", *(f"{name!r}: {name}" for name in spelled)]) + "}"
    for call in words:
        edits.replace(edits.text.start(call), edits.text.end(call), f"meant_by({ast.unparse(call.args[0])}, {known})")
    called = {id(n.func) for n in nodes(tree) if isinstance(n, ast.Call)}  # others may well be lists of numbers
    for call in (n for n in nodes(tree) if isinstance(n, ast.Call) and n not in words):
        if getattr(call.func, "id", "") == "eval" and len(call.args) == 1 and not call.keywords:
            start, word = edits.text.start(call), call.args[0]
            plain = _plain(word)
            plainly = isinstance(word, ast.Name | ast.Attribute | ast.Subscript) and id(call) not in called
            if plainly or spelled and isinstance(_first(word), ast.Name | ast.Attribute | ast.Subscript):
                plain = f"meant_by({ast.unparse(word)}, {known})"
            if edits.text.data.startswith(b"eval", start) and plain:
                edits.replace(start, edits.text.end(call), plain)
    if not edits.changes:
        return text
    return edits.whole() + (_MEANT if any(b"meant_by(" in c[2] for c in edits.changes) else "")


def _spelled_with(tree: ast.Module) -> list[str]:
    """Names that a file imports from the packages that words of configurations are spelled with."""
    found = dict[str, None]()
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = getattr(node, "module", "") or ""
            for alias in node.names:
                name = alias.asname or alias.name.split(".")[0]
                if (module or alias.name).split(".")[0] in _SPELLING and not getattr(node, "level", 0) and name != "*":
                    found[name] = None
    return [*found]


def _words(tree: ast.Module) -> Iterator[ast.Call]:
    """Where what may be a word is evaluated, ``eval(m) if isinstance(m, str) else m``: what a word may be shows there.

    Inside of comprehensions there are no variables of the function.
    """
    inner = {id(n) for c in nodes(tree) if isinstance(c, _COMPREHENSIONS) for n in walk(c)}
    for node in (n for n in nodes(tree) if isinstance(n, ast.IfExp) and id(n) not in inner):
        match node.test, node.body:
            case (
                ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=tested), ast.Name(id="str")]),
                ast.Call(func=ast.Name(id="eval"), args=[ast.Name(id=word)], keywords=[]) as call,
            ) if word == tested:
                yield call


class _WithoutNothing(ast.NodeTransformer):
    """Leaves empty strings out of sums."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        there = [n for n in (node.left, node.right) if getattr(n, "value", None) != ""]
        return there[0] if len(there) == 1 and isinstance(node.op, ast.Add) else node


def _first(evaluated: ast.expr) -> ast.expr:
    """What the string begins with that an expression makes: ``name`` of ``name + "2d"``, which may be ``nn.Conv``."""
    while isinstance(evaluated, ast.BinOp) and isinstance(evaluated.op, ast.Add):
        evaluated = evaluated.left
    start = evaluated.values[0] if isinstance(evaluated, ast.JoinedStr) and evaluated.values else evaluated
    return start.value if isinstance(start, ast.FormattedValue) else start


def _plain(evaluated: ast.expr) -> str:
    """The expression that a string expression spells; "" where it cannot be said."""
    if isinstance(evaluated, ast.Constant):
        return f"({evaluated.value})" if isinstance(evaluated.value, str) and _is_expression(evaluated.value) else ""
    if isinstance(evaluated, ast.Name | ast.Attribute | ast.Subscript):
        return f"globals()[{ast.unparse(evaluated)}]"
    name = copy.deepcopy(evaluated)
    parts = _constants(name)
    if not parts:
        return ""
    root, tail = _ROOT.match(str(parts[0].value)), ""
    at = max((m.end() for m in _FIELD.finditer(str(parts[-1].value))), default=0)
    if (at or len(parts) > 1) and (found := _TAIL.search(str(parts[-1].value), at)):
        parts[-1].value, tail = str(parts[-1].value)[: found.start()], str(parts[-1].value)[found.start() :]
    if root:
        parts[0].value = str(parts[0].value)[root.end() :]
    if not all(re.fullmatch(r"\w*", _FIELD.sub("", str(p.value))) or p.value == "" for p in parts):
        return ""
    said = ast.unparse(_WithoutNothing().visit(name))
    taken = f"getattr({root['root']}, {said})" if root else f"globals()[{said}]"
    return f"{taken}{tail}" if _is_expression(f"{taken}{tail}") else ""


def _constants(evaluated: ast.expr) -> list[ast.Constant]:
    """The literal parts of a string that is put together, from left to right; none where it is not that."""
    match evaluated:
        case ast.Constant(value=str()):
            return [evaluated]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return [*_constants(left), *_constants(right)]
        case ast.BinOp(left=ast.Constant(value=str()) as form, op=ast.Mod()):
            return [form]
        case ast.JoinedStr(values=values):
            return [v for v in values if isinstance(v, ast.Constant)]
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str()) as form, attr="format")):
            return [form]
    return []


def _is_expression(text: str) -> bool:
    try:
        ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError):
        return False
    return True

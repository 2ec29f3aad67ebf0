"""A program's text without what does not matter: the form in which duplicates and leaks are looked for.

Two views.  ``skeleton`` is the syntax tree up to names: it is equal for copies whose variables, attributes or classes
were renamed.  ``shingles`` are runs of tokens, for texts that are nearly equal.  Both leave out comments, docstrings,
annotations, imports and the sizes that inputs are drawn with.
"""

from __future__ import annotations

import ast
import io
import keyword
import tokenize
from collections.abc import Iterator

from kdata.record import digest

SHINGLE = 5  # tokens; tasks are short, and operators count as tokens
KEEP_SHAPES = frozenset("bfloat16 bool contiguous cpu cuda double float half int long requires_grad_ to".split())
OPS_RUN, OPS_LONG = 3, 6  # operators
_DRAWS = {"get_inputs", "get_init_inputs"}
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def skeleton(source: str, only: str | None = None) -> str:
    """Digest of the program up to names, or of the class ``only`` of it.

    The literals of ``get_init_inputs`` other than integers count, since a module may be another one with
    ``act="gelu"``; integers there and all of ``get_inputs`` are sizes.  Text that does not parse stands for itself.
    """
    try:
        tree = _core(source, keep_arguments=only is None)
    except (SyntaxError, ValueError, RecursionError):
        return digest("text", source)
    if only is not None:
        tree.body = [s for s in tree.body if isinstance(s, ast.ClassDef) and s.name == only] or tree.body
    return digest("skeleton", ast.dump(_Rename(tree).visit(tree)))


def shingles(source: str) -> frozenset[str]:
    """Runs of five tokens of the program's definitions; one shorter run if the text has fewer tokens."""
    tokens = list(_tokens(source))
    if len(tokens) <= SHINGLE:
        return frozenset({" ".join(tokens)})
    return frozenset(" ".join(tokens[i : i + SHINGLE]) for i in range(len(tokens) - SHINGLE + 1))


def calls(source: str) -> tuple[str, ...]:
    """What a program calls that it does not define, and its arithmetic, in order; () for text that does not parse.

    It stands for the ATen operators of a task that was never traced: ``("Linear", "mean", "Sub", "relu")``.
    """
    try:
        tree = _core(source, keep_arguments=False)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    nodes = (n for n in ast.walk(tree) if isinstance(n, ast.Call | ast.BinOp))
    ordered = sorted(nodes, key=lambda n: (n.end_lineno, n.end_col_offset))
    own = _Rename(tree).bound | {"super", "__init__"}
    said = (_called(n.func) if isinstance(n, ast.Call) else type(n.op).__name__ for n in ordered)
    return tuple(name for name in said if name and name not in own)


def _called(function: ast.expr) -> str:
    """The last name of what is called; "" of an attribute of the object's own."""
    if isinstance(function, ast.Attribute):
        return "" if _is_own(function) else function.attr
    return function.id if isinstance(function, ast.Name) else ""


def drawn_ranks(source: str) -> tuple[int, ...]:
    """The rank of each input as ``get_inputs`` draws it: ``torch.rand([4, 4])`` and ``torch.rand(4, 4)`` are of rank 2.

    What is no such call counts as a value without dimensions; () where there is no list of inputs to read.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    functions = [s for s in tree.body if isinstance(s, ast.FunctionDef) and s.name == "get_inputs"]
    returned = [n.value for f in functions for n in ast.walk(f) if isinstance(n, ast.Return)]
    listed = [n.elts for n in returned if isinstance(n, ast.List | ast.Tuple)]
    return tuple(map(_rank, listed[-1])) if listed else ()


def _rank(drawn: ast.expr) -> int:
    if isinstance(drawn, ast.BinOp):
        return max(_rank(drawn.left), _rank(drawn.right))
    if not isinstance(drawn, ast.Call):
        return 0
    if isinstance(drawn.func, ast.Attribute) and drawn.func.attr in KEEP_SHAPES:
        return _rank(drawn.func.value)
    given = [*drawn.args, *(k.value for k in drawn.keywords if k.arg == "size")]
    shapes = [a.elts for a in given if isinstance(a, ast.List | ast.Tuple)]
    return len(shapes[0] if shapes else drawn.args)


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Size of the intersection over size of the union, 0 for two empty sets."""
    union = len(one | other)
    return len(one & other) / union if union else 0.0


def ops_jaccard(one: tuple[str, ...], other: tuple[str, ...]) -> float:
    """How alike two operator sequences are: 1 for equal ones, else the Jaccard similarity of their runs of three.

    Two different sequences of which one is short are 0: each operator of them matters.
    """
    if one == other:
        return 1.0
    if min(len(one), len(other)) < OPS_LONG:
        return 0.0
    return jaccard(_runs(one), _runs(other))


def _runs(ops: tuple[str, ...]) -> frozenset[str]:
    return frozenset(" ".join(ops[i : i + OPS_RUN]) for i in range(len(ops) - OPS_RUN + 1))


def _core(source: str, keep_arguments: bool) -> ast.Module:
    """The tree without docstrings, annotations, imports and drawn inputs."""
    tree = ast.parse(source)
    tree.body = [s for s in tree.body if isinstance(s, _Definition) or (keep_arguments and _is_code(s))]
    arguments = [s for s in tree.body if isinstance(s, _Definition) and s.name == "get_init_inputs"]
    tree.body = [s for s in tree.body if not (isinstance(s, _Definition) and s.name in _DRAWS)]
    for node in ast.walk(tree):
        _strip(node)
    if keep_arguments:
        tree.body += [ast.Expr(ast.Constant(value)) for f in arguments for value in _settings(f)]
    return tree


def _is_code(statement: ast.stmt) -> bool:
    """Whether a top-level statement is part of the program: no import, no docstring, no constant that is a size."""
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return False
    if isinstance(statement, ast.Expr):
        return not isinstance(statement.value, ast.Constant)
    value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else statement
    return not (isinstance(value, ast.Constant) and isinstance(value.value, int))


def _settings(function: ast.AST) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.Constant) and type(node.value) is not int:
            yield repr(node.value)


def _strip(node: ast.AST) -> None:
    if isinstance(node, _Definition) and ast.get_docstring(node, clean=False) is not None:
        node.body = node.body[1:] or [ast.Pass()]
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        node.returns = None
    if isinstance(node, ast.arg):
        node.annotation = None


class _Rename(ast.NodeTransformer):
    """Replace every name that the text itself binds by its number in order of appearance.

    Names of libraries, keywords of calls and attributes of anything but ``self`` stay: they say what is computed.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.bound: set[str] = set()
        self.numbers: dict[str, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, _Definition) and not node.name.startswith("__") and node.name != "forward":
                self.bound.add(node.name)
            elif isinstance(node, ast.arg):
                self.bound.add(node.arg)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.bound.add(node.id)
            elif isinstance(node, ast.Attribute) and _is_own(node) and isinstance(node.ctx, ast.Store):
                self.bound.add(f"self.{node.attr}")

    def number(self, name: str) -> str:
        if name not in self.bound:
            return name
        return self.numbers.setdefault(name, f"_{len(self.numbers)}")

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self.number(node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg = self.number(node.arg)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        own = _is_own(node)
        self.generic_visit(node)
        if own:
            node.attr = self.number(f"self.{node.attr}" if f"self.{node.attr}" in self.bound else node.attr)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._definition(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._definition(node)

    def _definition(self, node: ast.ClassDef | ast.FunctionDef) -> ast.AST:
        node.name = self.number(node.name)
        self.generic_visit(node)
        return node


def _is_own(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "self"


def _tokens(source: str) -> Iterator[str]:
    """Tokens of the definitions; of the raw text, split at blanks, if it does not parse."""
    try:
        text = ast.unparse(_core(source, keep_arguments=False))
    except (SyntaxError, ValueError, RecursionError):
        yield from source.split()
        return
    layout = {tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.COMMENT}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in layout and (token.string not in "(),:." or keyword.iskeyword(token.string)):
            yield token.string

"""Which global names a piece of Python reads: a scope-aware walk over its tree."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from sources.text.remembered import remembered

BUILTINS = frozenset(dir(builtins)) | {"__name__", "__doc__", "__class__", "__file__"}
# What Python 2 had built in, and what it is now.
FORMER = {"unicode": "str", "basestring": "str", "unichr": "chr", "xrange": "range", "long": "int"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# Fields without nodes, or with a context; and of each kind of node the others. Names and constants have none.
_PLAIN = frozenset(["ctx", "id", "attr", "conversion", "simple", "is_async", "type_comment"])
_KINDS = [kind for kind in vars(ast).values() if isinstance(kind, type) and issubclass(kind, ast.AST)]
_INNER = {k: tuple(f for f in k._fields if f not in _PLAIN) if k is not ast.Constant else () for k in _KINDS}
_STATEMENTS = frozenset(["body", "handlers", "orelse", "finalbody", "cases"])  # fields that hold these, or their blocks
_HOLDING = (ast.mod, ast.stmt, ast.excepthandler, ast.match_case)
_BLOCKS: dict[type[ast.AST], tuple[str, ...]] = {
    k: tuple(f for f in k._fields if f in _STATEMENTS) for k in _KINDS if issubclass(k, _HOLDING)
}


def is_literal(node: ast.expr) -> bool:
    """Whether an expression is a constant, or a tuple, list, set or mapping of such."""
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError):
        return False
    return True


def named_arguments(call: ast.Call, function: ast.FunctionDef) -> Iterator[tuple[str, str]]:
    """Parameters of a function that a call gives names by position, with these names."""
    pairs = zip(function.args.args, call.args, strict=False)
    yield from ((parameter.arg, given.id) for parameter, given in pairs if isinstance(given, ast.Name))


def root_of(node: ast.expr) -> ast.expr:
    """What attributes are read of in the end: ``a`` of ``a.b.c``."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node


def variable_of(node: ast.AST) -> str:
    """The variable that attributes and items are read of in the end: ``weights`` of ``weights["head.bias"]``, or ""."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


@dataclass(slots=True)
class Reads:
    """What a node needs from outside itself."""

    names: list[ast.Name] = field(default_factory=list)  # global names, wherever they occur
    attributes: set[str] = field(default_factory=set)  # attribute names, and strings that could name one
    chains: list[ast.Attribute] = field(default_factory=list)  # ``a.b.c`` whose root is a global name
    eager: set[str] = field(default_factory=set)  # names read as soon as the node is executed


def forwards(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    """The method ``forward`` of each class of a text."""
    methods = (s for kind in classes(tree) for s in kind.body)
    return (s for s in methods if isinstance(s, ast.FunctionDef) and s.name == "forward")


def classes(tree: ast.AST) -> list[ast.ClassDef]:
    """All classes of a text, as ``walk`` comes to them: they stand among statements, which are few of its nodes."""
    found = [tree]
    for node in found:  # grows on the way
        for name in _BLOCKS[node.__class__]:
            found += getattr(node, name)
    return [n for n in found if isinstance(n, ast.ClassDef)]


def nodes(tree: ast.AST) -> tuple[ast.AST, ...]:
    """``walk``, remembered: one definition is part of many cuts."""
    return (tree, *_below(tree))


@remembered
def _below(tree: ast.AST) -> tuple[ast.AST, ...]:
    return tuple(walk(tree)[1:])


def walk(tree: ast.AST) -> list[ast.AST]:
    """``ast.walk`` without contexts such as ``Load``."""
    found = [tree]
    for node in found:  # grows on the way
        found += children(node)
    return found


def children(node: ast.AST) -> list[ast.AST]:
    """``ast.iter_child_nodes`` without contexts, and quicker."""
    found: list[ast.AST] = []
    for name in _INNER[node.__class__]:
        value = getattr(node, name, None)
        if value.__class__ is list:
            found += [v for v in value if isinstance(v, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def _never(_: ast.AST) -> bool:
    return False


def reads(
    node: ast.AST, skip: Callable[[ast.AST], bool] = _never, skip_decorator: Callable[[ast.expr], bool] = _never
) -> Reads:
    """The global reads of a definition, statement or expression.

    Type hints are not read, and import statements inside bind nothing: both are dealt with where code is cut out.
    """
    walk = _Walk(skip, skip_decorator)
    walk.visit(node)
    return walk.found


def bound(body: list[ast.stmt], arguments: ast.arguments | None = None) -> set[str]:
    """Names that a function or class body binds in its own scope."""
    names: set[str] = set()
    outer: set[str] = set()
    if arguments is not None:
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        names |= {a.arg for a in every if a is not None}
    stack: list[ast.AST] = list(body)
    while stack:
        node = stack.pop()
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            names.add(node.name)
            continue
        if isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            names |= {n.target.id for n in walk(node) if isinstance(n, ast.NamedExpr)}
            continue
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            names.add(node.name)
        elif isinstance(node, ast.Global):
            outer |= set(node.names)
        stack += children(node)
    return names - outer


class _Walk(ast.NodeVisitor):
    def __init__(self, skip: Callable[[ast.AST], bool], skip_decorator: Callable[[ast.expr], bool]) -> None:
        self.found = Reads()
        self._skip, self._skip_decorator = skip, skip_decorator
        self._scopes: list[tuple[set[str], bool]] = []  # names, and whether the scope is a class
        self._depth = 0  # of function bodies: above 0 nothing is executed at once

    def visit(self, node: ast.AST) -> None:
        if not (isinstance(node, ast.stmt) and self._skip(node)):
            super().visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if not any(node.id in names for names, _ in self._scopes):
            self.found.names.append(node)
            if self._depth == 0:
                self.found.eager.add(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.found.attributes.add(node.attr)
        root = root_of(node)
        if isinstance(root, ast.Name) and not any(root.id in names for names, _ in self._scopes):
            self.found.chains.append(node)
        self.visit(node.value)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str) and node.value.isidentifier():
            self.found.attributes.add(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for outer in [*self._decorators(node), *node.args.defaults, *filter(None, node.args.kw_defaults)]:
            self.visit(outer)
        self._inside(bound(node.body, node.args), list(node.body))

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_For(self, node: ast.For) -> None:
        """A loop outside of functions binds what it counts with, and nobody else reads that."""
        self.visit(node.iter)
        self._scopes.append((bound([node]) if not self._scopes else set(), False))
        for inner in [node.target, *node.body, *node.orelse]:
            self.visit(inner)
        self._scopes.pop()

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for outer in [*node.args.defaults, *filter(None, node.args.kw_defaults)]:
            self.visit(outer)
        self._inside(bound([], node.args), [node.body])

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for outer in [*self._decorators(node), *node.bases, *(k.value for k in node.keywords)]:
            self.visit(outer)
        names = set[str]()
        self._scopes.append((names, True))
        for statement in node.body:
            names |= set() if isinstance(statement, ast.Assign | ast.AnnAssign) else bound([statement])
            self.visit(statement)
        self._scopes.pop()

    def visit_Assign(self, node: ast.Assign | ast.AnnAssign) -> None:
        """``decode = decode`` in a class: until it binds a name itself, it sees what that means outside."""
        if node.value is not None:
            self.visit(node.value)
        if self._scopes and self._scopes[-1][1]:
            self._scopes[-1][0].update(bound([node]))
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            self.visit(target)

    visit_AnnAssign = visit_Assign

    def _decorators(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> list[ast.expr]:
        return [d for d in node.decorator_list if not self._skip_decorator(d)]

    def _inside(self, names: set[str], body: list[ast.AST]) -> None:
        """Visit a function's body, which does not see the names of the classes around it."""
        kept, self._scopes = self._scopes, [s for s in self._scopes if not s[1]]
        self._scopes.append((names, False))
        self._depth += 1
        for node in body:
            self.visit(node)
        self._depth -= 1
        self._scopes = kept

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        names = {n.id for g in node.generators for n in walk(g.target) if isinstance(n, ast.Name)}
        self.visit(node.generators[0].iter)
        self._scopes.append((names, False))
        for i, generator in enumerate(node.generators):
            for inner in [*([generator.iter] if i else []), *generator.ifs]:
                self.visit(inner)
        for result in [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]:
            self.visit(result)
        self._scopes.pop()

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension


def is_record(node: ast.ClassDef) -> bool:
    """Whether a class's annotations make its fields."""
    return any("dataclass" in ast.unparse(d) for d in node.decorator_list) or any(
        ast.unparse(b).split(".")[-1] in ("NamedTuple", "TypedDict") for b in node.bases
    )

"""What a module is given by a method of its own, or by its user, before it is called: an input of its forward.

``self.prototypes = torch.tensor(())`` in the constructor is a place for what ``model.fit(images, labels)`` computes,
and ``self.teacher = None`` for what a training loop puts there.  A task has one call, which takes these, too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from sources.text.rewrite import Edits, Text
from sources.text.scope import nodes

NOTE = "what it is given before it is called is an input"
MAX_GIVEN = 4  # attributes: a module that is given more keeps records of a kind that no task shows
_EMPTY = frozenset(["None", "torch.tensor(())", "torch.tensor([])", "torch.empty(0)", "torch.zeros(0)",
                    "torch.Tensor()", "torch.Tensor([])", "torch.FloatTensor()"])  # fmt: skip
_Methods = Mapping[str, ast.FunctionDef]


def given_before(source: str, name: str) -> str:
    """The text whose class ``name`` takes such attributes as further inputs; the same text where it has none."""
    kinds = {n.name: n for n in ast.parse(source).body if isinstance(n, ast.ClassDef)}
    line = list(_line(kinds, name))
    methods = {s.name: s for kind in reversed(line) for s in kind.body if isinstance(s, ast.FunctionDef)}
    forward = methods.get("forward")
    names = _places(line, methods)
    if forward is None or not 0 < len(names) <= MAX_GIVEN or forward.args.posonlyargs:
        return source
    taken = {a.arg for a in [*forward.args.args, *forward.args.kwonlyargs]}
    parameters = {attribute: attribute.strip("_") for attribute in names}
    if taken.intersection(parameters.values()) or len({*parameters.values()}) < len(names):
        return source
    edits = Edits(Text.of(source))
    after = forward.args.args[len(forward.args.args) - len(forward.args.defaults) - 1]
    end = edits.text.end(after.annotation or after)
    edits.replace(end, end, "".join(f", {p}" for p in parameters.values()))
    first = forward.body[0]
    told = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and len(forward.body) > 1
    start = edits.text.start(forward.body[1 if told else 0])
    lines = "".join(f"self.{a} = {p}\n{' ' * first.col_offset}" for a, p in parameters.items())
    edits.replace(start, start, lines)
    return edits.whole()


def _line(kinds: Mapping[str, ast.ClassDef], name: str) -> Iterator[ast.ClassDef]:
    """A class of a text, and those of the text that it is made of, nearest first."""
    if name in kinds:
        yield kinds[name]
        for base in kinds[name].bases:
            yield from _line({n: k for n, k in kinds.items() if n != name}, ast.unparse(base))


def _places(line: list[ast.ClassDef], methods: _Methods) -> list[str]:
    """Attributes that the constructor leaves empty, and forward reads without a look whether they are there."""
    assigned = [(t[5:], v) for kind in line for t, v in _assigned(kind) if t.startswith("self.") and t.count(".") == 1]
    empty = dict.fromkeys(target for target, value in assigned if value in _EMPTY)
    filled = {target for target, value in assigned if value not in _EMPTY}
    reached = [n for method in _reached(methods) for n in nodes(method)]
    read = {n.attr for n in reached if isinstance(n, ast.Attribute) and ast.unparse(n.value) == "self"}
    looked_at = {ast.unparse(n) for s in reached for n in _tested(s)}
    return [a for a in empty if a in read and a not in filled and f"self.{a}" not in looked_at]


def _assigned(kind: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """What statements of a class assign to, and what: as expressions."""
    for node in nodes(kind):
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                several = target.elts if isinstance(target, ast.Tuple) else [target]
                yield from ((ast.unparse(t), ast.unparse(node.value)) for t in several)


def _reached(methods: _Methods) -> list[ast.FunctionDef]:
    """Forward, and the methods of ``self`` that it calls, or calls by way of others."""
    found = [methods["forward"]] if "forward" in methods else []
    for method in found:  # grows on the way
        attributes = (n for n in nodes(method) if isinstance(n, ast.Attribute) and ast.unparse(n.value) == "self")
        named = (methods[n.attr] for n in attributes if n.attr in methods)
        found += [m for m in dict.fromkeys(named) if m not in found]
    return found


def _tested(node: ast.AST) -> Iterator[ast.expr]:
    """What a test compares with None, or looks at as a whole."""
    if isinstance(node, ast.Compare) and ast.unparse(node.comparators[0]) == "None":
        yield node.left
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        yield node.test.operand if isinstance(node.test, ast.UnaryOp) else node.test

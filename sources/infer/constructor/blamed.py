"""Which constructor argument a value came from that does not do: followed outwards through the frames of an error.

Only syntax is read, with the exact places that a traceback tells: what the failing expression works on, which arguments
of the call around it that was, and so on out to the constructor itself.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Iterable, Iterator
from typing import Any

from sources.hints.demands import statements

MAX_STEPS = 4  # of variables that are made of variables
_COMPREHENSIONS = frozenset(["<listcomp>", "<genexpr>", "<setcomp>", "<dictcomp>"])
Step = tuple[types.FrameType, int, int]  # a frame, the line it is at, and the place of its instruction


def blamed(error: Exception, tree: ast.Module, file: str, culprits: frozenset[str] = frozenset()) -> set[str]:
    """Parameters of the outermost function of a program that the failing value came from.

    ``tree`` is that of its ``file``, ``culprits`` are names of the types that a value may have that does not do.  What
    a configuration holds is ``cfg.width``.  Empty where the way is lost.
    """
    steps = [s for s in _steps(error) if s[0].f_code.co_filename == file]
    if not steps:
        return set()
    inner, line, at = steps[-1]
    found = _origins(_failing(_node(tree, line, _place(inner, at)), str(error), inner, culprits), tree, line)
    for frame, line, at in reversed(steps[:-1]):
        if inner.f_code.co_name not in _COMPREHENSIONS:
            call = _node(tree, line, _place(frame, at))
            found = _origins(_given(call, inner, found), tree, line) if isinstance(call, ast.Call) else set()
        inner = frame
    return found


def _steps(error: Exception) -> Iterator[Step]:
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame, trace.tb_lineno, trace.tb_lasti
        trace = trace.tb_next


def _place(frame: types.FrameType, at: int) -> tuple[int | None, ...]:
    return list(frame.f_code.co_positions())[at // 2]


def _node(tree: ast.Module, line: int, place: tuple[int | None, ...]) -> ast.AST | None:
    """The expression, or target, of a place."""
    path = statements(tree, line)
    for node in ast.walk(path[-1]) if path else ():
        if (
            isinstance(node, ast.expr | ast.AugAssign)
            and (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset) == place
        ):
            if isinstance(path[-1], ast.Assign) and node in path[-1].targets:
                return path[-1].value  # what is unpacked
            return node
    return None


def _failing(
    node: ast.AST | None, message: str, frame: types.FrameType, culprits: frozenset[str]
) -> list[tuple[ast.expr, str]]:
    """What the failing expression works on; of several, that whose type is one of those that do not do."""
    if isinstance(node, ast.Attribute | ast.Subscript):
        return [(node.value, "")]
    if isinstance(node, ast.Call):
        every = [node.func] if "not callable" in message else [*node.args, *(k.value for k in node.keywords)]
    elif isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        every = [node.generators[0].iter]  # of that nothing else is evaluated in this frame
    elif isinstance(node, ast.BinOp):
        every = [node.left, node.right]
    elif isinstance(node, ast.AugAssign):
        every = [node.target, node.value]
    elif isinstance(node, ast.Compare):
        every = [node.left, *node.comparators]
    else:
        every = [node] if isinstance(node, ast.expr) else []
    alike = [e for e in every if isinstance(e, ast.Name) and type(frame.f_locals.get(e.id)).__name__ in culprits]
    return [(e, "") for e in alike or every]


def _given(call: ast.Call, inner: types.FrameType, names: set[str]) -> list[tuple[ast.expr, str]]:
    """The arguments of a call that parameters of the function that it entered got, each with what is read of it."""
    code = inner.f_code
    parameters = list(code.co_varnames[: code.co_argcount])
    parameters = parameters[1:] if parameters[:1] == ["self"] else parameters
    found = []
    for name in names:
        first, _, rest = name.partition(".")
        named = next((k.value for k in call.keywords if k.arg == first), None)
        at = parameters.index(first) if first in parameters else len(call.args)
        value = named or (call.args[at] if at < len(call.args) else None)
        if value is not None and not any(isinstance(a, ast.Starred) for a in call.args[: at + 1]):
            found.append((value, rest))
    return found


def _origins(found: Iterable[tuple[ast.expr, str]], tree: ast.Module, line: int) -> set[str]:
    """The parameters of a function that expressions in it are made of, with what is read of each."""
    path = statements(tree, line)
    function = next((s for s in reversed(path) if isinstance(s, ast.FunctionDef)), None)
    if function is None:
        return set()
    arguments = function.args
    own = {a.arg for a in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]} - {"self"}
    made = dict(_made(function, line))
    names: set[str] = set()
    stack: list[tuple[ast.expr, str, int]] = [(e, rest, 0) for e, rest in found]
    while stack:
        node, rest, steps = stack.pop()
        said, root = _chain(node)
        whole = ".".join(filter(None, [said, rest]))
        if root is None:  # something that is computed: of all that is in it
            inside = (n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr))
            stack += [(n, "", steps + 1) for n in inside if steps < MAX_STEPS]
        elif said.startswith("self.") and (value := made.get(".".join(said.split(".")[:2]))) is not None:
            stack += [(value, ".".join(filter(None, [*said.split(".")[2:], rest])), steps + 1)] * (steps < MAX_STEPS)
        elif root in made and root not in own:
            inner = whole.partition(".")[2]
            stack += [(made[root], inner, steps + 1)] * (steps < MAX_STEPS)
        elif root in own:
            names.add(whole)
    return names


def _chain(node: ast.expr) -> tuple[str, str | None]:
    """``cfg.model["width"][0]`` as ``cfg.model.width``, and its root; None for a root where it is no such chain."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Attribute):
            parts.insert(0, node.attr)
        elif isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            parts.insert(0, node.slice.value)
        node = node.value
    return (".".join([node.id, *parts]), node.id) if isinstance(node, ast.Name) else ("", None)


def _made(function: ast.FunctionDef, line: int) -> Iterator[tuple[str, ast.expr]]:
    """Variables, and attributes of self, with what a function gives them before a line, or loops over."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and node.lineno < line:
            for target in node.targets:
                values: Any = node.value.elts if isinstance(node.value, ast.Tuple) else None
                several = target.elts if isinstance(target, ast.Tuple) else [target]
                paired = values if values and len(values) == len(several) else [node.value] * len(several)
                yield from ((ast.unparse(t), v) for t, v in zip(several, paired, strict=True))
        elif isinstance(node, ast.For | ast.comprehension):
            for name in (n for n in ast.walk(node.target) if isinstance(n, ast.Name)):
                yield name.id, node.iter

"""Functions that launch kernels of Triton's, as the references in plain torch that stand beside them.

``layer_norm_fn`` launches kernels, which a host has no use for; ``layer_norm_ref``, against which its authors test it,
computes the same anywhere.
"""

from __future__ import annotations

import ast
import re

from sources.text.rewrite import Edits, Text

_REFERENCE = re.compile(r"_(ref|reference|naive|torch|pytorch)$")
_HOW = frozenset(["fn", "triton", "ref", "reference", "naive", "torch", "pytorch"])  # words that say how, not what
ALIKE, MANY = 2, 4  # words that the names of two functions share, and what these need by the same names, at least


def with_references(text: str, tree: ast.Module) -> str:
    """The text in which what launches kernels calls its reference, and takes nothing that this does not know of."""
    if "triton" not in text or not any(map(_of_triton, tree.body)):
        return text
    functions = [n for n in tree.body if isinstance(n, ast.FunctionDef) and not n.decorator_list]
    references = [f for f in functions if _REFERENCE.search(f.name)]
    kinds = {n.name for n in tree.body if isinstance(n, ast.ClassDef)}
    edits = Edits(Text.of(text))
    for function in functions if references else ():
        like = max(references, key=lambda r: len(_words(r) & _words(function)))
        if function in references or not _launches(function, kinds) or not _computes(like, function):
            continue
        first = function.body[int(ast.get_docstring(function) is not None and len(function.body) > 1)]
        said = _called(like, function, first.col_offset * " ")
        edits.replace(edits.text.start(first), edits.text.end(function.body[-1]), said)
    return edits.whole()


def _of_triton(node: ast.stmt) -> bool:
    names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
    names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
    return any(name.split(".")[0] == "triton" for name in names)


def _launches(function: ast.FunctionDef, kinds: set[str]) -> bool:
    """Whether a function launches a kernel, ``kernel[grid](x)``, or applies a function of autograd, which does."""
    called = [n.func for n in ast.walk(function) if isinstance(n, ast.Call)]
    applied = (f.value for f in called if isinstance(f, ast.Attribute) and f.attr == "apply")
    return any(isinstance(f, ast.Subscript) for f in called) or any(ast.unparse(of) in kinds for of in applied)


def _words(function: ast.FunctionDef) -> frozenset[str]:
    return frozenset(function.name.strip("_").split("_")) - _HOW


def _computes(like: ast.FunctionDef, function: ast.FunctionDef) -> bool:
    """Whether a reference is that of a function: it is called so, or alike, and needs the same."""
    own, other = ([w for w in f.name.strip("_").split("_") if w not in _HOW] for f in (function, like))
    needs, asks = (_needed(f) for f in (function, like))
    if _left_over(function) or any((a in asks or b in needs) and a != b for a, b in zip(needs, asks, strict=False)):
        return False  # what is given in another order, or not by name
    if "".join(own) == "".join(other):
        return len(needs) == len(asks)
    return needs == asks and len(needs) >= MANY and len(set(own) & set(other)) >= ALIKE


def _needed(function: ast.FunctionDef) -> list[str]:
    given = [a.arg for a in [*function.args.posonlyargs, *function.args.args]]
    return given[: len(given) - len(function.args.defaults)]


def _left_over(function: ast.FunctionDef) -> bool:
    """Whether a function takes what a call of its reference would not hand on."""
    given = function.args
    return bool(given.vararg or given.kwarg or given.posonlyargs or None in given.kw_defaults)


def _called(like: ast.FunctionDef, function: ast.FunctionDef, indent: str) -> str:
    """The statements of a function that calls its reference, if what that lacks is as it is by default."""
    known = {a.arg for a in [*like.args.args, *like.args.kwonlyargs]}
    plain, only = function.args.args, function.args.kwonlyargs
    usual = dict(zip([a.arg for a in plain][::-1], function.args.defaults[::-1], strict=False))
    usual |= {a.arg: d for a, d in zip(only, function.args.kw_defaults, strict=True) if d is not None}
    lacking = [f"{n} {_other(d)} {ast.unparse(d)}" for n, d in usual.items() if n not in known]
    given = [*_needed(function), *(f"{n}={n}" for n in usual if n in known)]
    checks = [f"if {' or '.join(lacking[::-1])}:\n{indent}    raise NotImplementedError\n{indent}"] if lacking else []
    return f"{''.join(checks)}return {like.name}({', '.join(given)})"


def _other(default: ast.expr) -> str:
    """How a value differs from a default: a tensor is no None, whatever it holds."""
    return (
        "is not"
        if isinstance(default, ast.Constant) and (default.value is None or type(default.value) is bool)
        else "!="
    )

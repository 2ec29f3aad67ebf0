"""Weights that start as zeros, or as what happened to be in memory, drawn at random instead.

Layers that start as nothing (the last of a residual branch, a gate) make a good module's answer constant until it was
trained; parameters that the program leaves to its training script to fill make it nothing at all.  A task tells
nothing then.  What is changed is how weights start, not what is computed with them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection

from sources.infer.running.vanishing import TINY
from sources.text.rewrite import Edits, Text, remove_statements
from sources.text.scope import nodes

NOTE = "weights that started as zeros, or unset, are drawn at random"
_SCALE = 0.1  # of drawn weights: products of them neither vanish nor grow much
_SCALES = re.compile(r"init_?val|layer_?scale|init_?(scale|std|sigma)|gamma|res_?scale|rezero|^gain$|(^|_)init$")
_STARTS = re.compile(r"init|reset|zero|build|weight")  # names of functions that give weights their start
_WHOLE = re.compile(r"\b(u?int\d*|long|short|bool)$")  # how types end that no normal draw is of
_VARIANCE = re.compile(r"(^|[._])(var(iance)?s?|std|sigma)$")  # of what has a root
_FILLS = re.compile(r"(torch\.)?(nn\.)?init\.zeros_")
_ZERO_CALLS = ("zeros_", "zero_", "constant_", "constant", "fill_")  # ``constant``: its name of old
_SMALL_CALLS = ("normal_", "trunc_normal_", "uniform_")  # with bounds, or a deviation, of next to nothing
_DRAWS = re.compile(r"(^|\.)[A-Z]\w*(Normal|Uniform)$")  # names of what draws weights, made with a deviation
_MADE = re.compile(r"(torch\.)?(zeros|empty|Tensor|FloatTensor)")
_MAY_BE_ZERO = re.compile(r"zero|constant|fill_|\(0(\.0*)?\)|[=,] ?(0(\.0*)?|1e-0?[3-9])\)")
_AT_LAST = (
    "for name, weight in self.named_parameters():",
    f'    if "bias" not in name and weight.is_floating_point() and bool((weight.abs() <= {TINY}).all()):',
    f"        torch.nn.init.normal_(weight, std={_SCALE})",
)
_PARAMETERS = ("Parameter", "register_parameter")


def drawn(source: str) -> str:
    """The text with such weights drawn; the same text where it has none."""
    tree = ast.parse(source)
    edits, makers = Edits(Text.of(source)), {*_PARAMETERS, *_aliases(tree)}
    called = {id(n.value): ast.unparse(n.targets[0]) for n in nodes(tree) if isinstance(n, ast.Assign)}
    for node in nodes(tree):
        if isinstance(node, ast.FunctionDef) and _STARTS.search(node.name):
            remove_statements(edits, node, _zeroes)
        elif isinstance(node, ast.Call) and _called(node) in makers:
            _draw(edits, node, called.get(id(node), ""))
        if isinstance(node, ast.FunctionDef):
            _enlarge(edits, _defaults(node))
            _draw_before(edits, node, makers)
        elif isinstance(node, ast.Call):
            _enlarge(edits, [(k.arg, k.value) for k in node.keywords if k.arg])
            _widen(edits, node)
    return edits.parsed()


def drawn_at_last(source: str, name: str) -> str:
    """The text with a constructor of the class ``name`` that draws such weights when all are made, whoever makes them.

    The same text where it makes none of zeros.
    """
    tree = ast.parse(source)
    kind = next((n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name), None)
    if kind is None or not _MAY_BE_ZERO.search(source):
        return source
    init = next((s for s in kind.body if isinstance(s, ast.FunctionDef) and s.name == "__init__"), None)
    lines, last = source.split("\n"), init.body[-1] if init else kind.body[-1]
    first = kind.body[0].col_offset * " "
    begun = (
        []
        if init
        else ["", f"{first}def __init__(self, *args, **kwargs):", f"{2 * first}super().__init__(*args, **kwargs)"]
    )
    inner = init.body[0].col_offset * " " if init else 2 * first
    at = last.end_lineno or 0
    return "\n".join([*lines[:at], *begun, *(f"{inner}{line}" for line in _AT_LAST), *lines[at:]])


def _aliases(tree: ast.Module) -> list[str]:
    """Other names of ``torch.nn.Parameter``."""
    imports = (n for n in tree.body if isinstance(n, ast.ImportFrom))
    return [a.asname for n in imports for a in n.names if a.name == "Parameter" and a.asname]


def _enlarge(edits: Edits, given: list[tuple[str, ast.expr]]) -> None:
    """Give scales that start as next to nothing, LayerScale's 1e-6, by default or in a call, a start that counts.

    And what fills weights with zeros, ``init=nn.init.zeros_``.
    """
    for name, value in given:
        if isinstance(value, ast.Attribute) and _FILLS.fullmatch(ast.unparse(value)) and "bias" not in name:
            edits.replace(edits.text.end(value) - len("zeros_"), edits.text.end(value), "normal_")
        start = value.value if isinstance(value, ast.Constant) else None
        if _SCALES.search(name) and isinstance(start, float) and abs(start) <= TINY:
            edits.replace(edits.text.start(value), edits.text.end(value), str(_SCALE))


def _widen(edits: Edits, call: ast.Call) -> None:
    """Give what draws with a deviation of next to nothing, ``RandomNormal(0, 0.0001)``, one that counts."""
    for value in [*call.args, *(k.value for k in call.keywords)] if _DRAWS.search(_called(call)) else []:
        if isinstance(value, ast.Constant) and isinstance(value.value, float) and 0 < value.value <= TINY:
            edits.replace(edits.text.start(value), edits.text.end(value), str(_SCALE))


def _defaults(function: ast.FunctionDef) -> list[tuple[str, ast.expr]]:
    """Parameters that have defaults, with these."""
    given = [*function.args.posonlyargs, *function.args.args]
    last = zip(given[len(given) - len(function.args.defaults) :], function.args.defaults, strict=True)
    named = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    return [(a.arg, d) for a, d in [*last, *named] if d is not None]


def _zeroes(statement: ast.stmt) -> bool:
    """Whether a statement sets weights to next to nothing, ``nn.init.zeros_(layer.weight)``; biases are left."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or (name := _called(call)) not in (*_ZERO_CALLS, *_SMALL_CALLS):
        return False
    of_tensor = isinstance(call.func, ast.Attribute) and not re.search(r"(^|\.)init$", ast.unparse(call.func.value))
    given = [*call.args, *(k.value for k in call.keywords)]
    if not of_tensor and not given:
        return False
    values = given if of_tensor else given[1:]
    target = ast.unparse(call.func.value if of_tensor and isinstance(call.func, ast.Attribute) else given[0])
    is_zero = name.startswith("zero") or bool(values) and isinstance(values[0], ast.Constant) and values[0].value == 0
    if name in _SMALL_CALLS:
        is_zero = len(values) > 1 and all(_is_tiny(v) for v in values)
    return is_zero and not re.search(r"bias|grad|mean|\bb\b", target)


def _is_tiny(node: ast.expr) -> bool:
    number = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(number, ast.Constant) and isinstance(number.value, int | float) and abs(number.value) <= TINY


def _draw(edits: Edits, call: ast.Call, name: str) -> None:
    """Draw what a parameter of a name is made of, where that is zeros or unset memory of sizes."""
    draws = _draws(name)
    for node in (n for a in [*call.args, *(k.value for k in call.keywords)] for n in ast.walk(a)):
        if isinstance(node, ast.Call) and _MADE.fullmatch(ast.unparse(node.func)) and _sizes(node, name):
            start, end = edits.text.start(node), edits.text.end(node)
            function = edits.text.end(node.func)
            inner = edits.text.data[function:end].decode()
            made = f"{draws}{inner}"
            edits.replace(start, end, made if node in call.args else f"({made})")
        elif isinstance(node, ast.Call) and (shape := _of_zeros(node)):
            made = f"({draws}({shape}))"
            edits.replace(edits.text.start(node), edits.text.end(node), made)


def _draws(name: str) -> str:
    """What draws a parameter of a name: of what has a root, no number below zero."""
    return "torch.rand" if _VARIANCE.search(name) else f"{_SCALE} * torch.randn"


def _draw_before(edits: Edits, function: ast.FunctionDef, makers: Collection[str]) -> None:
    """Draw what a function makes first, and then a parameter of: ``w = torch.empty(8, 8)``, ``Parameter(w)``.

    Not what it sets in part, ``w[0, 0] = 1``: what is left zero is meant to be.
    """
    inside = [*nodes(function)]
    given = (n.args[0] for n in inside if isinstance(n, ast.Call) and _called(n) in makers and n.args)
    names = {value.id for value in given if isinstance(value, ast.Name)}
    parts = (n for n in inside if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store))
    names -= {part.value.id for part in parts if isinstance(part.value, ast.Name)}
    for node in inside if names else ():
        value = node.value if isinstance(node, ast.Assign) else None
        if isinstance(node, ast.Assign) and isinstance(value, ast.Call) and ast.unparse(node.targets[0]) in names:
            name = ast.unparse(node.targets[0])
            if _MADE.fullmatch(ast.unparse(value.func)) and _sizes(value, name):
                edits.replace(edits.text.start(value), edits.text.end(value.func), _draws(name))


def _of_zeros(node: ast.Call) -> str:
    """The shape of a tensor that is made of one zero, ``torch.tensor(0.)`` or ``torch.tensor([0.0])``, else ""."""
    if not re.fullmatch(r"torch\.(tensor|Tensor|FloatTensor)", ast.unparse(node.func)) or not node.args:
        return ""
    value = node.args[0]
    items = value.elts if isinstance(value, ast.List) else [value]
    zeros = all(isinstance(i, ast.Constant) and i.value == 0 and not isinstance(i.value, bool) for i in items)
    of_sizes = not isinstance(value, ast.List) and not ast.unparse(node.func).endswith(".tensor")
    return "" if not zeros or of_sizes or not items else f"{len(items)}" if isinstance(value, ast.List) else "()"


def _sizes(node: ast.Call, name: str) -> bool:
    """Whether numbers of a tensor are made of sizes, not of values: ``torch.Tensor([0.5])`` is one of values.

    So is one of what had its ``name`` before: ``self.basis = nn.Parameter(torch.Tensor(self.basis))``.
    """
    if any(k.arg == "dtype" and _WHOLE.search(ast.unparse(k.value)) for k in node.keywords):
        return False  # none of these can be drawn so, and what counts begins at zero
    if ast.unparse(node.func).endswith("Tensor"):
        listed = node.args and isinstance(node.args[0], ast.List | ast.ListComp | ast.GeneratorExp)
        computed = node.args and re.match(r"(np|numpy|librosa)\.", ast.unparse(node.args[0]))
        return bool(node.args) and not listed and not computed and ast.unparse(node.args[0]) != name
    return bool(node.args or node.keywords)


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else str(getattr(call.func, "id", ""))

"""Values that statements of a package give to names: defaults, fields, settings of holders, constants of scripts.

How much one counts says how sure it is that the name is a setting: records and classes that only hold values most,
variables of a function least.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

OPTION, FIELD, SETTING, ONCE = 6, 3, 3, 1  # an option of the command line is what its users choose
SHORTEST = 3  # characters of the name of a variable that may be a setting: others are counters
_HOLDER = ("dict", "Namespace", "SimpleNamespace", "EasyDict", "edict", "AttrDict", "Munch", "HParams", "DotMap",
           "Bunch", "ConfigDict")  # fmt: skip
_FIELDS = ("field", "Field", "ib", "attrib")
# Calls whose keywords are arguments of an operator: they tell nothing of this package's names.
_OPERATORS = (
    "nn",
    "torch",
    "F",
    "np",
    "numpy",
    "plt",
    "optim",
    "random",
    "os",
    "pd",
    "cv2",
    "tf",
    "math",
    "transforms",
)
Said = tuple[str, ast.expr, int]  # name, value, how much it counts


def said(node: ast.AST) -> Iterator[Said]:
    """Values that a statement, or a mapping or call in one, gives to names."""
    if isinstance(node, ast.FunctionDef):
        yield from _defaults(node)
    elif isinstance(node, ast.ClassDef):
        yield from _fields(node)
    elif isinstance(node, ast.Assign):
        yield from ((t.attr, node.value, ONCE) for t in node.targets if isinstance(t, ast.Attribute))
        names = (t.id for t in node.targets if isinstance(t, ast.Name) and len(t.id) >= SHORTEST)
        yield from ((n.lower() if n.isupper() else n, node.value, ONCE) for n in names)
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value, value, ONCE
    elif isinstance(node, ast.Call):
        yield from _keywords(node)
        yield from _absent(node)


def _absent(node: ast.Call) -> Iterator[Said]:
    """What stands for a setting that is not given: ``kwargs.pop("width", 64)``.

    What ``getattr(config, "width", 64)`` says is taken where the program itself says it, see ``reading.Reading``.
    """
    takes = isinstance(node.func, ast.Attribute) and node.func.attr in ("pop", "get", "setdefault")
    first = node.args[0] if takes and len(node.args) == 2 else None
    name = first.value if isinstance(first, ast.Constant) else ""
    if isinstance(name, str) and len(name) >= SHORTEST and name.isidentifier():
        yield name, node.args[1], SETTING


def _defaults(node: ast.FunctionDef) -> Iterator[Said]:
    given = [*node.args.posonlyargs, *node.args.args]
    last = given[len(given) - len(node.args.defaults) :]
    pairs = [*zip(last, node.args.defaults, strict=True),
             *zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)]  # fmt: skip
    yield from ((argument.arg, default, ONCE) for argument, default in pairs if default is not None)


def _fields(node: ast.ClassDef) -> Iterator[Said]:
    """Fields of a record, and what a class that has no methods of its own holds."""
    holds = not any(isinstance(s, ast.FunctionDef) and s.name != "__init__" for s in node.body)
    for field in node.body:
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and field.value is not None:
            yield field.target.id, _default(field.value), FIELD
        elif isinstance(field, ast.Assign) and holds:
            yield from ((t.id, field.value, FIELD) for t in field.targets if isinstance(t, ast.Name))


def _default(value: ast.expr) -> ast.expr:
    """What a field is by default where it is spelled ``field(default=...)``, as in dataclasses and pydantic."""
    if not isinstance(value, ast.Call) or ast.unparse(value.func).split(".")[-1] not in _FIELDS:
        return value
    named = {k.arg: k.value for k in value.keywords}
    made = named.get("default_factory")
    first = value.args[0] if value.args else value
    return named.get("default", made.body if isinstance(made, ast.Lambda) else first)


def _keywords(node: ast.Call) -> Iterator[Said]:
    """Settings in a call that makes a holder of them, or gives them to a part of the package."""
    name = ast.unparse(node.func) if isinstance(node.func, ast.Name | ast.Attribute) else ""
    holds = name in _HOLDER or name.split(".")[-1].lower().endswith(("config", "params", "args"))
    operates = name.split(".")[0] in _OPERATORS and not name.endswith("HParams")  # ``tf.contrib.training.HParams(...)``
    if not name or operates:
        return
    for keyword in node.keywords:
        if keyword.arg is not None and (holds or len(keyword.arg) >= SHORTEST):
            yield keyword.arg, keyword.value, SETTING if holds else ONCE

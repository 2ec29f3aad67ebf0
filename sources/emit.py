"""The text of a task: origin, imports, definitions, named sizes, and KernelBench's two functions."""

from __future__ import annotations

import ast
import inspect
import math
import re

from sources.infer.constructor import configs, parts
from sources.infer.constructor.configs import CONFIG
from sources.infer.forward.variants import Arguments
from sources.infer.inputs import MASK_DENSITY, Many, Plain, Spec
from sources.infer.search import Solution
from sources.infer.sizes import Size, Slot, literals
from sources.text.parsers import NAMESPACE_IMPORT

# Of members of an enumeration, which may be such, too, ``repr`` is no expression.
_PLAIN = (bool, int, float, str, type(None))


def emit(
    source: str, solution: Solution, sizes: list[Size], signature: inspect.Signature | None, mappings: bool = False
) -> str:
    """The whole task. ``source`` is the cut text, ``signature`` the constructor's; settings may be ``mappings``."""
    names = {slot: size.name for size in sizes for slot in size.slots}
    inputs = ", ".join(_input(spec, (i,), names) for i, spec in enumerate(solution.specs))
    arguments = _init(solution.arguments, names, signature, source, mappings)
    text = _with_imports(source, arguments)
    constants = "\n".join(f"{size.name} = {size.value}" for size in sizes)
    functions = f"def get_inputs():\n    return [{inputs}]\n\n\ndef get_init_inputs():\n    return {arguments}\n"
    return f"{text.rstrip()}\n\n\n{constants}\n\n\n{functions}" if constants else f"{text.rstrip()}\n\n\n{functions}"


def _with_imports(source: str, arguments: str) -> str:
    """Imports that only the constructor's arguments need."""
    lines = []
    if "SimpleNamespace(" in arguments and NAMESPACE_IMPORT not in source:
        lines.append(NAMESPACE_IMPORT)
    if re.search(r"\bnn\.", arguments) and not re.search(
        r"^(import torch\.nn as nn|from torch import .*\bnn\b)", source, re.M
    ):
        lines.append("import torch.nn as nn")
    if "functools." in arguments and "import functools" not in source:
        lines.append("import functools")
    if re.search(r"\bF\.", arguments) and "as F\n" not in source:
        lines.append("import torch.nn.functional as F")
    texts = ((configs.NAME, configs.CLASS), (configs.COUNTED, configs.COUNTED_CLASS), (parts.NAME, parts.CLASS))
    wanted = ((n, text) for n, text in texts if f"{n}(" in arguments and not re.search(rf"(?m)^class {n}\b", source))
    made = "".join(f"\n\n\n{text.rstrip()}" for _, text in wanted)  # a program's own class of the name is meant
    return "\n".join([*lines, source.rstrip() + made])


def _input(spec: Spec, path: tuple[int, ...], names: dict[Slot, str]) -> str:
    if isinstance(spec, Plain):
        return next((n for s, n in names.items() if s.path == path and s.kind == "plain"), _spelled(spec.value))
    if isinstance(spec, Many):
        inner = [_input(item, (*path, i), names) for i, item in enumerate(spec.items)]
        if spec.kind == "dict":
            return "{" + ", ".join(f"{k!r}: {v}" for k, v in zip(spec.keys, inner, strict=True)) + "}"
        if spec.kind == "list":
            return f"[{', '.join(inner)}]"
        return f"({', '.join(inner)}{',' if len(inner) == 1 else ''})"
    by_place = {(s.kind, s.index): n for s, n in names.items() if s.path == path and s.kind != "init"}
    shape = [by_place.get(("input", i), str(size)) for i, size in enumerate(spec.shape)]
    if spec.kind == "int":
        high = by_place.get(("high", 0), str(spec.high))
        return f"torch.randint({spec.low}, {high}, ({', '.join(shape)}{',' if len(shape) == 1 else ''}))"
    if spec.kind == "full":
        return (
            f"torch.full(({', '.join(shape)}{',' if len(shape) == 1 else ''}), {by_place.get(('full', 0), spec.high)})"
        )
    inner_shape = ", ".join(shape) or "()"
    if spec.kind == "bool":
        return f"torch.rand({inner_shape}) < {MASK_DENSITY}"
    return f"torch.{'rand' if spec.kind == 'unit' else 'randn'}({inner_shape})"


def _init(
    arguments: Arguments, names: dict[Slot, str], signature: inspect.Signature | None, source: str, mappings: bool
) -> str:
    """The list that ``get_init_inputs`` returns: positional, with defaults filled in where there is a gap."""
    spelled = {name: _argument(name, text, names) for name, text in arguments.items() if "." not in name}
    fields = {name: _argument(name, text, names) for name, text in arguments.items()}
    for name, text in arguments.items():
        if text == CONFIG and "." not in name:
            spelled[name] = configs.text(name, fields, source, mappings)
    positional: list[str] = []
    rest = dict(spelled)
    for parameter in signature.parameters.values() if signature else ():
        if not rest or parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            break
        if parameter.name in rest:
            positional.append(rest.pop(parameter.name))
        elif type(parameter.default) in _PLAIN:
            positional.append(_spelled(parameter.default))
        else:
            break
    # A list and a mapping alone would be taken for arguments by position and by name.
    alike = len(positional) == 2 and positional[0][:1] == "[" and not _is_plain(positional[1])
    if not rest and not alike:
        return f"[{', '.join(positional)}]"
    keyword = ", ".join(f"{name!r}: {text}" for name, text in rest.items())
    return f"[[{', '.join(positional)}], {{{keyword}}}]"


def _spelled(value: object) -> str:
    """A plain value as an expression: of numbers that are none, ``inf``, the name alone says nothing."""
    return f"float({str(value)!r})" if isinstance(value, float) and not math.isfinite(value) else repr(value)


def _is_plain(text: str) -> bool:
    """Whether an argument is written as a number, a text, or a list of some, which is no mapping."""
    return isinstance(ast.parse(text, mode="eval").body, ast.Constant | ast.List | ast.Tuple | ast.UnaryOp | ast.Name)


def _argument(name: str, text: str, names: dict[Slot, str]) -> str:
    if text.startswith("<"):
        return text
    tree = ast.parse(text, mode="eval")
    by_index = {s.index: n for s, n in names.items() if s.kind == "init" and s.key == name}
    replaced = {id(node): by_index[i] for i, node in enumerate(literals(tree)) if i in by_index}

    class Naming(ast.NodeTransformer):
        def visit_Constant(self, node: ast.Constant) -> ast.expr:
            return ast.Name(replaced[id(node)]) if id(node) in replaced else node

    return ast.unparse(Naming().visit(tree))

"""A library's registry of ATen operators as recipes: the operator is the reference, its schema says what it takes."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from sources.pairs.package import KernelPackage
from sources.pairs.recipe import Recipe
from sources.text.targets import Here

SIZES = "rows, columns = 512, 1024"
TENSOR = "torch.randn(rows, columns)"
RENAMED = {"self": "x", "input": "x"}  # arguments of operators, as a task names them
NUMBERS = {"dim": "-1", "alpha": "1.5", "exponent": "2", "value": "0.5", "threshold": "0.1"}
ABSENT = "not in the registry"
Refused = dict[str, str]


def recipes(package: KernelPackage, path: str, given: Iterable[Recipe]) -> tuple[list[Recipe], list[Refused]]:
    """A recipe for each operator that the registry in the file ``path`` maps to a function, and what became none.

    A given recipe of the operator's name says what its schema does not.
    """
    known = {r.name: r for r in given}
    found, refused = list[Recipe](), list[Refused]()
    for operator, function in registered(package, path):
        module = path.removeprefix("src/").removesuffix("/__init__.py").replace("/", ".")
        try:
            found.append(_recipe(operator, f"{module}:{function}", known.pop(operator, None)))
        except ValueError as error:
            target = package.lookup(path, function)
            where = target.file if isinstance(target, Here) else ""
            refused.append({"name": operator, "path": where, "reason": str(error), "detail": ""})
    whole = [r for r in known.values() if r.kernel and r.reference]
    absent = [{"name": r.name, "path": "", "reason": ABSENT, "detail": ""} for r in known.values() if r not in whole]
    return [*found, *whole], refused + absent


def registered(package: KernelPackage, path: str) -> Iterator[tuple[str, str]]:
    """Pairs of an operator's name and a function's in the tuples of a file."""
    file = package.file(path)
    seen: set[str] = set()
    for node in ast.walk(file.tree) if file else ():
        match node:
            case ast.Tuple(elts=[ast.Constant(value=str() as operator), ast.Name(id=function)]):
                if operator not in seen:
                    seen.add(operator)
                    yield operator, function


def _recipe(operator: str, function: str, given: Recipe | None) -> Recipe:
    """The recipe of one operator.

    Raises:
        ValueError: there is none; the message is the reason.
    """
    base, _, overload = operator.partition(".")
    if base.endswith("_") or "out" in overload:
        raise ValueError("writes into what it is given")
    if given is not None and given.kernel:
        return replace(given, sizes=given.sizes or SIZES)
    inputs, arguments, sizes = dict[str, str](), "", SIZES
    schema = _schema(base, overload)
    if given is None or not given.inputs:
        inputs, arguments = _drawn(schema)
    if given is not None:
        inputs, sizes = dict(given.inputs) or inputs, given.sizes or sizes
        arguments = given.arguments or arguments or ", ".join(inputs)
    reference = given.reference if given and given.reference else f"{_spelled(base, overload)}({arguments})"
    made = Recipe(operator, f"{function}({arguments})", reference, inputs, sizes)
    return replace(made, init=given.init if given else {})


def _schema(base: str, overload: str) -> Any:
    import torch

    packet = getattr(torch.ops.aten, base, None)
    chosen = getattr(packet, overload or "default", None) if packet else None
    if chosen is None:
        raise ValueError("no such operator")
    if torch.Tag.nondeterministic_seeded in chosen.tags:
        raise ValueError("draws random numbers")
    return chosen._schema


def _drawn(schema: Any) -> tuple[dict[str, str], str]:
    inputs: dict[str, str] = {}
    arguments: list[str] = []
    for argument in schema.arguments:
        kind = str(argument.type)
        name = RENAMED.get(argument.name, argument.name)
        if argument.has_default_value():
            continue
        if kind == "Tensor":
            inputs[name] = TENSOR
            said = name
        elif argument.name in NUMBERS:
            said = NUMBERS[argument.name]
        elif kind == "number":
            said = "0.7"
        else:
            raise ValueError("its inputs are not known")
        arguments.append(f"{argument.name}={said}" if argument.kwarg_only else said)
    if not inputs:
        raise ValueError("takes no tensor")
    return inputs, ", ".join(arguments)


def _spelled(base: str, overload: str) -> str:
    """The operator as people call it, else as ATen does."""
    import torch

    if base.startswith("linalg_"):
        return f"torch.linalg.{base.removeprefix('linalg_')}"
    if callable(getattr(torch, base, None)) and not base.startswith("_"):
        return f"torch.{base}"
    if callable(getattr(torch.nn.functional, base, None)) and not base.startswith("_"):
        return f"F.{base}"
    return f"torch.ops.aten.{base}" + (f".{overload}" if overload else "")

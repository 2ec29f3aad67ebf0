"""Reading Inductor's output module: its kernels, and the calls that its wrapper makes.

The output is Python text, so it is read with ``ast``.  Nothing of it is executed.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from kdata.align.errors import AlignError
from kdata.align.trees import walk


@dataclass(slots=True)
class Kernel:
    """One Triton kernel as Inductor wrote it."""

    name: str
    function: ast.FunctionDef
    combines: list[ast.FunctionDef]  # the jit functions that its scans and reductions combine with
    kind: str  # "pointwise", "reduction", "persistent_reduction", ...
    hints: dict[str, int]  # expected number of elements along "x", "y", "z", "r0_"
    inner: bool  # a reduction along the innermost dimension
    signature: dict[str, str]  # argument -> "*fp32", "i64", "constexpr", ...
    is_matmul: bool


@dataclass(slots=True)
class Module:
    """Inductor's output: kernels by name, and the wrapper's statements in order."""

    kernels: dict[str, Kernel]
    arguments: list[str]
    body: list[ast.stmt]
    returns: list[ast.expr] = field(default_factory=list)


def parse(code: str) -> Module:
    """Read an output module.

    Raises:
        AlignError: it holds something that is no Triton kernel, or no wrapper.
    """
    kernels: dict[str, Kernel] = {}
    wrapper: ast.FunctionDef | None = None
    for statement in walk(ast.parse(code)):
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
            made = ast.unparse(statement.value.func)
            if made == "async_compile.triton":
                kernel = _kernel(ast.unparse(statement.targets[0]), statement.value.args[1])
                kernels[kernel.name] = kernel
            elif made.startswith("async_compile."):
                raise AlignError("not Triton", f"Inductor wrote {made.removeprefix('async_compile.')} code")
        elif isinstance(statement, ast.FunctionDef) and statement.name == "call":
            wrapper = statement
    if wrapper is None:
        raise AlignError("compiler output", "Inductor's module has no wrapper")
    return _wrapper(kernels, wrapper)


def _kernel(name: str, text: ast.expr) -> Kernel:
    assert isinstance(text, ast.Constant)
    functions = [s for s in ast.parse(str(text.value)).body if isinstance(s, ast.FunctionDef)]
    main = functions[-1]
    options = next(d for d in main.decorator_list if isinstance(d, ast.Call))
    given = {k.arg: k.value for k in options.keywords}
    meta = given["triton_meta"]
    assert isinstance(meta, ast.Dict)
    signature = next(
        v for k, v in zip(meta.keys, meta.values, strict=True) if ast.literal_eval(k or meta) == "signature"
    )
    main.decorator_list = []
    for function in functions[:-1]:
        function.decorator_list = []
    return Kernel(
        name=name,
        function=main,
        combines=functions[:-1],
        kind=ast.unparse(options.func).rpartition(".")[2],
        hints=ast.literal_eval(given["size_hints"]),
        inner="INNER" in ast.unparse(given["reduction_hint"]) if "reduction_hint" in given else True,
        signature=ast.literal_eval(signature),
        is_matmul=any(isinstance(n, ast.Attribute) and n.attr == "dot" for n in walk(main)),
    )


def _wrapper(kernels: dict[str, Kernel], wrapper: ast.FunctionDef) -> Module:
    module = Module(kernels, [], [])
    for statement in _flat(wrapper.body):
        match statement:
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Name(id="args")):
                module.arguments = [ast.unparse(n) for n in names]
            case ast.Return(value=ast.Tuple(elts=values)):
                module.returns = list(values)
            case ast.Delete() | ast.Expr(value=ast.Constant()):
                continue
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="clear" | "set_device"))):
                continue
            case ast.Assign(value=ast.Call(func=ast.Name(id="get_raw_stream"))):
                continue
            case _:
                module.body.append(statement)
    return module


def _flat(body: list[ast.stmt]) -> list[ast.stmt]:
    """Statements with device guards opened."""
    flat: list[ast.stmt] = []
    for statement in body:
        flat += _flat(statement.body) if isinstance(statement, ast.With) else [statement]
    return flat

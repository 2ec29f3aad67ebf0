"""The candidate's text: kernels, launchers and ``ModelNew``, from a traced task and Inductor's output for it."""

from __future__ import annotations

import ast
import re
from typing import Any

import torch

from kdata.align import helpers, inductor, kernel, launch, symbols
from kdata.align.attributes import WORDS
from kdata.align.errors import AlignError
from kdata.align.forward import forward
from kdata.align.layers import is_kept, kept, write_call
from kdata.align.model import model
from kdata.align.naming import identifier, label, unique
from kdata.align.outputs import Outputs
from kdata.align.rebuild import rebuilt
from kdata.align.state import Forward, attribute, base, base_name, offset, say, short, sizes
from kdata.align.trace import Traced
from kdata.align.trees import walk
from kdata.align.windowed import POOL

ORDERED = "from collections import OrderedDict"
HEADER = "import torch\nimport triton\nimport triton.language as tl\n"


def write(source: str, entry_point: str, traced: Traced, module: inductor.Module) -> tuple[str, list[str]]:
    """The candidate's text, not yet formatted, and the operators that it leaves to ATen."""
    state = Forward(traced, module, dict(traced.names), {})
    state.taken = {"self", "grid", *state.known.values(), *helpers.SOURCES}
    _arguments(state)
    state.inputs = {a.access for a in traced.arguments if a.is_input}
    state.taken |= {re.split(r"\W", a)[0] for a in state.access.values()}
    _results(state)
    _kernels(state)
    for statement in module.body:
        _statement(state, statement)
    imports, classes = _classes(state, source, entry_point)
    kernels = state.kernels.values()
    combines = {name: text for k in kernels for name, text in k.combines.items()}
    windows = [pattern.text(title) for title, pattern in state.patterns.values()]
    parts = [
        "\n".join(imports) + "\n" + HEADER,
        helpers.text({h for k in kernels for h in k.helpers}),
        *(f"@triton.jit\n{text}" for text in combines.values()),
        *(kernel for kernel, _ in windows),
        *(k.text for k in kernels),
        *(launcher for _, launcher in windows),
        *(found.text for made in state.launchers.values() for _, found, _, _ in made),
        classes,
    ]
    return "\n\n\n".join(p.strip("\n") for p in parts if p.strip()) + "\n", sorted(set(state.left))


def _kernels(state: Forward) -> None:
    """Write the kernels that are called, each named by what it computes and what its first call gives it."""
    module, calls = state.module, _calls(state)
    state.integers = {name: [integers for _, integers in made] for name, made in calls.items()}
    elsewhere = tuple("pool" if ast.unparse(call.func) == POOL else "conv" for _, call in kept(module.body))
    called = {name: made for name, made in module.kernels.items() if name in calls}
    titles = {name: unique(identifier(label(name, elsewhere)), state.taken) for name in called}
    for name, made in called.items():
        results, (given, _) = kernel.results(made), calls[name][0]
        pointers = [_pointer_name(state, argument, titles[name], results.get(p, ""))
                    for p, argument in zip(_pointers(made), given, strict=True)]  # fmt: skip
        state.kernels[name] = kernel.write(
            made, f"{titles[name]}_kernel", pointers, [values for _, values in calls[name]], state.known
        )


def _classes(state: Forward, source: str, entry_point: str) -> tuple[list[str], str]:
    """The candidate's imports, and its classes: ``ModelNew`` and those of what it answers with."""
    traced, outputs = state.traced, Outputs(state.traced)
    held = {access.rpartition(".")[2] for access in traced.attributes.values()} | set(WORDS)
    imports, classes = model(
        source, entry_point, traced.plain - held, _inherited(traced), [*traced.constants(), *outputs.classes()],
        state.kept, lambda old: forward(state, old, outputs),
    )  # fmt: skip
    imports, classes = rebuilt(source, entry_point, traced, imports, classes)
    if "OrderedDict" in outputs.classes() and ORDERED not in imports:
        imports.append(ORDERED)
    return imports, classes


def _inherited(traced: Traced) -> ast.FunctionDef:
    """The signature of a forward that the task's text leaves to a class of torch."""
    inputs = [a.access for a in traced.arguments if a.is_input]
    made = ast.parse(f"def forward(self, {', '.join(inputs)}): ...").body[0]
    assert isinstance(made, ast.FunctionDef)
    return made


def _arguments(state: Forward) -> None:
    """What each of the wrapper's arguments is: an input, a parameter, a buffer or a size."""
    for argument, node in zip(state.module.arguments, state.traced.arguments, strict=True):
        state.access[argument] = node.access
        if isinstance(node.value, torch.Tensor):
            value = node.value
            state.buffers[argument] = launch.Buffer(
                argument, _exprs(value.shape), _exprs(value.stride()), str(value.dtype)
            )
            state.written.add(argument)
        else:
            state.values[argument] = symbols.symbol(str(node.value.node.expr))
    state.values |= {extent: symbols.symbol(extent) for extent in state.traced.extents}


def _results(state: Forward) -> None:
    """Names for what convolutions and poolings make."""
    for statement in state.module.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=same)):
                state.aliases[name] = same
    returned = {base_name(node) for node in state.module.returns}
    state.final = returned | {state.aliases[name] for name in returned if name in state.aliases}
    for name, call in kept(state.module.body):
        said = "out" if name in state.final else _kept_name(call)
        state.local[name] = unique(said, state.taken)


def _kept_name(call: ast.Call) -> str:
    return "pooled" if ast.unparse(call.func) == POOL else "conv_out"


def _exprs(sizes: Any) -> tuple[Any, ...]:
    return tuple(symbols.plain(s) for s in sizes)


def _calls(state: Forward) -> dict[str, list[tuple[list[str], dict[str, Any]]]]:
    """For every kernel its calls: what its pointers are given, and its integer arguments."""
    calls: dict[str, list[tuple[list[str], dict[str, Any]]]] = {}
    values = dict(state.values)
    for statement in state.module.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_size(value, values):
                values[name] = symbols.substitute(symbols.read(value), values)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="run"), args=arguments)):
                signature = [a for a, kind in state.module.kernels[name].signature.items() if a[-5:] != "BLOCK"]
                given = dict(zip(signature, arguments, strict=True))
                kinds = state.module.kernels[name].signature
                pointers = [ast.unparse(v) for a, v in given.items() if kinds[a].startswith("*")]
                integers = {a: symbols.substitute(symbols.read(v), values) for a, v in given.items()
                            if not kinds[a].startswith("*")}  # fmt: skip
                calls.setdefault(name, []).append((pointers, integers))
    state.values = values
    return calls


def _is_size(value: ast.expr, values: dict[str, Any]) -> bool:
    if isinstance(value, ast.Constant) and value.value is None:
        return False  # the result of a check
    read = {n.id for n in walk(value) if isinstance(n, ast.Name)} - {"max", "math", "int"}
    return read <= set(values) and not any(
        isinstance(n, ast.Tuple) or (isinstance(n, ast.Attribute) and ast.unparse(n.value) != "math")
        for n in walk(value)
    )


def _pointers(made: inductor.Kernel) -> list[str]:
    return [a for a, kind in made.signature.items() if kind.startswith("*")]


def _pointer_name(state: Forward, argument: str, title: str, result: str) -> str:
    base = re.match(r"\w+", argument)
    name = base.group() if base else argument
    if argument.startswith("reinterpret_tensor"):
        name = re.match(r"reinterpret_tensor\((\w+)", argument).group(1)  # type: ignore[union-attr]
    name = state.aliases.get(name, name)
    if name in state.access:
        return short(state.access[name])
    said = "out" if name in state.final else f"{title}_{result or 'out'}"
    return state.local.setdefault(name, unique(said, state.taken))


def _statement(state: Forward, statement: ast.stmt) -> None:
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in state.values and _is_size(
            value, state.values
        ):
            return
        case ast.Assign(
            targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id=made), args=[size, stride, dtype])
        ) if made.startswith("empty_strided"):
            dims = (sizes(state, size), sizes(state, stride))
            state.buffers[name] = launch.Buffer(name, *dims, ast.unparse(dtype))
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id="reinterpret_tensor")) as value):
            state.views[name] = value
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=same)):
            state.views[name] = ast.Name(same, ast.Load())
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if is_kept(call):
            write_call(state, name, call)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="run")) as call):
            _launch(state, name, call)
        case _:
            raise AlignError("left to ATen", ast.unparse(statement).splitlines()[0][:200])


def _launch(state: Forward, name: str, node: ast.Call) -> None:
    made = state.kernels[name]
    signature = [a for a in state.module.kernels[name].signature if a[-5:] != "BLOCK"]
    given = dict(zip(signature, node.args, strict=True))
    tensors = [state.buffers[base(state, given[p])] for p in made.pointers]
    offsets = [offset(state, given[p]) for p in made.pointers]
    values = state.integers[name].pop(0)
    fresh = {t.name for t in tensors} - state.written
    call = launch.Call(made, tensors, offsets, fresh, values)
    title, found = _launcher(state, name, call)
    arguments = [say(state, t.name) for t in dict.fromkeys(tensors) if t.name not in fresh]
    arguments += [_size(state, s) for s in found.extra]
    if "device" in found.parameters:
        arguments.append(f"{_any_tensor(state)}.device")
    outputs = [state.local.setdefault(o, unique("out", state.taken)) for o in found.outputs]
    left = f"{', '.join(outputs)} = " if outputs else ""
    state.lines.append(f"{left}{title}({', '.join(arguments)})")
    state.written |= fresh


def _any_tensor(state: Forward) -> str:
    """A tensor that forward has, to ask for its device."""
    for access in state.access.values():
        if access in state.inputs:
            return access
    raise AlignError("no tensors", "neither inputs nor parameters: nothing says on which device to compute")


def _launcher(state: Forward, name: str, call: launch.Call) -> tuple[str, launch.Launcher]:
    """An existing launcher of the kernel, if its text serves this call too, else a new one."""
    made = state.launchers.setdefault(name, [])
    for title, found, first, names in made:
        local = {new.name: names[old.name] for old, new in zip(first.tensors, call.tensors, strict=True)}
        again = launch.write(call, title, local, _unify(state.known, first, call))
        if again.text == found.text:
            return title, again
    base = call.kernel.name.removesuffix("_kernel")
    title = base if not made else unique(base, state.taken)
    taken = {"grid", *state.known.values(), title, call.kernel.name}
    names = {t: unique(n, taken) for t, n in _local_names(state, call).items()}
    found = launch.write(call, title, names, state.known)
    made.append((title, found, call, names))
    return title, found


def _local_names(state: Forward, call: launch.Call) -> dict[str, str]:
    chosen: dict[str, str] = {}
    outputs = [t.name for t in dict.fromkeys(call.tensors) if t.name in call.fresh]
    for tensor in call.tensors:
        if tensor.name in state.access:
            chosen[tensor.name] = short(state.access[tensor.name])
        elif tensor.name in call.fresh:
            chosen[tensor.name] = "out" if len(outputs) == 1 else state.local.get(tensor.name, "out")
        else:
            chosen[tensor.name] = state.local.get(tensor.name, "x")
    return chosen


def _unify(known: dict[str, str], first: launch.Call, second: launch.Call) -> dict[str, str]:
    """The second call's sizes under the names that the first one's have in the same places."""
    renamed = dict(known)
    for a, b in zip(first.tensors, second.tensors, strict=True):
        for old, new in zip(a.size, b.size, strict=False):
            if old.is_Symbol and new.is_Symbol:
                renamed[str(new)] = known[str(old)]
    return renamed


def _size(state: Forward, size: Any) -> str:
    return attribute(state, str(size)) if str(size) in state.traced.scalars else state.known[str(size)]

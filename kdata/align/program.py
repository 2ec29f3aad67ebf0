"""The candidate's text: kernels, launchers and ``ModelNew``, from a traced task and Inductor's output for it."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import Any

import sympy
import torch

from kdata.align import helpers, inductor, kernel, launch, symbols
from kdata.align.errors import AlignError
from kdata.align.model import model
from kdata.align.naming import identifier, label, unique
from kdata.align.outputs import Outputs
from kdata.align.trace import Traced
from kdata.align.trees import Transformer, walk

HEADER = "import torch\nimport triton\nimport triton.language as tl\n"


@dataclass(slots=True)
class Forward:
    """The new forward while it is written."""

    traced: Traced
    module: inductor.Module
    known: dict[str, str]  # size symbol -> name
    access: dict[str, str]  # Inductor's argument -> how forward says it
    buffers: dict[str, launch.Buffer] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)  # Inductor's integer variables -> expressions
    written: set[str] = field(default_factory=set)
    local: dict[str, str] = field(default_factory=dict)  # buffer -> local name
    views: dict[str, ast.expr] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    launchers: dict[str, list[tuple[str, launch.Launcher, launch.Call, dict[str, str]]]] = field(default_factory=dict)
    kernels: dict[str, kernel.Written] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)
    integers: dict[str, list[dict[str, Any]]] = field(default_factory=dict)  # of every call still to be written
    inputs: set[str] = field(default_factory=set)
    kept: dict[str, str] = field(default_factory=dict)  # constructor parameters -> attributes that keep them
    final: set[str] = field(default_factory=set)  # buffers that forward returns


def write(source: str, entry_point: str, traced: Traced, code: str) -> tuple[str, list[str]]:
    """The candidate's text, not yet formatted, and the operators that it leaves to ATen."""
    module = inductor.parse(code)
    state = Forward(traced, module, dict(traced.names), {})
    state.taken = {"self", "grid", *state.known.values(), *helpers.SOURCES}
    _arguments(state)
    state.inputs = {a.access for a in traced.arguments if a.is_input}
    state.taken |= {re.split(r"\W", a)[0] for a in state.access.values()}
    calls = _calls(state)
    state.integers = {name: [integers for _, integers in made] for name, made in calls.items()}
    state.final = {_base_name(node) for node in module.returns}
    titles = {name: unique(identifier(label(name)), state.taken) for name in module.kernels if name in calls}
    for name, made in module.kernels.items():
        if name in calls:
            chosen = titles[name]
            results = kernel.results(made)
            pointers = [_pointer_name(state, argument, chosen, results.get(p, ""))
                        for p, argument in zip(_pointers(made), calls[name][0][0], strict=True)]  # fmt: skip
            state.kernels[name] = kernel.write(
                made, f"{chosen}_kernel", pointers, [values for _, values in calls[name]], state.known
            )
    for statement in module.body:
        _statement(state, statement)
    outputs = Outputs(traced)
    held = {access.rpartition(".")[2] for access in traced.attributes.values()}
    imports, classes = model(
        source, entry_point, traced.plain - held, _inherited(traced), traced.constants(), state.kept,
        lambda old: _forward(state, old, outputs),
    )  # fmt: skip
    needed = {h for k in state.kernels.values() for h in k.helpers}
    launchers = [found.text for made in state.launchers.values() for _, found, _, _ in made]
    combines = {name: text for k in state.kernels.values() for name, text in k.combines.items()}
    parts = [
        "\n".join(imports) + "\n" + HEADER,
        helpers.text(needed),
        *(f"@triton.jit\n{text.replace('_triton_helper_fn_', 'combine_')}" for text in combines.values()),
        *(k.text for k in state.kernels.values()),
        *launchers,
        classes,
    ]
    return "\n\n\n".join(p.strip("\n") for p in parts if p.strip()) + "\n", sorted(set(state.left))


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


def _exprs(sizes: Any) -> tuple[Any, ...]:
    return tuple(plain(s) for s in sizes)


def plain(size: Any) -> Any:
    """A dimension of a traced tensor in our symbols."""
    expression = size.node.expr if isinstance(size, torch.SymInt) else sympy.Integer(int(size))
    text = re.sub(r"\bFloorDiv\(", "floordiv(", str(expression))
    tree = ast.parse(text, mode="eval").body
    return symbols.read(_calls_to_operators(tree))


class _Operators(Transformer):
    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        match ast.unparse(node.func):
            case "floordiv":
                return ast.BinOp(node.args[0], ast.FloorDiv(), node.args[1])
            case "Mod" | "PythonMod":
                return ast.BinOp(node.args[0], ast.Mod(), node.args[1])
            case "Max":
                return ast.Call(ast.Name("max", ast.Load()), node.args, [])
        return node


def _calls_to_operators(tree: ast.expr) -> ast.expr:
    changed: ast.expr = _Operators().visit(tree)
    return changed


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
    read = {n.id for n in walk(value) if isinstance(n, ast.Name)} - {"max", "math", "int"}
    return read <= set(values) and not any(
        isinstance(n, ast.Tuple) or (isinstance(n, ast.Attribute) and ast.unparse(n.value) != "math")
        for n in walk(value)
    )


def _base_name(node: ast.expr) -> str:
    """The buffer under inline views."""
    while isinstance(node, ast.Call) and node.args:
        node = node.args[0]
    return ast.unparse(node)


def _pointers(made: inductor.Kernel) -> list[str]:
    return [a for a, kind in made.signature.items() if kind.startswith("*")]


def _pointer_name(state: Forward, argument: str, title: str, result: str) -> str:
    base = re.match(r"\w+", argument)
    name = base.group() if base else argument
    if argument.startswith("reinterpret_tensor"):
        name = re.match(r"reinterpret_tensor\((\w+)", argument).group(1)  # type: ignore[union-attr]
    if name in state.access:
        return _short(state.access[name])
    said = "out" if name in state.final else f"{title}_{result or 'out'}"
    return state.local.setdefault(name, unique(said, state.taken))


def _short(access: str) -> str:
    """``self.block[0].fc1.weight`` -> fc1_weight; ``x`` -> x."""
    parts = [p for p in re.split(r"\W+", access) if p and p != "self"]
    return identifier(
        "_".join(parts[-2:]) if parts[-1] in ("weight", "bias", "running_mean", "running_var") else parts[-1]
    )


def _statement(state: Forward, statement: ast.stmt) -> None:
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in state.values and _is_size(
            value, state.values
        ):
            return
        case ast.Assign(
            targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id=made), args=[size, stride, dtype])
        ) if made.startswith("empty_strided"):
            dims = (_sizes(state, size), _sizes(state, stride))
            state.buffers[name] = launch.Buffer(name, *dims, ast.unparse(dtype))
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id="reinterpret_tensor")) as value):
            state.views[name] = value
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=same)):
            state.views[name] = ast.Name(same, ast.Load())
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="run")) as call):
            _launch(state, name, call)
        case _:
            raise AlignError("left to ATen", ast.unparse(statement).splitlines()[0][:200])


def _sizes(state: Forward, node: ast.expr) -> tuple[Any, ...]:
    assert isinstance(node, ast.Tuple)
    return tuple(symbols.substitute(symbols.read(e), state.values) for e in node.elts)


def _base(state: Forward, node: ast.expr) -> str:
    """The buffer under views."""
    while True:
        match node:
            case ast.Name(id=name) if name in state.views:
                node = state.views[name]
            case ast.Name(id=name):
                return name
            case ast.Call(func=ast.Name(id="reinterpret_tensor"), args=[inner, *_]):
                node = inner
            case _:
                raise AlignError("compiler output", f"an argument {ast.unparse(node)}")


def _launch(state: Forward, name: str, node: ast.Call) -> None:
    made = state.kernels[name]
    signature = [a for a in state.module.kernels[name].signature if a[-5:] != "BLOCK"]
    given = dict(zip(signature, node.args, strict=True))
    tensors = [state.buffers[_base(state, given[p])] for p in made.pointers]
    offsets = [_offset(state, given[p]) for p in made.pointers]
    values = state.integers[name].pop(0)
    fresh = {t.name for t in tensors} - state.written
    call = launch.Call(made, tensors, offsets, fresh, values)
    title, found = _launcher(state, name, call)
    arguments = [_say(state, t.name) for t in dict.fromkeys(tensors) if t.name not in fresh]
    arguments += [_size(state, s) for s in found.extra]
    if "device" in found.parameters:
        arguments.append(f"{_any_tensor(state)}.device")
    outputs = [state.local.setdefault(o, unique("out", state.taken)) for o in found.outputs]
    left = f"{', '.join(outputs)} = " if outputs else ""
    state.lines.append(f"{left}{title}({', '.join(arguments)})")
    state.written |= fresh


def _any_tensor(state: Forward) -> str:
    """A tensor that forward has, to ask for its device."""
    return next(a for a in state.access.values() if a in state.inputs)


def _offset(state: Forward, node: ast.expr) -> Any:
    """How many elements into its buffer an argument starts."""
    match node:
        case ast.Name(id=name) if name in state.views:
            return _offset(state, state.views[name])
        case ast.Call(func=ast.Name(id="reinterpret_tensor"), args=[inner, _, _, offset]):
            return _offset(state, inner) + symbols.substitute(symbols.read(offset), state.values)
    return sympy.Integer(0)


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
            chosen[tensor.name] = _short(state.access[tensor.name])
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


def _say(state: Forward, buffer: str) -> str:
    return state.access.get(buffer) or state.local[buffer]


def _size(state: Forward, size: Any) -> str:
    return state.known[str(size)]


def _forward(state: Forward, old: ast.FunctionDef, outputs: Outputs) -> str:
    """The text of the new forward."""
    values = [_value(state, node) for node in state.module.returns]
    body = [*state.lines, *outputs.lines(values)]
    text = "\n".join(body)
    used = [s for s, name in state.known.items() if re.search(rf"(?<![\w.]){re.escape(name)}\b", text)]
    binding = launch.Binding(state.known)
    inputs = [(state.access[a], b) for a, b in state.buffers.items() if a in state.access]
    shapes = binding.bind([symbols.symbol(s) for s in used], inputs)
    shapes += [f"{state.known[str(s)]} = {_attribute(state, str(s))}" for s in binding.missing]
    lines = [*state.traced.given(), *state.traced.constants(), *shapes, *body]
    plain_arguments = ast.unparse(_without_annotations(old.args))
    return f"def forward({plain_arguments}):\n    " + "\n    ".join(_returning(lines))


def _attribute(state: Forward, size: str) -> str:
    """The attribute that holds a size which no shape tells, kept by the constructor if need be."""
    if size in state.traced.attributes:
        return state.traced.attributes[size]
    if size not in state.traced.parameters:
        raise AlignError("compiler output", f"a size that no shape tells: {state.known[size]}")
    parameter, attribute = state.traced.parameters[size]
    state.kept[parameter] = attribute
    return f"self.{attribute}"


def _returning(lines: list[str]) -> list[str]:
    """``y = f(x); return y`` as ``return f(x)``."""
    last = re.fullmatch(r"return (\w+)", lines[-1])
    made = re.fullmatch(rf"{last.group(1)} = (\w+\(.*\))", lines[-2]) if last and len(lines) > 1 else None
    return [*lines[:-2], f"return {made.group(1)}"] if made else lines


def _without_annotations(arguments: ast.arguments) -> ast.arguments:
    for argument in walk(arguments):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    return arguments


def _value(state: Forward, node: ast.expr) -> str:
    """A returned value: a tensor, or a view of one."""
    match node:
        case ast.Constant():
            return ast.unparse(node)
        case ast.Name(id=name) if name in state.views:
            return _value(state, state.views[name])
        case ast.Name(id=name) if name in state.buffers:
            return _say(state, name)
        case ast.Call(func=ast.Name(id="reinterpret_tensor"), args=[inner, size, stride, _]):
            base = state.buffers[_base(state, inner)]
            return _view(state, base, _sizes(state, size), _sizes(state, stride), _offset(state, node))
    expression = symbols.substitute(symbols.read(node), state.values)
    return launch.render(expression, state.known)


def _view(state: Forward, base: launch.Buffer, size: tuple[Any, ...], stride: tuple[Any, ...], offset: Any) -> str:
    """A view as ``view`` and ``permute``, or as a slice, where these can say it, else ``as_strided``."""
    name, said = _say(state, base.name), launch.shape(size, state.known)
    if base.is_contiguous and offset == 0:
        if size == base.size and launch.is_contiguous(size, stride):
            return name
        order = sorted(range(len(size)), key=lambda axis: (-_hint(state, stride[axis]), axis))
        if launch.is_contiguous([size[i] for i in order], [stride[i] for i in order]):
            view = f"{name}.view({', '.join(launch.render(size[i], state.known) for i in order)})"
            back = [order.index(axis) for axis in range(len(size))]
            return view if back == sorted(back) else f"{view}.permute({', '.join(map(str, back))})"
    if (part := _slice(state, base, size, stride, offset)) is not None:
        return f"{name}[{part}]"
    start = f"{name}.storage_offset()" + (f" + {launch.render(offset, state.known)}" if offset != 0 else "")
    return f"{name}.as_strided({said}, {launch.shape(stride, state.known)}, {start})"


def _slice(
    state: Forward, base: launch.Buffer, size: tuple[Any, ...], stride: tuple[Any, ...], offset: Any
) -> str | None:
    """The subscript that takes a view out of its tensor, where it is a range or a single index along one axis."""
    for axis, step in enumerate(base.stride):
        start = sympy.expand(sympy.cancel(offset / step))
        others = [n for i, n in enumerate(base.size) if i != axis], [n for i, n in enumerate(base.stride) if i != axis]
        before = ":, " * axis
        if not start.is_polynomial() or any(f.denominator != 1 for f in start.as_coefficients_dict().values()):
            continue
        if others == (list(size), list(stride)):
            return before + launch.render(start, state.known)
        kept = [n for i, n in enumerate(size) if i != axis], [n for i, n in enumerate(stride) if i != axis]
        if len(size) == len(base.size) and others == kept and (stride[axis] == step or size[axis] == 1):
            return f"{before}{launch.render(start, state.known)} : {launch.render(start + size[axis], state.known)}"
    return None


def _hint(state: Forward, expression: Any) -> int:
    return int(expression.subs({symbols.symbol(s): h for s, h in state.traced.hints.items()}))

"""From a task to a functional ATen graph whose sizes are symbols that carry the task's own names.

The task is executed with its integers (see ``kdata.task.sizes``) replaced by symbolic ones, under fake tensors: modules
and inputs of any size cost nothing, and ``batch_size`` in the text is ``batch_size`` in the graph.  An integer that
Python needs to know (a loop count, a kernel size) becomes a constant by itself.
"""

from __future__ import annotations

import ast
import inspect
import math
import numbers
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import sympy
import torch
from torch import nn
from torch._dynamo.source import ConstantSource
from torch._functorch.aot_autograd import GraphSignature, aot_export_module  # type: ignore[attr-defined]
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv
from torch.fx.traceback import preserve_node_meta
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._pytree import TreeSpec, tree_flatten, tree_flatten_with_path, tree_leaves, tree_unflatten

from kdata.align import attributes
from kdata.align.attributes import Layer, layers, plain_attributes, positional, said_as
from kdata.align.constants import drop_checks, place_constants
from kdata.align.decompose import decompositions
from kdata.align.errors import AlignError
from kdata.align.fusion import drop_unread_indices
from kdata.align.naming import identifier, unique
from kdata.align.parameters import parameter_names
from kdata.align.twins import symbolic_twins
from kdata.align.whole import NAMES, WholeNumbers
from kdata.align.windowed import extents
from kdata.align.zeros import drop_zeros
from kdata.task import INIT_INPUTS, INPUTS, Program, Size, execute, sizes, substitute

Change = Callable[[Program], None]

SYMBOLS = "__sizes__"
# An integer that only decides parameters (out_channels, num_classes) is a size; a small one may be a kernel size, a
# group count or a dimension number, which kernels are written for.
SMALLEST_PARAMETER_SIZE = 16
# What a parameter is called that counts features, as opposed to taps, groups, heads or layers.
SIZE_LIKE = re.compile(r"feature|channel|class|hidden|embed|planes|units|filters|width|vocab|d_model|in_|out_|inp|oup|"
                       r"token|patches|(^|_)(dim|size|nf|ch|c|in|out|n)$")  # fmt: skip
# Attention reads the number of heads as a size, though it is small.  Groups of channels stay a constant: with a symbol
# torch would not see that they divide the channels, and the normalisation would no longer be one kernel.
HEADS = re.compile(r"(^|_)n?heads?($|_)")
RANDOM = ("bernoulli", "rand", "normal", "uniform", "dropout", "multinomial", "exponential", "randperm")

VIEWS = frozenset("view reshape _unsafe_view permute transpose t expand unsqueeze squeeze detach alias slice select "
                  "clone unbind split split_with_sizes as_strided lift_fresh_copy sym_size unfold copy_ copy "
                  "chunk narrow "
                  "movedim flatten unflatten view_as contiguous broadcast_tensors".split())  # fmt: skip
DIMENSIONS = {
    1: ("length",),
    2: ("batch", "features"),
    3: ("batch", "length", "channels"),
    4: ("batch", "channels", "height", "width"),
    5: ("batch", "channels", "depth", "height", "width"),
}  # what the dimensions of an input are called, where the task's text does not say

numbers.Integral.register(torch.SymInt)  # nn.LayerNorm(n) asks isinstance(n, Integral)


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of the graph: how the new forward says it, and its fake value."""

    access: str
    value: Any
    made: str = ""  # for a constant: the text that makes it, up to the device

    @property
    def is_input(self) -> bool:
        """Whether it is a tensor that forward is given."""
        given = isinstance(self.value, torch.Tensor) and not self.made
        return given and not self.access.startswith(("self.", "self["))


@dataclass(slots=True)
class Traced:
    """A task's graph and what ties it to the task's text."""

    graph: torch.fx.GraphModule
    environment: ShapeEnv
    fake: FakeTensorMode
    names: dict[str, str]  # symbols of the graph -> names
    hints: dict[str, int]  # symbols of the graph -> the task's own values
    arguments: list[Argument]
    updated: list[str]  # buffers and inputs that the first outputs are to be copied into
    unpacked: list[tuple[str, str]]  # names of tensors inside structured inputs or updated ones, and where they are
    output_tree: TreeSpec
    literals: dict[int, str]  # outputs that are plain numbers, words or flags: which one -> its text
    mode: str  # "train" (as constructed) or "eval"
    attributes: dict[str, str]  # symbols that attributes hold, or forward is given -> how forward says them
    parameters: dict[str, tuple[str, str]]  # symbols of constructor parameters -> parameter, attribute to keep it in
    plain: frozenset[str]  # attributes that hold neither tensors nor modules
    operators: tuple[str, ...]  # ATen's, as the author's calls dispatch them, views dropped
    layers: list[Layer]  # convolutions and poolings of the module
    extents: frozenset[str]  # symbols of sizes that convolutions and poolings made
    module: nn.Module  # as it was built, sizes as symbols
    scalars: set[str] = field(default_factory=set)  # symbols of numbers that are no sizes
    shapes: dict[str, tuple[Any, torch.dtype]] = field(default_factory=dict)  # of what was kept whole, when lowered

    def given(self) -> list[str]:
        """Lines that name the tensors inside structured inputs, and lay all out as the kernels expect them."""
        places = dict(self.unpacked)
        dense = [a.access for a in self.arguments if a.is_input and a.value.dim() and a.value.is_contiguous()]
        loose = [name for name in places if name not in dense]
        return [f"{name} = {places[name]}" for name in loose] + [
            f"{name} = {places.get(name, name)}.contiguous()" for name in dense
        ]

    def constants(self) -> list[str]:
        """Lines that make the tensors that are neither given nor held by the module as parameters or buffers."""
        device = next((f"{a.access}.device" for a in self.arguments if isinstance(a.value, torch.Tensor)), "'cuda'")
        return [f"{a.access} = {a.made}{device})" for a in self.arguments if a.made]


class _Flat(nn.Module):
    """Tensors and symbolic integers in, tensors out: the form that AOTAutograd exports."""

    def __init__(self, task: nn.Module, inputs: Sequence[Any], tree: TreeSpec) -> None:
        super().__init__()
        self.task, self.flat, self.tree = task, list(inputs), tree
        self.output_tree: TreeSpec | None = None
        self.literals: dict[int, str] = {}

    def forward(self, *arguments: Any) -> tuple[Any, ...]:
        given = iter(arguments)
        flat = [next(given) if isinstance(v, torch.Tensor) else v for v in self.flat]
        outputs, self.output_tree = tree_flatten(self.task(*tree_unflatten(flat, self.tree)))
        self.literals = {i: repr(v) for i, v in enumerate(outputs) if _is_literal(v)}
        return tuple(None if i in self.literals else v for i, v in enumerate(outputs))


def _is_literal(value: Any) -> bool:
    return type(value) in (bool, int, str) or type(value) is float and math.isfinite(value)


def trace(source: str, entry_point: str, symbols: frozenset[str] | None = None, change: Change | None = None) -> Traced:
    """Trace a task as constructed, or in eval mode where it is random as constructed.

    Args:
        source: the task's text.
        entry_point: the name of its module.
        symbols: the names of the sizes that are to be symbols; by default as many as the task bears.
        change: what is done to the program before its module is built.

    Raises:
        AlignError: the task cannot be traced, or is random in both modes.
        TaskError: the text is no task.
    """
    failure: Exception | None = None
    for chosen in [symbols] if symbols is not None else symbol_choices(source, entry_point):
        try:
            return _trace_deterministic(source, entry_point, chosen, change)
        except AlignError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever torch raises on a symbol it cannot follow
            failure = failure or error
    assert failure is not None
    raise AlignError("not traceable", f"{type(failure).__name__}: {failure}") from failure


def symbol_choices(source: str, entry_point: str) -> list[frozenset[str]]:
    """Which sizes to make symbols, most first: all, without heads, those of the inputs, not of the constructor."""
    found = [size for size in sizes(source) if size.value > 1]
    shaping = _shaping(source, entry_point)
    constructor = _names_in(source, INIT_INPUTS)
    parameters = parameter_names(source, entry_point)
    tied = {s.value for s in found if s.name in shaping}
    large = {s.name for s in found if s.value >= SMALLEST_PARAMETER_SIZE}
    called = {s.name: parameters.get(s.name, {s.name}) for s in found}
    named = {s.name for s in found if s.value in tied and any(map(SIZE_LIKE.search, called[s.name]))}
    heads = {s.name for s in found if any(map(HEADS.search, called[s.name]))}
    most = shaping | large | named
    choices = [most | heads, most, shaping | large, shaping, shaping - constructor]
    return list(dict.fromkeys(choices))


def operators(source: str, entry_point: str) -> tuple[str, ...]:
    """The task's ATen operators in order, views dropped, as its author's calls dispatch them."""
    return trace(source, entry_point).operators


def _names_in(source: str, function: str) -> set[str]:
    """The names that one function of the text uses, its own literals' included."""
    tree = next((s for s in ast.parse(source).body if isinstance(s, ast.FunctionDef) and s.name == function), None)
    if tree is None:
        return set()
    named = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    return named | {s.name for s in sizes(source) if tree.lineno <= s.line <= (tree.end_lineno or tree.lineno)}


def _trace_deterministic(source: str, entry_point: str, symbols: frozenset[str], change: Change | None) -> Traced:
    for mode in ("train", "eval"):
        traced = _trace(source, entry_point, symbols, mode, change)
        if not any(word in operator for operator in traced.operators for word in RANDOM):
            return traced
    raise AlignError("random", "forward draws random numbers in train and in eval mode")


def _shaping(source: str, entry_point: str) -> frozenset[str]:
    """The sizes that decide the shape of an input: those whose symbols its dimensions hold."""
    everything = frozenset(size.name for size in sizes(source) if size.value > 1)
    with _executed(source, entry_point, everything) as (program, symbols, _, _):
        leaves = [t for t in tree_leaves(program.inputs()) if isinstance(t, torch.Tensor)]
    dimensions = [d.node.expr for t in leaves for d in t.shape if isinstance(d, torch.SymInt)]  # type: ignore[attr-defined]
    free = {symbol for d in dimensions for symbol in d.free_symbols}
    return frozenset(name for name, symbol in symbols.items() if symbol.node.expr in free)


def _trace(source: str, entry_point: str, chosen: frozenset[str], mode: str, change: Change | None) -> Traced:
    with _executed(source, entry_point, chosen) as (program, symbols, environment, fake):
        if change is not None:
            change(program)
        module = program.build()
        if mode == "eval":
            module.eval()
        held_sizes = attributes.held_sizes(module)
        inputs = program.inputs()
        given = attributes.given_sizes(module, inputs)
        flat, tree = tree_flatten(inputs)
        wrapped = _Flat(module, flat, tree)
        arguments = [v for v in flat if isinstance(v, torch.Tensor)] + list(symbols.values())
        with preserve_node_meta():
            graph, signature = aot_export_module(wrapped, arguments, decompositions=decompositions(), trace_joint=False)
        assert wrapped.output_tree is not None
        assert isinstance(graph, torch.fx.GraphModule)
        if signature.input_tokens:
            effect = next(n for n in graph.graph.nodes if n.target is torch.ops.higher_order.with_effects)
            raise AlignError("left to ATen", f"{effect.args[1]} has effects beside its answer")
        known = {name: s.node.expr for name, s in symbols.items() if isinstance(s.node.expr, sympy.Symbol)}
        ties = _Ties(module, inputs, [v for v in flat if isinstance(v, torch.Tensor)])
        held = ties.arguments(graph, signature)
        drop_checks(graph)
        drop_unread_indices(graph)
        drop_zeros(graph)
        taken = {a.access.split(".")[0] for a in held} | set(symbols) | set(program.namespace)
        constants = place_constants(graph, module, program.namespace, taken)
        held += [Argument(name, value, made) for name, made, value in constants]
        parameters = attributes.parameter_sizes(module, program)  # which makes the constructor's arguments once more
    names = _size_names(known, held, parameter_names(source, entry_point), given)
    hints = {str(symbol): int(environment.backed_var_to_val[symbol]) for symbol in known.values()}
    made = {str(symbol): name for symbol, name in extents(environment).items()}
    taken |= set(names.values())
    names |= {symbol: unique(name, taken) for symbol, name in made.items()}
    hints |= {str(symbol): int(environment.backed_var_to_val[symbol]) for symbol in extents(environment)}
    return Traced(graph, environment, fake, names, hints, held, ties.updated(graph, signature), ties.unpacked,
                  wrapped.output_tree, wrapped.literals, mode, held_sizes | given, parameters,
                  plain_attributes(module), _operators(graph), layers(module), frozenset(made), module)  # fmt: skip


def _operators(graph: torch.fx.GraphModule) -> tuple[str, ...]:
    """What the graph's nodes were before they were decomposed; nodes of one operator stand together."""
    found: list[str] = []
    last = ""
    for node in graph.graph.nodes:
        if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
            continue
        original = node.meta.get("original_aten") or node.target
        name = str(getattr(original, "overloadpacket", original)).removeprefix("aten.").removeprefix("prims.")
        if name in VIEWS or name.startswith("sym_"):
            continue
        if str(original) == str(node.target) or str(original) != last:
            found.append(name)
        last = str(original)
    return tuple(found)


def _size_names(
    known: dict[str, sympy.Symbol],
    arguments: Sequence[Argument],
    parameters: dict[str, frozenset[str]],
    given: dict[str, str],
) -> dict[str, str]:
    """A name for every symbol: forward's, the task's own, or, for a bare literal, that of a parameter or dimension."""
    names = dict(given)
    # A constructor may call a size what forward calls an input: ``h``.
    taken = {*given.values(), *(a.access for a in arguments)}
    inputs_first = [a for a in arguments if a.is_input] + [a for a in arguments if not a.is_input]
    dims = {str(d): DIMENSIONS.get(a.value.dim(), ())[i : i + 1]
            for a in reversed(inputs_first) if isinstance(a.value, torch.Tensor)
            for i, d in enumerate(a.value.shape) if isinstance(d, torch.SymInt)}  # fmt: skip
    for name, symbol in sorted(known.items(), key=lambda item: _rank(item[0], parameters)):
        if str(symbol) in names:
            continue  # tracing found it equal to one that is named
        if name.startswith((INPUTS, INIT_INPUTS)):
            said = min(parameters.get(name, frozenset()) - taken, default="")
            name = said or "".join(dims.get(str(symbol), ())) or "n"
        names[str(symbol)] = unique(identifier(name), taken)
    return names


def _rank(name: str, parameters: dict[str, frozenset[str]]) -> int:
    """Of several names for one symbol the least is best: the author's own, for the number or for the parameter."""
    return 0 if not name.startswith((INPUTS, INIT_INPUTS)) else 1 if parameters.get(name) else 2


class _Ties:
    """What the graph's arguments and outputs are in the module."""

    def __init__(self, module: nn.Module, inputs: Sequence[Any], tensors: Sequence[Any]) -> None:
        self.module = module
        self.unpacked: list[tuple[str, str]] = []
        paths = [p for p, v in tree_flatten_with_path(list(inputs))[0] if isinstance(v, torch.Tensor)]
        self.inputs = [self._input(path) for path in paths]
        self.by_name: dict[str, str] = {}

    def _input(self, path: tuple[Any, ...]) -> str:
        names = positional(self.module)
        index: int = path[0].idx
        rest = "".join(f"[{getattr(k, 'idx', getattr(k, 'key', None))!r}]" for k in path[1:])
        if index < len(names):
            name = names[index]
            if not rest:
                return name
        else:
            parameters = inspect.signature(self.module.forward).parameters.values()
            name = next(p.name for p in parameters if p.kind is p.VAR_POSITIONAL)
            rest = f"[{index - len(names)}]{rest}"
        local = f"{name}_{len(self.unpacked)}"
        self.unpacked.append((local, f"{name}{rest}"))
        return local

    def arguments(self, graph: torch.fx.GraphModule, signature: GraphSignature) -> list[Argument]:
        found: list[Argument] = []
        given = iter(self.inputs)
        held = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
        for node in (n for n in graph.graph.nodes if n.op == "placeholder"):
            value = node.meta["val"]
            if node.name in held:
                access = said_as(self.module, held[node.name].removeprefix("task."))
            else:
                access = next(given) if isinstance(value, torch.Tensor) else node.name
            self.by_name[node.name] = access
            if node.name in signature.user_inputs_to_mutate.values():
                self.unpacked.append((f"{access}_before", access))  # what it is copied into keeps the name
                access = f"{access}_before"
            found.append(Argument(access, value))
        return found

    def updated(self, graph: torch.fx.GraphModule, signature: GraphSignature) -> list[str]:
        targets: list[str] = []
        updates = len(signature.buffers_to_mutate) + len(signature.user_inputs_to_mutate)
        for output in graph.graph.output_node().args[0][:updates]:  # type: ignore[union-attr,index]
            name: Any = getattr(output, "name", "")
            if name in signature.buffers_to_mutate:
                targets.append(said_as(self.module, signature.buffers_to_mutate[name].removeprefix("task.")))
            elif name in signature.user_inputs_to_mutate:
                targets.append(self.by_name[signature.user_inputs_to_mutate[name]])
        return targets


@contextmanager
def _executed(
    source: str, entry_point: str, symbols: frozenset[str]
) -> Iterator[tuple[Program, dict[str, torch.SymInt], ShapeEnv, FakeTensorMode]]:
    """Execute the task's text with symbols for the chosen sizes; construct and trace inside the block."""
    environment = ShapeEnv(duck_shape=False)
    chosen = {size.name: _symbol(environment, size) for size in sizes(source) if size.name in symbols}

    def replace(size: Size) -> ast.expr | None:
        if size.name not in chosen:
            return None
        return ast.Subscript(ast.Name(SYMBOLS, ast.Load()), ast.Constant(size.name), ast.Load())

    fake = FakeTensorMode(shape_env=environment, allow_non_fake_inputs=True)
    # attention as its mathematics, recurrent layers as their cells: not as one call of a library
    plain = sdpa_kernel(SDPBackend.MATH), torch.backends.mkldnn.flags(enabled=False)
    torch.backends.mha.set_fastpath_enabled(False)  # of this process, a sandbox worker
    with fake, torch.no_grad(), plain[0], plain[1], symbolic_twins():
        text = WholeNumbers().visit(substitute(source, replace))
        yield execute(text, entry_point, {SYMBOLS: chosen, **NAMES}), chosen, environment, fake


def _symbol(environment: ShapeEnv, size: Size) -> torch.SymInt:
    source = ConstantSource(size.name)
    symbol = environment.create_symbol(size.value, source=source, dynamic_dim=DimDynamic.DYNAMIC, constraint_dim=None)
    created = environment.create_symintnode(symbol, hint=size.value, source=source)
    assert isinstance(created, torch.SymInt)
    return created

"""Programs that say CUDA, or want trained weights, where there are none."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from kdata.devices import moves, names_gpu, questions, refuses
from sources.text.older import convolves_images, now_at
from sources.text.remembered import remembered
from sources.text.scope import nodes

CPU = torch.device("cpu")
_PRETRAINED = re.compile(r"(^|_)(pre_?trained|imagenet_weights)(_|$)")
_TORCH = ("torch", "t", "th")  # what programs call it
ORDINAL = "get_device"  # of a tensor on the CPU it is -1, which is no device
_ORDINAL = re.compile(rf"(.*)\.{ORDINAL}\(\)", re.DOTALL)


# Names that numpy no longer has, and what they were.
_OF_NUMPY = {"float": "float", "int": "int", "bool": "bool", "object": "object", "str": "str", "complex": "complex",
             "long": "int", "float_": "{}.float64", "infty": "{}.inf", "Inf": "{}.inf", "product": "{}.prod",
             "row_stack": "{}.vstack", "in1d": "{}.isin", "asfarray": "{}.asarray", "cumproduct": "{}.cumprod",
             "sometrue": "{}.any", "alltrue": "{}.all", "round_": "{}.round", "trapz": "{}.trapezoid",
             "complex_": "{}.complex128", "Infinity": "{}.inf", "PINF": "{}.inf", "NINF": "-{}.inf",
             "NaN": "{}.nan", "NAN": "{}.nan", "bool8": "{}.bool_", "mat": "{}.asmatrix"}  # fmt: skip


# Methods of Python 2's dictionaries, and what they are called now.
_OF_PYTHON_2 = {"iteritems": "items", "iterkeys": "keys", "itervalues": "values", "has_key": "__contains__"}
# What is compiled when it is made, from a file that a task has not, and what computes the same.
_COMPILED = {"ScriptModule": "torch.nn.Module", "script_method": "(lambda method: method)"}


# What a program asks of where it runs, and what a task, which has no files and no GPU, is told.
_NOWHERE = {"os.listdir": "[]", "os.getcwd": "'.'", "os.cpu_count": "1", "torch.cuda.synchronize": "None",
            "torch.cuda.set_device": "None", "torch.cuda.current_device": "'cpu'", "torch.cuda.nvtx.range_pop": "None",
            "torch.cuda.nvtx.range_push": "None", "torch.cuda.get_device_capability": "(8, 0)"}  # fmt: skip
_OF_ONE = {"RANK": "'0'", "LOCAL_RANK": "'0'", "WORLD_SIZE": "'1'"}  # what torchrun says to the only process


class OnOne(TorchFunctionMode):
    """While active, tensors and modules stay on one device, whatever other is asked for."""

    def __init__(self, device: torch.device = CPU) -> None:
        super().__init__()
        self.device = device

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(function, "__name__", "") in ("cuda", "cpu") and args:
            return args[0]
        named = {k: self.device if self._other(v) else v for k, v in (kwargs or {}).items()}
        return function(*(self.device if self._other(a) else a for a in args), **named)

    def _other(self, value: Any) -> bool:
        # No tensor is compared: that would be a call of its own.
        return isinstance(value, str | torch.device) and (
            names_cuda(value) or self.device != CPU and (value == "cpu" or value == CPU)
        )


def without_weights() -> None:
    """From now on trained weights, which are not here, are not asked for."""
    torch.load = lambda *_, **__: {}
    torch.hub.load_state_dict_from_url = lambda *_, **__: {}
    torch.nn.Module.load_state_dict = lambda *_, **__: None  # type: ignore[method-assign]


def names_cuda(value: Any) -> bool:
    """Whether a value is a CUDA device, or a string that names one."""
    if isinstance(value, torch.device):
        return value.type == "cuda"
    return names_gpu(value)


def moved(tree: Iterable[ast.AST]) -> Iterator[ast.Call]:
    """Calls like ``x.cuda()``."""
    for node in tree:
        if isinstance(node, ast.Call) and moves(node):
            yield node


@remembered
def respelled(tree: ast.AST) -> tuple[tuple[ast.expr, str], ...]:
    """Devices, wishes for trained weights and old spellings in a statement, and what is said in their place."""
    every = nodes(tree)
    names = _OF_PYTHON_2.keys() - {n.name for n in every if isinstance(n, ast.FunctionDef)}
    old = (n for n in every if isinstance(n, ast.Attribute) and n.attr in names)
    return (*_respelled(every), *_asked(every), *((n, f"{ast.unparse(n.value)}.{_OF_PYTHON_2[n.attr]}") for n in old))


def _respelled(tree: Iterable[ast.AST]) -> Iterator[tuple[ast.expr, str]]:
    for node in tree:
        match node:
            case ast.Attribute():
                if said := _attribute(node):
                    yield node, said
            case ast.Name(id="__file__", ctx=ast.Load()):
                yield node, "'task.py'"
            case ast.Call(func=ast.Attribute() as function):
                if said := _NOWHERE.get(ast.unparse(function), ""):
                    yield node, said
                elif convolves_images(node):
                    yield function, f"{ast.unparse(function.value)}.Conv2d"
        yield from _told(node)


def _attribute(node: ast.Attribute) -> str:
    """What is said in place of an attribute that is of CUDA, of an older library or of a file, "" for others."""
    owner = ast.unparse(node.value)
    if node.attr.endswith("Tensor"):
        library, _, part = owner.rpartition(".")
        return f"{library}.{node.attr}" if library in _TORCH and part == "cuda" else ""
    if owner in ("np", "numpy") and node.attr in _OF_NUMPY:
        return _OF_NUMPY[node.attr].format(owner)
    if owner == "torch.jit" and node.attr in _COMPILED:
        return _COMPILED[node.attr]
    module, name = now_at(owner, node.attr)
    if (module, name) != (owner, node.attr) and module in (owner, f"{owner}.abc"):  # others would have to be imported
        return f"{module}.{name}"
    # A text that is only executed is no module that could be found.
    return "__name__" if node.attr == "__name__" and _of_module(node.value) else ""


def _told(node: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """Devices and wishes for trained weights in what a call, an assignment or a signature names."""
    for name, value in _named(node):
        if "device" in name.lower():
            yield from ((device, "'cpu'") for device in _cuda(value))
            if isinstance(value, ast.Call) and (asked := _ORDINAL.fullmatch(ast.unparse(value))):
                yield value, f"{asked[1]}.device"
        elif isinstance(value, ast.Constant) and _PRETRAINED.search(name) and value.value is True:
            yield value, "False"


def _asked(tree: Sequence[ast.AST]) -> Iterator[tuple[ast.expr, str]]:
    """What is asked about where tensors are and which process this is, and the answer that serves.

    A GPU, where all else is refused; the host, where there are two ways: the other one often calls what is compiled
    from files that a task has not.  ``elif not x.is_cuda: raise`` behind such a one refuses the host, too.
    """
    chained = {id(n.orelse[0]) for n in tree if isinstance(n, ast.If) and n.orelse and any(questions(n))}
    for node in tree:
        for asked, on_gpu in questions(node):
            yield asked, str(on_gpu if refuses(node) and id(node) not in chained else not on_gpu)
        if isinstance(node, ast.Subscript) and (said := _launched(node)):
            yield node, said


def _launched(node: ast.Subscript) -> str:
    """What ``os.environ["RANK"]`` is where one process runs; "" for other words."""
    if not isinstance(node.ctx, ast.Load) or ast.unparse(node.value) != "os.environ":
        return ""
    return _OF_ONE.get(str(node.slice.value), "") if isinstance(node.slice, ast.Constant) else ""


def _of_module(value: ast.expr) -> bool:
    """Whether a value is the module that something stands in: ``inspect.getmodule(frame)``."""
    return isinstance(value, ast.Call) and ast.unparse(value.func).split(".")[-1] == "getmodule"


def _cuda(value: ast.expr) -> Iterator[ast.expr]:
    """The expressions in a value that make the name of a CUDA device: ``"cuda"``, ``f"cuda:{gpu}"``."""
    if isinstance(value, ast.IfExp):
        yield from (*_cuda(value.body), *_cuda(value.orelse))
        return
    first: ast.expr = value
    if isinstance(value, ast.JoinedStr) and value.values:
        first = value.values[0]
    elif isinstance(value, ast.BinOp):
        first = value.left
    elif isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "format":
        first = value.func.value
    if isinstance(first, ast.Constant) and names_cuda(first.value):
        yield value


def _named(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Values and what they are called, in a call or a signature."""
    if isinstance(node, ast.Call):
        yield from ((k.arg, k.value) for k in node.keywords if k.arg)
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("to", "device"):
            yield from (("device", a) for a in node.args)
    elif isinstance(node, ast.Assign):
        yield from ((ast.unparse(t), node.value) for t in node.targets if isinstance(t, ast.Name | ast.Attribute))
    elif isinstance(node, ast.arguments):
        given = [*node.posonlyargs, *node.args]
        last = given[len(given) - len(node.defaults) :]
        yield from ((a.arg, d) for a, d in zip(last, node.defaults, strict=True))
        yield from ((a.arg, d) for a, d in zip(node.kwonlyargs, node.kw_defaults, strict=True) if d is not None)

"""True arguments and inputs of classes, seen while something of their package that uses them runs.

Two hooks on nn.Module, installed in a fork that ends soon: one keeps what every module was constructed with, one what
classes are called with.
"""

from __future__ import annotations

import ast
import collections
import enum
import functools
import inspect
import itertools
import math
import types
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

from sources.infer.constructor.configs import CONFIG, Config
from sources.infer.constructor.signatures import bound_of
from sources.infer.forward.variants import Arguments
from sources.infer.inputs import Many, Plain, Spec, Specs, Tensor
from sources.infer.running.calls import has_tensor
from sources.infer.search import Solution
from sources.text.on_cpu import names_cuda

MAX_DEPTH = 6
MAX_TRIED = 5  # calls of one class that are looked at
MAX_LEARNT = 4  # steps of training that are let pass
MAX_WRITTEN = 32  # elements of a tensor that is spelled element by element
LEAST_UNIT = 16  # elements of a tensor that say that its values are between 0 and 1
MADE_WITH = "_kdata_made_with"
HERE = "_kdata_here_"  # and a number: what a definition of the package is called in an expression


class EnoughError(BaseException):
    """Ends a program that trains: no ``except Exception`` of it catches this."""


class UnspeakableError(ValueError):
    """A value that a task cannot spell."""


class Vocabulary:
    """How the definitions that a value is made of are called in an expression, and what counts as settings."""

    def name(self, value: Any) -> str | None:
        """The name of a class or function, None for one that has none."""
        raise NotImplementedError

    def settings(self, value: Any) -> dict[str, Any] | None:
        """The attributes of an object that is nothing but a record of settings, None for others."""
        return vars(value) if isinstance(value, Namespace | types.SimpleNamespace) else None


class NamespaceVocabulary(Vocabulary):
    """The names that values have in a program's own namespace."""

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self._namespace = namespace

    def name(self, value: Any) -> str | None:
        own = getattr(value, "__name__", "")
        return str(own) if own and self._namespace.get(own) is value else None


def install(
    kinds: Mapping[type[nn.Module], str], namespace: dict[str, Any], found: dict[str, Solution], forwards: bool = False
) -> None:
    """Watch the classes of a program: the first call of each that comes to an end is noted in ``found``, by name.

    ``namespace`` is what the arguments may name.  Training goes on without learning, and ends the program soon.  With
    ``forwards``, calls of ``forward`` itself are seen, too: what is written of where an error was is then not true.
    """
    tried, learnt, busy = Counter[str](), itertools.count(1), set[int]()
    vocabulary = NamespaceVocabulary(namespace)

    def new(kind: type, *arguments: Any, **named: Any) -> Any:
        made: Any = object.__new__(kind)
        object.__setattr__(made, MADE_WITH, (arguments, named))
        return made

    def watching(call: Any) -> Any:
        @functools.wraps(call)
        def watched(self: nn.Module, *given: Any, **named: Any) -> Any:
            name = kinds.get(type(self), "")
            if not name or name in found or id(self) in busy or tried[name] >= MAX_TRIED:
                return call(self, *given, **named)
            tried[name] += 1
            try:
                solution = Solution(arguments_of(self, vocabulary), specs_of(self, given, named))
            except (UnspeakableError, TypeError, ValueError):
                return call(self, *given, **named)
            busy.add(id(self))  # its forward may call that of its base with something else
            try:
                result = call(self, *given, **named)
            finally:
                busy.discard(id(self))
            if has_tensor(result):
                found.setdefault(name, solution)
            return result

        return watched

    def learn(*_: Any, **__: Any) -> None:
        if next(learnt) > MAX_LEARNT:
            raise EnoughError

    nn.Module.__new__ = staticmethod(new)  # type: ignore[assignment, method-assign]
    nn.Module.__call__ = watching(nn.Module.__call__)  # type: ignore[method-assign]
    for kind in kinds if forwards else ():
        if issubclass(kind, nn.Module) and inspect.isfunction(vars(kind).get("forward")):
            kind.forward = watching(kind.forward)
    torch.Tensor.backward = learn  # type: ignore[method-assign]


def unwatched_forwards(kinds: Mapping[type[nn.Module], str]) -> None:
    """From now on only calls of modules are seen, and errors are where their texts say."""
    for kind in kinds:
        if (forward := getattr(vars(kind).get("forward"), "__wrapped__", None)) is not None:
            kind.forward = forward


def arguments_of(module: nn.Module, vocabulary: Vocabulary) -> Arguments:
    """What a module was constructed with, by parameter.

    Raises:
        UnspeakableError: something of it cannot be written down.
    """
    given, named = module.__dict__.get(MADE_WITH, ((), {}))
    bound = bound_of(type(module), given, named)
    found: Arguments = {}
    for name, value in bound.arguments.items():
        kind = bound.signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_KEYWORD:
            found |= {k: spelled(v, vocabulary) for k, v in value.items()}
        elif kind is inspect.Parameter.VAR_POSITIONAL:
            raise UnspeakableError("*args")
        else:
            found |= _configuration(value, name) if isinstance(value, Config) else {name: spelled(value, vocabulary)}
    return found


def _configuration(value: Config, name: str) -> Arguments:
    """A configuration that invents what it is asked for, as arguments of a class whose parameter ``name`` it is."""
    own, noted, since = (getattr(value, f"_{part}") for part in ("name", "arguments", "given"))
    known = {f"{name}{k.removeprefix(own)}": text for k, text in noted.items() if k.startswith(f"{own}.")}
    plain = {f"{name}.{k}": repr(v) for k, v in since.items() if isinstance(v, bool | int | float | str)}
    return {name: CONFIG} | known | plain


def specs_of(module: nn.Module, given: tuple[Any, ...], named: dict[str, Any]) -> Specs:
    """How to draw inputs like these.

    Raises:
        UnspeakableError: some are neither tensors nor plain values, or can only be given by name.
    """
    if not named:
        return tuple(spec_of(value) for value in given)
    bound = by_position(module.forward).bind(*given, **named)
    bound.apply_defaults()
    if bound.kwargs:
        raise UnspeakableError("keyword-only")
    last = len(bound.args)
    while last > len(given) and list(bound.signature.parameters)[last - 1] not in named:
        last -= 1
    return tuple(spec_of(value) for value in bound.args[:last])


def by_position(forward: Any) -> inspect.Signature:
    """A signature, with what it takes by name only taken by position, as it will be in the cut."""
    signature = inspect.signature(forward)
    every, plain = signature.parameters.values(), inspect.Parameter.POSITIONAL_OR_KEYWORD
    if any(p.kind is p.VAR_POSITIONAL for p in every):
        return signature
    optional, taken = False, list[inspect.Parameter]()
    for p in every:
        optional = optional or p.default is not p.empty
        only = p.kind is p.KEYWORD_ONLY
        needed = only and optional and p.default is p.empty
        taken.append(p.replace(kind=plain, default=None if needed else p.default) if only else p)
    return signature.replace(parameters=taken)


def lenient_specs(module: nn.Module, given: tuple[Any, ...], named: dict[str, Any]) -> Specs:
    """How to draw inputs like these, with the defaults of what is neither tensor nor plain value, or has no name.

    Raises:
        UnspeakableError: something like that has no default, or a tensor can be given by name only.
        TypeError: ``forward`` cannot be called so.
    """
    bound = by_position(module.forward).bind(*given, **named)
    specs, last = list[Spec](), 0
    for name, p in bound.signature.parameters.items():
        if p.kind is p.VAR_POSITIONAL:
            specs += [spec_of(v) for v in bound.arguments.get(name, ())]
        elif p.kind is p.KEYWORD_ONLY and isinstance(bound.arguments.get(name), torch.Tensor):
            raise UnspeakableError("keyword-only")
        if p.kind not in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
            last = max(last, len(specs) if p.kind is p.VAR_POSITIONAL else 0)
            continue
        try:
            specs.append(spec_of(bound.arguments.get(name, p.default)))
        except UnspeakableError:
            specs.append(spec_of(p.default))
        if name in bound.arguments and specs[-1] != Plain(p.default):
            last = len(specs)
    return tuple(specs[:last])


def encoded(solution: Solution) -> list[Any]:
    """A solution as plain JSON."""
    return [dict(solution.arguments), [_encoded(spec) for spec in solution.specs]]


def decoded(answer: list[Any]) -> Solution:
    """What ``encoded`` gave.

    Raises:
        ValueError: it did not give that.
    """
    arguments, specs = answer
    return Solution(dict(arguments), tuple(_decoded(spec) for spec in specs))


def _encoded(spec: Spec) -> list[Any]:
    if isinstance(spec, Tensor):
        return ["tensor", list(spec.shape), spec.kind, spec.high]
    if isinstance(spec, Many):
        return ["many", [_encoded(item) for item in spec.items], spec.kind, list(spec.keys)]
    return ["plain", repr(spec.value)]


def _decoded(answer: list[Any]) -> Spec:
    kind, *rest = answer
    if kind == "tensor":
        return Tensor(tuple(rest[0]), rest[1], rest[2])
    if kind == "many":
        return Many(tuple(_decoded(item) for item in rest[0]), rest[1], tuple(rest[2]))
    return Plain(ast.literal_eval(rest[0]))


def spec_of(value: Any, depth: int = 0) -> Spec:
    """How to draw a value like this one."""
    if isinstance(value, torch.Tensor):
        if value.is_complex() or value.is_sparse:
            raise UnspeakableError(str(value.dtype))
        if value.dtype == torch.bool:
            return Tensor(tuple(value.shape), "bool")
        if value.is_floating_point():
            return Tensor(tuple(value.shape), "unit" if _is_unit(value) else "float")
        high = 2 if value.is_meta else int(value.max()) + 1 if value.numel() else 1
        return Tensor(tuple(value.shape), "int", high)
    if value is None or isinstance(value, bool | int | float | str):
        return Plain(value)
    if isinstance(value, torch.Size):
        return Plain(tuple(value))
    if type(value) in (list, tuple) and depth < MAX_DEPTH:
        return Many(tuple(spec_of(v, depth + 1) for v in value), "list" if isinstance(value, list) else "tuple")
    if type(value) in (dict, collections.OrderedDict) and all(isinstance(k, str) for k in value) and depth < MAX_DEPTH:
        return Many(tuple(spec_of(v, depth + 1) for v in value.values()), "dict", tuple(value))
    raise UnspeakableError(type(value).__name__)


def _is_unit(value: torch.Tensor) -> bool:
    """Whether all values are between 0 and 1, and there are enough to tell."""
    if value.is_meta or value.numel() < LEAST_UNIT:
        return False
    return bool(value.min() >= 0) and bool(value.max() <= 1)


def spelled(value: Any, vocabulary: Vocabulary, depth: int = 0) -> str:
    """An expression whose value, in a task, is like this one.

    Raises:
        UnspeakableError: there is none.
    """

    def inner(v: Any) -> str:
        return spelled(v, vocabulary, depth + 1)

    if depth > MAX_DEPTH:
        raise UnspeakableError("too deep")
    if isinstance(value, torch.device) or names_cuda(value):
        return repr("cpu" if names_cuda(value) else str(value))
    if isinstance(value, enum.Enum):
        return f"{_named(type(value), vocabulary)}.{value.name}"
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    if isinstance(value, torch.dtype):
        return str(value)
    if isinstance(value, torch.Tensor):
        return _tensor(value.detach())
    if isinstance(value, np.ndarray):
        return f"{_tensor(torch.as_tensor(value))}.numpy()"
    if isinstance(value, nn.Module):
        return _module(value, vocabulary, depth)
    if isinstance(value, functools.partial):
        named = [f"{k}={inner(v)}" for k, v in value.keywords.items()]
        return f"functools.partial({', '.join([inner(value.func), *map(inner, value.args), *named])})"
    if isinstance(value, type) or callable(value) and hasattr(value, "__name__"):
        return _named(value, vocabulary)
    if isinstance(value, tuple | list) or type(value) in (dict, collections.OrderedDict):
        return _held(value, inner, vocabulary)
    return _settings(value, vocabulary, depth)


def _held(value: Any, inner: Callable[[Any], str], vocabulary: Vocabulary) -> str:
    """A list, a tuple, one with named fields, or a dictionary."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{inner(k)}: {inner(v)}" for k, v in value.items()) + "}"
    if fields := getattr(value, "_fields", ()):
        given = ", ".join(f"{name}={inner(v)}" for name, v in zip(fields, value, strict=True))
        return f"{_named(type(value), vocabulary)}({given})"
    if type(value) not in (list, tuple, torch.Size):
        raise UnspeakableError(type(value).__name__)
    text = ", ".join(map(inner, value))
    return f"[{text}]" if type(value) is list else f"({text}{',' if len(value) == 1 else ''})"


def _tensor(value: torch.Tensor) -> str:
    """A tensor like this one: a small one is written down, a large one is drawn, or all of one value."""
    if value.is_complex() or value.is_sparse or value.is_meta:
        raise UnspeakableError(str(value.dtype))
    if value.numel() <= MAX_WRITTEN:
        return f"torch.tensor({value.tolist()!r}, dtype={value.dtype})" if value.isfinite().all() else _drawn(value)
    return _drawn(value)


def _drawn(value: torch.Tensor) -> str:
    shape, kind = tuple(value.shape), "" if value.dtype == torch.float32 else f".to({value.dtype})"
    flat = value.flatten()
    if flat.numel() and bool((flat == flat[0]).all()):
        return f"torch.full({shape}, {flat[0].item()!r}, dtype={value.dtype})"
    if value.dtype == torch.bool:
        return f"torch.rand({shape}) < 0.5"
    if not value.is_floating_point():
        return f"torch.randint({int(value.min())}, {int(value.max()) + 1}, {shape}, dtype={value.dtype})"
    if value.ndim == 2 and shape[0] == shape[1] and torch.equal(value, torch.eye(shape[0], dtype=value.dtype)):
        return f"torch.eye({shape[0]}, dtype={value.dtype})"
    return f"torch.{'rand' if _is_unit(value) else 'randn'}({shape}){kind}"


def _settings(value: Any, vocabulary: Vocabulary, depth: int) -> str:
    """A record of settings: what of it cannot be spelled is left out, and missed where it is needed."""
    known = vocabulary.settings(value)
    if known is None:
        raise UnspeakableError(type(value).__name__)
    texts = []
    for name, setting in known.items():
        try:
            texts.append(f"{name}={spelled(setting, vocabulary, depth + 1)}")
        except UnspeakableError:
            continue
    return f"SimpleNamespace({', '.join(texts)})"


def _module(value: nn.Module, vocabulary: Vocabulary, depth: int) -> str:
    name = _named(type(value), vocabulary)
    if type(value) in (nn.Sequential, nn.ModuleList):
        parts = ", ".join(spelled(m, vocabulary, depth + 1) for m in value.children())
        return f"{name}({parts})" if type(value) is nn.Sequential else f"{name}([{parts}])"
    given, named = value.__dict__.get(MADE_WITH, ((), {}))
    if len(given) > 1 and not name.startswith("nn."):  # sizes of a class of the program's own go by their names
        given, named = _by_name(type(value), given, named)
    every = [spelled(v, vocabulary, depth + 1) for v in given]
    every += [f"{k}={spelled(v, vocabulary, depth + 1)}" for k, v in named.items()]
    return f"{name}({', '.join(every)})"


def _by_name(
    kind: type, given: tuple[Any, ...], named: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:  # fmt: skip
    """What a class is constructed with, by name as far as its parameters have names that may be said."""
    parameters = [*inspect.signature(kind).parameters.values()]
    if any(p.kind in (p.POSITIONAL_ONLY, p.VAR_POSITIONAL) for p in parameters):
        return given, named
    said = dict(zip((p.name for p in parameters), given, strict=False))
    return ((), said | named) if len(said) == len(given) else (given, named)


def _named(value: Any, vocabulary: Vocabulary) -> str:
    name = getattr(value, "__name__", "")
    for prefix, holder in (("nn", nn), ("F", nn.functional), ("torch", torch)):
        if getattr(holder, name, None) is value:  # first: every text has these names
            return f"{prefix}.{name}"
    if own := vocabulary.name(value):
        return own
    raise UnspeakableError(name)

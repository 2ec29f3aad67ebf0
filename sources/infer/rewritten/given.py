"""Random numbers that a module draws while it runs, made inputs of its forward.

A task's answer is to follow from its inputs: no kernel draws what torch draws.  One run under watch tells which calls
of the text draw, of which shape, and by which calls forward came there; through these the numbers are handed down.
Dropout that stays on in eval mode goes.
"""

from __future__ import annotations

import ast
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import CodeType, FrameType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from sources.infer.constructor.constructions import build
from sources.infer.inputs import Specs, Tensor, draw
from sources.infer.rewritten.instead import UngivenError, instead, largest, of_integers, part
from sources.infer.running.calls import has_tensor
from sources.infer.running.made import answers_quietly
from sources.infer.running.memory import bounded
from sources.infer.running.progress import Budget, Progress
from sources.infer.search import Solution
from sources.text.rewrite import Edits, Text, extent
from sources.text.scope import nodes

NOTE = "random numbers that it draws are inputs"
LEFT_OUT = "dropout that is on in eval mode, too, is left out"
NAME = "noise"
MAX_DRAWS = 4  # inputs that a task may get so
MAX_BESIDE = 4  # texts in which what stands beside what draws takes what it does not use
MAX_ROWS = 64  # of one of them: how often a loop may draw
_MAY = re.compile(r"rand|normal|uniform|sample|dropout|bernoulli|gumbel|multinomial|Dropout\w*\([^()]*\)\(")
# Files of torch that may stand between a call and the function that draws, and between a call and a module's forward.
_DIRECT = re.compile(r"torch/(overrides|functional|_tensor|nn/functional)\.py$")
_MODULE = re.compile(r"torch/nn/modules/module\.py$")
_LAYER = re.compile(rf"{_DIRECT.pattern}|torch/nn/modules/(dropout|module)\.py$")  # ``nn.Dropout(0.1)(x)`` in a forward
_DISTRIBUTION = re.compile(r"torch/distributions/(normal|utils)\.py$")  # others have a loc and a scale, too
_CATEGORICAL = re.compile(r"torch/distributions/(categorical|distribution|utils)\.py$")
_INTEGERS = frozenset(["randint", "randperm", "multinomial", "categorical"])
_UNEXPECTED = re.compile(rf"(\w+)\.(\w+)\(\) got an unexpected keyword argument '{NAME}\w*'")
_DROPOUT = re.compile(r"(feature_)?(alpha_)?dropout[123]?d?_?")
_GUMBEL = """def softmax_of_gumbels(logits, tau=1, hard=False, eps=1e-10, dim=-1, *, uniform):
    soft = ((logits - torch.log(-torch.log(uniform))) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    return torch.zeros_like(logits).scatter_(dim, index, 1.0) - soft.detach() + soft


"""
Place = tuple[int, int | None, int, int | None]  # of an expression: first and last line, first and last column


@dataclass(frozen=True, slots=True)
class _Draw:
    """One call of a function that draws: how forward came to it, and what it drew."""

    path: tuple[Place, ...]  # calls, from the one in forward to the one that draws
    function: str
    shape: tuple[int, ...]
    span: tuple[int, int] = (0, 0)  # from which and up to which integers are drawn


def given(
    cut: dict[str, Any], namespace: dict[str, Any], solution: Solution, load: Callable[[str], dict[str, Any]]
) -> tuple[dict[str, Any], dict[str, Any], Solution]:
    """The cut with what its module draws, in eval mode, as further inputs, and what ``load`` makes of its text.

    The same cut where it draws nothing, or what cannot be an input.
    """
    # What draws nothing as it was constructed draws nothing in eval mode, where the text makes no difference.
    quiet = not _MAY.search(cut["source"]) or solution.quiet and "training" not in cut["source"]
    if quiet or answers_quietly(solution.made, namespace[cut["name"]], solution.specs):
        return cut, namespace, solution
    own = load(cut["source"])
    try:
        draws = _draws(own[cut["name"]], own, solution)
        if not draws:
            return cut, namespace, solution
        source, specs = _Threading(cut["source"], draws, len(solution.specs)).done()
        changed = Solution(solution.arguments, (*solution.specs, *specs))
        source, own, draws = _taken(source, cut["name"], changed, load)
        if draws:
            return cut, namespace, solution
        _run_as_constructed(own[cut["name"]], own, changed)
    except Exception:  # noqa: BLE001 - what cannot be handed down stays, and the check says so
        return cut, namespace, solution
    return cut | {"source": source, "header": [*cut.get("header", []), NOTE if specs else LEFT_OUT]}, own, changed


def _taken(
    source: str, name: str, solution: Solution, load: Callable[[str], dict[str, Any]]
) -> tuple[str, dict[str, Any], list[_Draw]]:
    """The text in which all that may stand where one draws takes what that is given; its names, what it draws still."""
    for _ in range(MAX_BESIDE):
        namespace = load(source)
        try:
            return source, namespace, _draws(namespace[name], namespace, solution)
        except TypeError as error:
            if (other := _taking(source, str(error))) == source:
                raise
            source = other
    raise UngivenError("many stand where one draws")


def _taking(source: str, message: str) -> str:
    """The text with a forward that takes random numbers, and uses none, where a message says that it takes none."""
    match = _UNEXPECTED.search(message)
    kinds = (n for n in ast.parse(source).body if isinstance(n, ast.ClassDef) and match and n.name == match[1])
    edits = Edits(Text.of(source))
    for method in (s for kind in kinds for s in kind.body):
        if match and isinstance(method, ast.FunctionDef) and method.name == match[2] == "forward":
            _add_parameters(edits, method, [f"**{NAME}"], None)
    return edits.whole()


def _draws(kind: Any, namespace: Mapping[str, Any], solution: Solution) -> list[_Draw]:
    """What a module draws in eval mode.

    Raises:
        UngivenError: it draws where that does not show, or has no answer.
    """
    module = build(kind, dict(solution.arguments), namespace, Budget()).eval()
    torch.manual_seed(0)
    inputs = [draw(spec) for spec in solution.specs]
    watch = _Watch(kind.forward.__code__)
    with torch.no_grad(), bounded(), Progress(Budget()), watch:
        result = module(*inputs)
    if not has_tensor(result):
        raise UngivenError("no answer")
    return watch.draws


def _run_as_constructed(kind: Any, namespace: Mapping[str, Any], solution: Solution) -> None:
    """Raises whatever a module raises that, while it trains, draws where nothing is handed down."""
    module = build(kind, dict(solution.arguments), namespace, Budget())
    with torch.no_grad(), bounded(), Progress(Budget()):
        module(*[draw(spec) for spec in solution.specs])


class _Watch(TorchFunctionMode):
    """Notes each call of a torch function that draws."""

    def __init__(self, forward: CodeType) -> None:
        super().__init__()
        self.draws: list[_Draw] = []
        self._forward = forward

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        before = torch.default_generator.get_state()
        result = function(*args, **(kwargs or {}))
        if not torch.equal(before, torch.default_generator.get_state()):
            # the state of a program is what this is about
            self._note(sys._getframe(1), function, result, args, kwargs or {})
        return result

    def _note(self, frame: FrameType | None, function: Any, result: Any, args: Any, kwargs: Mapping[str, Any]) -> None:
        path: list[Place] = []
        between: list[str] = []
        inside = False  # of a comprehension: the function around it is at that, which the place in it is part of
        name = str(getattr(function, "__name__", ""))
        many = name == "multinomial" and isinstance(result, torch.Tensor)
        shape = args[0].shape if many else getattr(result, "shape", ())
        while frame is not None:
            if frame.f_code.co_filename != self._forward.co_filename:
                between.append(frame.f_code.co_filename)
                if not path and between[-1].endswith("torch/distributions/categorical.py"):
                    shape = frame.f_locals["self"]._param.shape
            else:
                allowed = _MODULE if path else _LAYER if _DROPOUT.fullmatch(name) else _DIRECT
                if not path and between and all(map(_DISTRIBUTION.search, between)):
                    name = "sample"
                elif not path and between and all(map(_CATEGORICAL.search, between)):
                    name = "categorical"
                elif not _hands_down(frame.f_code.co_name) or not all(map(allowed.search, between)):
                    raise UngivenError(f"{name} by way of {between}")
                if not inside:
                    path.append(_place(frame))
                between, inside = [], frame.f_code.co_name[:1] == "<"
                if frame.f_code is self._forward:
                    break
            frame = _around(frame) if frame.f_code.co_name == "<lambda>" and inside else frame.f_back
        wanted = torch.int64 if name in _INTEGERS else torch.float32
        other = name != "randint" and getattr(result, "dtype", None) != wanted  # that may be told which
        few = math.prod(shape) < (1 if name in _INTEGERS and shape else 2)  # where one starts in the only sample
        if not isinstance(result, torch.Tensor) or other or few:
            raise UngivenError(f"{name} draws no vector of {wanted}")
        span = _span(args, kwargs) if name == "randint" else (0, 0)
        self.draws.append(_Draw(tuple(reversed(path)), name, tuple(shape), span))


def _hands_down(name: str) -> bool:
    """Whether the code of a frame sees what the function that it stands in was given."""
    return name[:1] != "<" or name.endswith("comp>") or name == "<lambda>"


def _around(frame: FrameType) -> FrameType | None:
    """The function in which a lambda stands that is called further down: ``default(noise, lambda: randn_like(x))``."""
    outer = frame.f_back
    while outer is not None and frame.f_code not in outer.f_code.co_consts:
        outer = outer.f_back
    return outer


def _span(args: Any, kwargs: Mapping[str, Any]) -> tuple[int, int]:
    """From which and up to which integers ``torch.randint`` draws."""
    numbers = [kwargs.get("low"), *(a for a in args if isinstance(a, int)), kwargs.get("high")]
    known = [int(n) for n in numbers if n is not None]
    return (0, known[0]) if len(known) == 1 else (known[0], known[1])


def _place(frame: FrameType) -> Place:
    """Of the expression that a frame is at."""
    first, last, start, end = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    if first is None or start is None:
        raise UngivenError("no position")
    return first, last, start, end


@dataclass(slots=True)
class _Threading:
    """Rewrites a text so that what it draws is handed from forward's parameters to where it was drawn."""

    source: str
    draws: list[_Draw]
    taken: int  # inputs that forward takes already
    edits: Edits = field(init=False)
    _calls: dict[Place, ast.Call] = field(init=False)
    _homes: dict[Place, ast.FunctionDef] = field(init=False)  # the functions that calls stand in
    _names: dict[tuple[Place, ...], str] = field(init=False, default_factory=dict)  # of parameters, by the path left
    _rows: Counter[tuple[Place, ...]] = field(init=False, default_factory=Counter)  # how often each path draws
    _looped: set[Place] = field(init=False, default_factory=set)  # calls that draw more than once
    _differing: dict[tuple[Place, ...], _Draw] = field(init=False, default_factory=dict)  # in shape, from call to call
    _first: int = 0  # where the first definition starts
    _needs_gumbels: bool = False

    def done(self) -> tuple[str, Specs]:
        """The new text and the new inputs.

        Raises:
            UngivenError: a draw is none that can be an input, or is repeated and differs.
        """
        self._rows = Counter(d.path for d in self.draws if not _DROPOUT.fullmatch(d.function))
        if max(self._rows.values(), default=0) > MAX_ROWS:
            raise UngivenError("a long loop draws")
        self._differing = self._of_several_sizes()
        self._looped = {path[-1] for path, count in self._rows.items() if count > 1}
        self.draws = [self._differing.get(path, d) for path, d in {d.path: d for d in self.draws}.items()]
        self._read()
        specs = [s for d in self.draws if (s := self._replace(d)) is not None]
        if len(specs) > MAX_DRAWS:
            raise UngivenError("too many draws")
        self._hand_down()
        if self._needs_gumbels:
            self.edits.replace(self._first, self._first, _GUMBEL)
        return self.edits.whole(), tuple(specs)

    def _of_several_sizes(self) -> dict[tuple[Place, ...], _Draw]:
        """The draws of loops that differ in shape, by their path: each as one that is as large as the largest."""
        alike: dict[tuple[Place, ...], list[_Draw]] = {}
        for d in self.draws:
            alike.setdefault(d.path, []).append(d)
        return {
            path: replace(
                found[0], shape=largest(d.shape for d in found), span=(0, max(d.span[1] - d.span[0] for d in found))
            )
            for path, found in alike.items()
            if len({(d.shape, d.span) for d in found}) > 1 and not _DROPOUT.fullmatch(found[0].function)
        }

    def _read(self) -> None:
        tree = ast.parse(self.source)
        self.edits = Edits(Text.of(self.source))
        self._calls = {_of(n): n for n in ast.walk(tree) if isinstance(n, ast.Call)}
        defined = (n for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef))
        self._first = min(extent(self.edits.text, n)[0] for n in defined)
        self._homes = {}
        for function in (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)):  # inner ones last
            self._homes |= {_of(n): function for n in nodes(function) if isinstance(n, ast.Call)}
        for draw_ in self.draws:
            homes = [id(self._homes[p]) for p in draw_.path if not _DROPOUT.fullmatch(draw_.function)]
            if len(set(homes)) < len(homes):
                raise UngivenError("a function that calls itself draws")

    def _replace(self, draw_: _Draw) -> Tensor | None:
        """Put something else in the place of one draw; what is to be given for it, None for nothing."""
        call = self._calls[draw_.path[-1]]
        start, end = self.edits.text.start(call), self.edits.text.end(call)
        if _DROPOUT.fullmatch(draw_.function):
            self.edits.replace(start, end, f"({ast.unparse(call.args[0])})")
            return None
        for at in range(len(draw_.path)):
            self._name(draw_.path[at:])
        name, shape = self._names[draw_.path[-1:]], draw_.shape
        if draw_.path[-1] in self._looped:
            name, shape = f"next({name})", (self._rows[draw_.path], *shape)
        if draw_.path in self._differing:
            name = part(call, draw_.function, len(draw_.shape), name)
        if draw_.function == "gumbel_softmax":
            self.edits.replace(start, self.edits.text.end(call.func), "softmax_of_gumbels")
            _add_arguments(self.edits, call, [f"uniform={name}"])
            self._needs_gumbels = True
            return Tensor(shape, "unit")
        kind, text = of_integers(call, draw_.function, draw_.span, name) or instead(call, draw_.function, name)
        self.edits.replace(start, end, text)
        return Tensor(shape, kind, draw_.span[1] - draw_.span[0])

    def _name(self, path: tuple[Place, ...]) -> str:
        """The parameter by which the function in which a path starts is given what is drawn at its end."""
        if path not in self._names:
            home = self._homes[path[0]]
            used = {n for p, n in self._names.items() if self._homes[p[0]] is home}
            used |= set(re.findall(rf"(?<![.\w]){NAME}(?:_\d+)?\b", self.source))
            self._names[path] = next(n for n in _numbered() if n not in used)
        return self._names[path]

    def _hand_down(self) -> None:
        """Add the parameters, and the arguments of the calls."""
        added: dict[int, list[str]] = {}
        passed: dict[Place, list[str]] = {}
        homes = {id(f): f for f in self._homes.values()}
        roots = {id(self._homes[d.path[0]]) for d in self.draws}
        for path, name in self._names.items():
            added.setdefault(id(self._homes[path[0]]), []).append(name)
            if len(path) > 1:
                passed.setdefault(path[0], []).append(f"{self._names[path[1:]]}={name}")
        more = {key: _varied(homes[key].args, self.taken) for key in roots}  # inputs that forward takes by ``*args``
        for key, names in added.items():
            taken = self.taken - len(more[key]) if key in roots else None
            _add_parameters(self.edits, homes[key], [*more.get(key, []), *names], taken)
        for place, arguments in passed.items():
            _add_arguments(self.edits, self._calls[place], arguments)
        for key in roots:  # row by row
            rows = {self._names[d.path] for d in self.draws if d.path in self._names and d.path[-1] in self._looped}
            body = [s for s in homes[key].body if not isinstance(s, ast.Expr) or not isinstance(s.value, ast.Constant)]
            start = self.edits.text.start(body[0])
            lines, rest = [f"{name} = iter({name})" for name in sorted(rows)], homes[key].args.vararg
            lines += [f"{rest.arg} = ({', '.join(more[key])}, *{rest.arg})"] if rest and more[key] else []
            self.edits.replace(start, start, "".join(f"{line}\n{' ' * body[0].col_offset}" for line in lines))


def _numbered() -> Iterator[str]:
    yield NAME
    yield from (f"{NAME}_{i}" for i in range(2, 99))


def _of(node: ast.expr) -> Place:
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset


def _add_parameters(edits: Edits, function: ast.FunctionDef, names: list[str], taken: int | None) -> None:
    """Add parameters to a function: to forward after those that are ``taken``, to others where names may be last.

    The forward of another module may be called from elsewhere, too, where it draws nothing: that need not give them.
    """
    given_ = function.args
    if given_.posonlyargs or taken is not None and taken >= len(given_.args):
        raise UngivenError("its parameters")
    defaults = dict(zip(reversed(given_.args), reversed(given_.defaults), strict=False))
    after, default = given_.args[-1] if given_.args else None, False
    if taken is not None:
        after, default = given_.args[taken], given_.args[taken] in defaults
    elif given_.kwonlyargs or given_.vararg:
        after = given_.kwonlyargs[-1] if given_.kwonlyargs else given_.vararg
        defaults = {a: d for a, d in zip(given_.kwonlyargs, given_.kw_defaults, strict=True) if d is not None}
    else:
        default = after in defaults or function.name == "forward"
    if after is None:
        raise UngivenError("its parameters")
    end = edits.text.end(after)
    if (value := defaults.get(after)) is not None:
        opened = edits.text.data.count(b"(", end, edits.text.start(value))
        end = edits.text.end(value)
        for _ in range(opened):
            end = edits.text.data.index(b")", end) + 1
    edits.replace(end, end, "".join(f", {n}=None" if default and n[0] != "*" else f", {n}" for n in names))


def _varied(given_: ast.arguments, taken: int) -> list[str]:
    """Names for the inputs that forward takes and has none for."""
    return [f"{given_.vararg.arg}_{i + 1}" for i in range(taken - len(given_.args) + 1)] if given_.vararg else []


def _add_arguments(edits: Edits, call: ast.Call, arguments: list[str]) -> None:
    """Add arguments to a call, after all others."""
    values = [*call.args, *(k.value for k in call.keywords)]
    end = edits.text.end(call) - 1
    last = max((edits.text.end(v) for v in values), default=None)
    comma = last is not None and b"," not in edits.text.data[last:end]
    edits.replace(end, end, (", " if comma else "") + ", ".join(arguments))

"""Finding constructor arguments and inputs with which a module runs.

Two nested best-first searches.  Over arguments: the failing line and its message say which parameter to change.  Over
inputs: the more torch functions ran before the failure, the sooner an attempt's repairs are tried.  All limits are
counts of tries, so the result does not depend on how fast the machine is.

The method, measured: progress-guided search over inputs and backtracking over arguments are worth 18 points each.
"""

from __future__ import annotations

import ast
import heapq
import inspect
import itertools
import math
import re
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import torch
from torch import nn

from sources.guesses import Uses, uses, values
from sources.inputs import Specs, all_tensors, draw, guesses
from sources.progress import DRAWN_OF_ONE, MAX_ELEMENTS, Budget, Progress, TooLongError, TooMuchError
from sources.repairs import Failure, repairs
from sources.variants import Arguments, halved, of_one, rescaled, shallower

CONFIG = "<config>"
TOO_LONG = "too many operators"
MAX_CONSTRUCTIONS = 60
MAX_MODULES = 6  # constructed modules whose forward is tried
MAX_CALLS = 140  # of one module's forward; a third of it for all modules but the first
MAX_STALE = 60  # calls without progress
SHORT_STALE = 12  # the same where other arguments promise more
SMALLER = -1e6  # cost of inputs smaller than ones that were too large: they come first
CONSTRUCTION = 5  # what constructing a module costs besides
MAX_PARAMETERS = 100_000_000


@dataclass(frozen=True, slots=True)
class Solution:
    """Arguments and inputs with which the module runs."""

    arguments: Arguments
    specs: Specs


@dataclass(frozen=True, slots=True)
class Unsolved:
    """Nothing was found; why, and the last message."""

    reason: str
    detail: str


class Config:
    """A configuration that invents what it is asked for and notes it in the arguments."""

    def __init__(
        self, name: str, arguments: Arguments, namespace: Mapping[str, Any], defaults: Mapping[str, str]
    ) -> None:
        self.__dict__.update(_name=name, _arguments=arguments, _namespace=namespace, _defaults=defaults)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        key = f"{self._name}.{name}"
        if key not in self._arguments:
            guess = next(v for v in values(name, "", Uses()) if v != CONFIG)
            self._arguments[key] = self._defaults.get(name, guess)
        return eval(self._arguments[key], dict(self._namespace))  # noqa: S307 - our own expressions, in the sandbox

    def __getitem__(self, name: str) -> Any:
        return self.__getattr__(name)

    def get(self, name: str, default: Any = None) -> Any:
        return self.__getattr__(name)

    def __setattr__(self, name: str, value: Any) -> None:
        self.__dict__[name] = value


@dataclass(frozen=True, slots=True)
class Told:
    """What the rest of the package tells about a class's arguments, see ``sources.hints``."""

    sites: tuple[dict[str, Any], ...] = ()
    defaults: Mapping[str, str] = field(default_factory=dict)


NOTHING = Told()


def build(
    kind: type[nn.Module],
    arguments: Arguments,
    namespace: Mapping[str, Any],
    budget: Budget,
    defaults: Mapping[str, str] = MappingProxyType({}),
) -> nn.Module:
    """Construct a module. Attributes that a configuration had to invent are added to ``arguments``."""
    budget.left -= CONSTRUCTION
    given: dict[str, Any] = {}
    for name, expression in list(arguments.items()):
        if "." in name:
            continue
        if expression == CONFIG:
            given[name] = Config(name, arguments, namespace, defaults)
        else:
            given[name] = eval(expression, dict(namespace))  # noqa: S307 - our own expressions, in the sandbox
    with Progress(budget):
        return kind(**given)


def call(
    module: nn.Module, specs: Specs, budget: Budget, operators: int | None = None, light: bool = False
) -> tuple[Progress, Any, Exception | None]:
    """One call of forward on drawn inputs: how far it came, the result or the error; see ``Progress``."""
    torch.manual_seed(0)
    progress = Progress(budget, operators, light)
    if (drawn := sum(math.prod(t.shape) for _, t in all_tensors(specs))) > MAX_ELEMENTS:
        return progress, None, TooMuchError(f"inputs of {drawn} elements")
    arguments = [draw(spec) for spec in specs]
    try:
        with torch.no_grad(), progress:
            return progress, module(*arguments), None
    except Exception as error:  # noqa: BLE001 - any error of the module is what the search learns from
        return progress, None, error


def solve(
    kind: type[nn.Module], namespace: Mapping[str, Any], text: str, told: Told = NOTHING, operators: int | None = None
) -> Solution | Unsolved:
    """Search arguments and inputs for a module class of a task's namespace; ``text`` is the task's source.

    A task may have so many ``operators`` that compute; None: any number.
    """
    budget = Budget()
    constructions = Constructions(kind, namespace, text, budget, told)
    first: Unsolved | None = None
    for tried, (arguments, module) in enumerate(constructions):
        if sum(p.numel() for p in module.parameters()) > MAX_PARAMETERS:
            first = first or Unsolved("too large", "parameters")
            continue
        outcome = _solve_inputs(module, arguments, MAX_CALLS if tried == 0 else MAX_CALLS // 3, budget, operators)
        if not isinstance(outcome, Unsolved):
            return Solution(arguments, outcome)
        first = first or outcome
        for other in rescaled(arguments, outcome.detail):
            constructions.again(other)
        if outcome.reason == TOO_LONG and not constructions.again(shallower(arguments)):
            return outcome
        if tried + 1 >= MAX_MODULES or budget.left < 0:
            break
    return first or Unsolved("constructor not inferred", constructions.message)


def _solve_inputs(
    module: nn.Module, arguments: Arguments, calls: int, budget: Budget, operators: int | None
) -> Specs | Unsolved:
    """Best-first search over the inputs of one module. Heavy inputs give way to smaller ones, while there are any."""
    heap: list[tuple[float, int, Specs]] = []
    seen: set[Specs] = set()
    order = itertools.count()

    def push(cost: float, specs: Specs) -> None:
        if specs not in seen:
            seen.add(specs)
            heapq.heappush(heap, (cost, next(order), specs))

    for cost, specs in _starts(module):
        push(cost, specs)
    best, stale, message, patience = -1, 0, "", MAX_STALE
    floor = budget.left / 2  # other arguments are to have their turn
    for _ in range(calls):
        if not heap or stale > patience or budget.left < floor:
            break
        _, _, specs = heapq.heappop(heap)
        smaller = [s for s in (of_one(specs), halved(specs)) if s not in seen]
        budget.left -= sum(math.prod(t.shape) for _, t in all_tensors(specs)) / DRAWN_OF_ONE
        progress, result, error = call(module, specs, budget, operators, bool(smaller))
        if error is None and has_tensor(result):
            return specs
        if isinstance(error, TooLongError):
            return Unsolved(TOO_LONG, str(error))
        if isinstance(error, TooMuchError):
            if not smaller:
                return Unsolved("too large", str(error))
            for first, s in enumerate(smaller):
                push(SMALLER + first, s)
            continue
        text = f"{type(error).__name__}: {error}" if error else "no tensor among the outputs"
        stale = 0 if progress.count > best else stale + 1
        if progress.count > best:
            best, message = progress.count, text
            patience = SHORT_STALE if rescaled(arguments, text) else MAX_STALE
        reached = math.log2(1 + min(progress.count, 400))
        for cost, other in repairs(Failure(specs, text, module, *progress.last)):
            push(cost + 0.4 - reached, other)
    return Unsolved("inputs not inferred", message)


def _starts(module: nn.Module) -> Iterator[tuple[float, Specs]]:
    choices = guesses(module)
    for i in range(max(map(len, choices), default=0) or 1):
        yield 0.4 * i, tuple(c[min(i, len(c) - 1)] for c in choices)
    if len(choices) > 1:
        yield 0.2, (choices[0][0],) * len(choices)
        for at, options in enumerate(choices):
            for j, option in enumerate(options[1:4]):
                yield 0.8 + 0.5 * j, tuple(option if i == at else c[0] for i, c in enumerate(choices))


def has_tensor(value: Any) -> bool:
    """Whether there is a non-empty tensor in a tensor, list, tuple or dict."""
    if isinstance(value, torch.Tensor):
        return value.numel() > 0
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return any(has_tensor(v) for v in inner)


@dataclass(slots=True)
class Constructions:
    """Iterates over the modules of a class that could be constructed, best guess first."""

    kind: type[nn.Module]
    namespace: Mapping[str, Any]
    text: str
    budget: Budget
    told: Told = NOTHING
    message: str = ""
    _heap: list[tuple[float, int, Arguments]] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)
    _order: Iterator[int] = field(default_factory=itertools.count)
    _values: dict[str, list[str]] = field(default_factory=dict)

    def __iter__(self) -> Iterator[tuple[Arguments, nn.Module]]:
        parameters = self._parameters()
        required = [p.name for p in parameters if p.default is p.empty]
        for i, site in enumerate(self._sites(parameters)):
            self._push(0.1 * i, {name: self._options(name)[0] for name in required} | site)
        self._push(0.25, {name: self._options(name)[0] for name in required})
        for _ in range(MAX_CONSTRUCTIONS):
            if not self._heap or self.budget.left < 0:
                return
            cost, _, arguments = heapq.heappop(self._heap)
            try:
                module = build(self.kind, arguments, self.namespace, self.budget, self.told.defaults)
            except Exception as error:  # noqa: BLE001 - as above
                self._mend(cost, arguments, error, parameters)
                continue
            yield arguments, module
            for name in arguments:
                for j, option in enumerate(self._options(name)[1:5]):
                    self._push(cost + 1.0 + 0.5 * j, {**arguments, name: option})

    def again(self, arguments: Arguments) -> bool:
        """Whether these arguments are new; they are the next to be tried."""
        before = len(self._seen)
        self._push(-1.0, arguments)
        return len(self._seen) > before

    def _parameters(self) -> list[inspect.Parameter]:
        try:
            every = list(inspect.signature(self.kind).parameters.values())
        except (TypeError, ValueError):
            return []
        return [p for p in every if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]

    def _sites(self, parameters: list[inspect.Parameter]) -> list[Arguments]:
        """Arguments of the package's own calls."""
        names = [p.name for p in parameters if p.kind != p.KEYWORD_ONLY]
        found = []
        for site in self.told.sites:
            given = {n: v for n, v in zip(names, site["positional"], strict=False) if v is not None} | site["named"]
            found.append({p.name: given[p.name] for p in parameters if p.name in given})
        return found

    def _options(self, name: str) -> list[str]:
        if name not in self._values:
            known = [self.told.defaults[k] for k in [name.split(".")[-1]] if k in self.told.defaults]
            if "." in name:
                guesses = [v for v in values(name.split(".")[-1], "", Uses()) if v != CONFIG]
                self._values[name] = list(dict.fromkeys([*known, *guesses]))
            else:
                hint = inspect.signature(self.kind).parameters[name].annotation
                hint = hint if isinstance(hint, str) else "" if hint is inspect.Parameter.empty else _spelled(hint)
                first, *rest = values(name, hint, self._uses().get(name, Uses()))
                self._values[name] = list(dict.fromkeys([first, *known, *rest]))
        return self._values[name]

    def _uses(self) -> dict[str, Uses]:
        tree = ast.parse(self.text)
        names = {c.__name__ for c in self.kind.__mro__}
        found: dict[str, Uses] = {}
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and node.name in names:
                found |= uses(node)
        return found

    def _push(self, cost: float, arguments: Arguments) -> None:
        key = repr(sorted(arguments.items()))
        if key not in self._seen:
            self._seen.add(key)
            heapq.heappush(self._heap, (cost, next(self._order), arguments))

    def _mend(self, cost: float, arguments: Arguments, error: Exception, parameters: list[inspect.Parameter]) -> None:
        """Queue variants of arguments that failed: parameters named where it failed come first."""
        message = f"{type(error).__name__}: {error}"
        self.message = self.message or message
        frames = traceback.extract_tb(error.__traceback__)
        near = " ".join(f.line or "" for f in frames[-3:]) + " " + message
        far = " ".join(f.line or "" for f in frames)
        for p in parameters:  # optional ones that are really needed
            optional = p.default is None or isinstance(p.default, str | tuple | list)
            if p.name not in arguments and optional and re.search(rf"\b{p.name}\b", near):
                for j, option in enumerate(self._options(p.name)[:4]):
                    self._push(cost + 0.5 + 0.4 * j, {**arguments, p.name: option})
        suspects = sorted(arguments, key=lambda n: self._distance(n, near, far))
        for i, name in enumerate(suspects[:6]):
            distance = self._distance(name, near, far)
            wanted = (
                _wanted(message, frames[-1].line or "" if frames else "") if distance == 0 or len(suspects) == 1 else []
            )
            for j, option in enumerate([*wanted, *self._options(name)][:10]):
                if option != arguments[name]:
                    self._push(cost + 0.3 + 0.4 * j + 0.6 * i + 0.5 * distance, {**arguments, name: option})

    def _distance(self, name: str, near: str, far: str) -> int:
        word = re.compile(rf"\b{re.escape(name.split('.')[-1])}\b")
        return 0 if word.search(near) else 1 if word.search(far) else 2


def _spelled(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint).replace("typing.", "")


def _wanted(message: str, line: str) -> list[str]:
    """Values of the kind that an error message asks for."""
    if match := re.search(r"values to unpack \(expected (\d)|unpack non-iterable", message):
        count = int(match[1]) if match[1] else line.split("=")[0].count(",") + 1
        return [{2: "(32, 32)", 3: "(3, 32, 32)"}.get(count, str((16,) * count)), str([2] * count)]
    rules = [
        (r"not iterable|not subscriptable|has no len|must be an iterable", ["[32, 64]", "[2, 2]", "(8, 8)", "[3, 5]"]),
        (r"object is not callable|not a Module subclass|should be called with|should be callable",
         ["nn.Identity()", "[nn.Identity(), nn.Identity()]", "nn.ReLU", "nn.LayerNorm", "nn.BatchNorm2d",
          "nn.Linear(64, 64)", "nn.Identity"]),
        (r"attribute '(lower|upper|split|startswith|strip|format|join)'", ["'relu'", "'gelu'", "'mean'"]),
        (r"has no attribute '(size|shape|dim|device|ndim)'", ["torch.ones(64, 64)", "torch.ones(64)"]),
        (r"has no attribute", [CONFIG, "nn.Identity()", "nn.Identity"]),
        (r"divisible|division|modulo|multiple", ["64", "256", "4", "32", "1", "2", "16", "8", "128"]),
        (r"unsupported operand|not supported between|as an integer|invalid combination|must be|can't multiply",
         ["64", "4", "0.5", "2", "1"]),
    ]  # fmt: skip
    options = re.search(r"\bin\s*[\[({]((?:\s*['\"][\w-]+['\"],?)+)\s*[\])}]", line)
    found = re.findall(r"['\"][\w-]+['\"]", options[1]) if options else []
    return found + next((v for pattern, v in rules if re.search(pattern, message)), [])

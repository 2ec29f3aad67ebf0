"""Which constructor arguments to try next for a module class.

A best-first search of its own: where constructing fails, or where the module that was constructed fails to run, the
failing line and its message say which parameter to change.
"""

from __future__ import annotations

import ast
import heapq
import inspect
import itertools
import re
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from torch import nn

from sources.configs import CONFIG, Config
from sources.guesses import Uses, uses, values
from sources.progress import Budget, Progress, TooMuchError
from sources.variants import Arguments, defaults_of, narrower, shallower

MAX_CONSTRUCTIONS = 60
CONSTRUCTION = 5  # what constructing a module costs besides


@dataclass(frozen=True, slots=True)
class Told:
    """What the rest of the package tells about a class's arguments, see ``sources.hints``."""

    sites: tuple[dict[str, Any], ...] = ()
    defaults: Mapping[str, str] = field(default_factory=dict)


NOTHING = Told()


@dataclass(frozen=True, slots=True)
class Trouble:
    """An error, the lines of code nearest to it, and all lines on the way to it."""

    message: str
    near: str = ""
    far: str = ""
    line: str = ""

    @classmethod
    def of(cls, error: Exception, file: str = "") -> Trouble:
        """The trouble of an error; lines of one ``file`` only, where that is given."""
        message = f"{type(error).__name__}: {error}"
        frames = [f for f in traceback.extract_tb(error.__traceback__) if not file or f.filename == file]
        lines = [f.line or "" for f in frames]
        return cls(
            message, " ".join([*lines[-2 if file else -3 :], message]), " ".join(lines), lines[-1] if lines else ""
        )


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
    _attributes: dict[str, set[str]] | None = None  # parameter -> attributes of self that are made from it

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
                trouble = Trouble.of(error)
                self.message = self.message or trouble.message
                self._mend(cost, arguments, trouble, parameters, {})
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

    def blame(self, arguments: Arguments, trouble: Trouble) -> None:
        """The module of these arguments did not run: those that made what the failing line uses are to be others."""
        if self._attributes is None:
            self._attributes = _made_of(self.kind, self.text)
        self._mend(-0.9, arguments, trouble, self._parameters(), self._attributes)

    def _parameters(self) -> list[inspect.Parameter]:
        """Parameters that can be given by name, those that ``**kwargs`` passes on to a base class included."""
        found: dict[str, inspect.Parameter] = {}
        for kind in self.kind.__mro__:
            if "__init__" not in vars(kind) and kind is not self.kind:
                continue
            try:
                every = list(
                    inspect.signature(kind if kind is self.kind else vars(kind)["__init__"]).parameters.values()
                )
            except (TypeError, ValueError):
                break
            plain = [p for p in every if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and p.name != "self"]
            for p in plain:
                found.setdefault(p.name, p if kind is self.kind else p.replace(kind=p.KEYWORD_ONLY))
            if not any(p.kind is p.VAR_KEYWORD for p in every) or kind is nn.Module:
                break
        return list(found.values())

    def _sites(self, parameters: list[inspect.Parameter]) -> list[Arguments]:
        """Arguments of the package's own calls."""
        names = [p.name for p in parameters if p.kind != p.KEYWORD_ONLY]
        found = []
        for site in self.told.sites:
            given = {n: v for n, v in zip(names, site["positional"], strict=False) if v is not None} | site["named"]
            found.append({p.name: given[p.name] for p in parameters if p.name in given})
        return found

    def _passed_on(self, message: str, arguments: Arguments) -> list[str]:
        """What a class that is constructed inside lacks, where ``**kwargs`` may hand it on."""
        match = re.search(r"missing \d+ required (?:keyword-only |positional )arguments?: (.*)", message)
        open_ended = any(p.kind is p.VAR_KEYWORD for p in inspect.signature(self.kind).parameters.values())
        return [n for n in re.findall(r"'(\w+)'", match[1]) if n not in arguments] if match and open_ended else []

    def _options(self, name: str) -> list[str]:
        if name not in self._values:
            known = [self.told.defaults[k] for k in [name.split(".")[-1]] if k in self.told.defaults]
            if "." in name:
                guesses = [v for v in values(name.split(".")[-1], "", Uses()) if v != CONFIG]
                self._values[name] = list(dict.fromkeys([*known, *guesses]))
            else:
                hint = next((p.annotation for p in self._parameters() if p.name == name), "")
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

    def _mend(
        self,
        cost: float,
        arguments: Arguments,
        trouble: Trouble,
        parameters: list[inspect.Parameter],
        attributes: Mapping[str, set[str]],
    ) -> None:
        """Queue variants of arguments that failed: parameters named where it failed come first."""
        message, near, far = trouble.message, trouble.near, trouble.far
        for p in parameters:  # optional ones that are really needed
            optional = p.default is None or isinstance(p.default, str | tuple | list)
            if p.name not in arguments and optional and _word(p.name, attributes).search(near):
                for j, option in enumerate(self._options(p.name)[:4]):
                    self._push(cost + 0.5 + 0.4 * j, {**arguments, p.name: option})
        if message.startswith(TooMuchError.__name__):
            for smaller in (shallower, narrower):
                self._push(cost - 0.5, smaller(arguments, defaults_of(self.kind)))
        if lacking := self._passed_on(message, arguments):
            self._push(cost - 0.5, arguments | {name: self._options(name)[0] for name in lacking})
        # the class itself gives it to its base
        if twice := re.search(r"multiple values for (?:keyword )?argument '(\w+)'", message):
            self._push(cost - 0.5, {n: v for n, v in arguments.items() if n != twice[1]})
        ranked = {n: _distance(_word(n, attributes), near, far) - (_plain(n) in message) for n in arguments}
        suspects = sorted((n for n in arguments if ranked[n] < 2 or not attributes), key=ranked.__getitem__)
        for i, name in enumerate(suspects[:6]):
            first = ranked[name] <= 0 or len(suspects) == 1
            wanted = _wanted(message, trouble.line) if first else []
            for j, option in enumerate([*wanted, *self._options(name)][:10]):
                if option != arguments[name]:
                    self._push(cost + 0.3 + 0.4 * j + 0.6 * i + 0.5 * ranked[name], {**arguments, name: option})


def _word(name: str, attributes: Mapping[str, set[str]]) -> re.Pattern[str]:
    """What names a parameter in a line: itself, or an attribute of self that is made from it."""
    name = name.split(".")[-1]
    made = "|".join(sorted(map(re.escape, attributes.get(name, ()))))
    return re.compile(rf"\bself\.(?:{made})\b" if made else rf"\b{re.escape(name)}\b")


def _plain(name: str) -> str:
    """How a message may say a parameter's name; nothing where that is too short to tell."""
    name = name.split(".")[-1]
    return name if len(name) > 4 else "\0"


def _distance(word: re.Pattern[str], near: str, far: str) -> int:
    return 0 if word.search(near) else 1 if word.search(far) else 2


def _made_of(kind: type, text: str) -> dict[str, set[str]]:
    """For the names of parameters, the attributes of self whose values are made from them."""
    names = {c.__name__ for c in kind.__mro__}
    origins: dict[str, set[str]] = {}  # local name -> names that it is made from
    found: dict[str, set[str]] = {}
    functions = (f for c in ast.parse(text).body if isinstance(c, ast.ClassDef) and c.name in names for f in c.body
                 if isinstance(f, ast.FunctionDef) and f.name == "__init__")  # fmt: skip
    for statement in (s for f in functions for s in ast.walk(f) if isinstance(s, ast.Assign | ast.AnnAssign)):
        read = {n.id if isinstance(n, ast.Name) else n.attr for n in ast.walk(statement.value or ast.Pass())
                if isinstance(n, ast.Name | ast.Attribute)}  # fmt: skip
        read |= {o for n in read for o in origins.get(n, ())}
        for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
            if isinstance(target, ast.Name):
                origins.setdefault(target.id, set()).update(read)
            elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
                for name in read:
                    found.setdefault(name, set()).add(target.attr)
    return found


def _spelled(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint).replace("typing.", "")


def _wanted(message: str, line: str) -> list[str]:
    """Values of the kind that an error message asks for."""
    if match := re.search(r"values to unpack \(expected (\d)|unpack non-iterable", message):
        count = int(match[1]) if match[1] else line.split("=")[0].count(",") + 1
        return [{2: "(32, 32)", 3: "(3, 32, 32)"}.get(count, str((16,) * count)), str([2] * count)]
    rules = [
        (r"(list|tuple) index out of range", ["[2, 2, 2, 2]", "[16, 32, 64, 128]", "[16, 32, 64, 128, 256]"]),
        (r"not iterable|not subscriptable|has no len|must be an iterable", ["[32, 64]", "[2, 2]", "(8, 8)", "[3, 5]"]),
        (r"object is not callable|not a Module subclass|should be called with|should be callable",
         ["nn.Identity()", "[nn.Identity(), nn.Identity()]", "nn.ReLU", "nn.LayerNorm", "nn.BatchNorm2d",
          "nn.Linear(64, 64)", "nn.Identity"]),
        (r"attribute '(lower|upper|split|startswith|strip|format|join)'", ["'relu'", "'gelu'", "'mean'"]),
        (r"has no attribute '(size|shape|dim|device|ndim)'", ["torch.ones(64, 64)", "torch.ones(64)"]),
        (r"has no attribute", [CONFIG, "nn.Identity()", "nn.Identity"]),
        (r"divisible|division|modulo|multiple", ["64", "256", "4", "96", "32", "1", "2", "16", "8", "128"]),
        (r"must match the size", ["(64, 1, 1, 1)", "(64, 1, 1)", "(64,)", "(1, 64, 1, 1)", "64", "(1,)", "1"]),
        (r"\bodd\b", ["3", "1", "5", "7"]),
        (r"unsupported operand|not supported between|as an integer|invalid combination|must be|can't multiply",
         ["64", "4", "0.5", "2", "1"]),
    ]  # fmt: skip
    if match := re.search(
        r"(?i)(?:must be|one of|choose from|supported|expected)\b[^\[(']*[\[(]?((?:['\"]?[\w.-]+['\"]?, ){2,}[^\])]*)",
        message,
    ):
        found = [repr(w) for w in re.findall(r"[\w.-]+", match[1]) if not w.isdecimal()][:4]
        if found and not re.search(r"tensor|int,", match[1], re.I):
            return found
    options = re.search(r"\bin\s*[\[({]((?:\s*['\"][\w-]+['\"],?)+)\s*[\])}]", line)
    found = re.findall(r"['\"][\w-]+['\"]", options[1]) if options else []
    return found + next((v for pattern, v in rules if re.search(pattern, message)), [])

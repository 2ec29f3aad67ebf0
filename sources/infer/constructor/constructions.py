"""Which constructor arguments to try next for a module class.

A best-first search of its own: where constructing fails, or where the module that was constructed fails to run, the
failing line and its message say which parameter to change.
"""

from __future__ import annotations

import ast
import itertools
import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from torch import nn

from sources.hints.demands import Demand, demands
from sources.hints.guesses import ADJACENCY, as_layers_want, leading, rows, values
from sources.hints.mappings import gone_through
from sources.hints.uses import Uses, arrays, compared, looked_up, uses
from sources.infer.agenda import Agenda
from sources.infer.constructor import parts
from sources.infer.constructor.blamed import blamed
from sources.infer.constructor.configs import CONFIG, METHOD, Config, is_spelled, untold, with_attributes, with_value
from sources.infer.constructor.counted import in_lists, recounted, thinner, together, with_entries
from sources.infer.constructor.nested import changed, completed
from sources.infer.constructor.reading import reading
from sources.infer.constructor.records import WANTS, lists, namesakes, of_dictionaries
from sources.infer.constructor.signatures import as_called, handed_on, parameters_of, passed_on, spelled
from sources.infer.constructor.suspects import having, holding, line_reached, made_of, meant, ranked, restored, word
from sources.infer.constructor.trouble import TENSORS, Trouble, offered, wanted
from sources.infer.forward import spaces
from sources.infer.forward.variants import (
    Arguments,
    coarser,
    defaults_of,
    embedded,
    enlarged,
    filled,
    in_place_of_empty,
    left_out,
    narrower,
    one_fewer,
    opened,
    reduced,
    reshaped,
    shallower,
)
from sources.infer.running.progress import Budget, Progress, TooMuchError, constructing
from sources.text.remembered import parsed

MAX_CONSTRUCTIONS = 80
CONSTRUCTION = 5  # what constructing a module costs besides
FIRST = -12.0  # cost of arguments that the package's own calls give, and of those that made a module
OTHERS_FIRST = 4  # arguments that are tried before the defaults
REFUND = 0.8  # of what constructing a module took that is too large: smaller ones are to have their turn
MAX_TOO_MUCH = 8  # constructions that are too much at the same place: smaller ones are queued first after each
FURTHEST = 1000  # how far a constructor is followed
LINE = 3  # as much as so many torch functions counts a line of the constructor that was reached
LAYERS = 6  # kinds of items that are tried where they are called
TRACED = -2  # how far an argument is from an error about its value
_INTEGER = re.compile(r"as an integer|unsupported operand type\(s\) for (&|\||\^|<<|>>)")
# A size that was left 0 is one that there must be.
_OF_NONE = re.compile(r"of size \[0[,\]]|_size must be greater than zero|must be within num_embeddings")
_LACKING = re.compile(rf"None|{_OF_NONE.pattern}")
_NOTHING = re.compile(r"unsupported operand type.*NoneType")  # what was left None may be handed on for long
PATIENCE = 0.2  # what each try without progress adds to the cost of those that follow from it


@dataclass(frozen=True, slots=True)
class Told:
    """What the rest of the package tells about a class's arguments, see ``sources.hints.hints``."""

    sites: tuple[dict[str, Any], ...] = ()
    defaults: Mapping[str, str] = field(default_factory=dict)


NOTHING = Told()


def build(
    kind: type[nn.Module],
    arguments: Arguments,
    namespace: Mapping[str, Any],
    budget: Budget,
    defaults: Mapping[str, str] = MappingProxyType({}),
    progress: Progress | None = None,
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
    with progress or constructing(budget):
        return kind(**given)


@dataclass(slots=True)
class Constructions:
    """Iterates over the modules of a class that could be constructed, best guess first."""

    kind: type[nn.Module]
    namespace: Mapping[str, Any]
    text: str
    budget: Budget
    told: Told = NOTHING
    tries: int = MAX_CONSTRUCTIONS
    lighter: bool = False  # whether it begins with smaller images and fewer layers
    lightened: bool = False  # and whether there are any
    message: str = ""
    calls: list[Arguments] = field(default_factory=list)  # the package's own
    furthest: Arguments = field(default_factory=dict)  # of those that failed, whose failure it is
    agenda: Agenda[Arguments] = field(default_factory=Agenda)  # what waits to be tried
    _values: dict[str, list[str]] = field(default_factory=dict)
    _tree: ast.Module | None = None
    _used: dict[str, Uses] | None = None
    _records: list[str] | None = None  # lists of the program's own records
    _inner: Arguments = field(default_factory=dict)  # defaults of a class that **kwargs is handed on to
    _ended: Counter[int] = field(default_factory=Counter)  # constructions that were too much, by how far they came
    _reached: int = -1
    _stale: int = 0  # constructions since one came further than all before it

    def __iter__(self) -> Iterator[tuple[Arguments, nn.Module]]:
        parameters = parameters_of(self.kind)
        required = [p.name for p in parameters if p.default is p.empty]
        called = as_called(self.told.sites, parameters)
        self.calls = [{name: self._options(name)[0] for name in required} | site for site in called]
        for i, call in enumerate(self.calls):
            self._start(FIRST + 0.1 * i, call)
        empty = {p.name: v for p in parameters if (v := in_place_of_empty(p, self._options))}
        if empty:  # what may be left empty is seldom left so
            self._start(FIRST + 0.2, {name: self._options(name)[0] for name in required} | empty)
        plain: Arguments | None = {name: self._options(name)[0] for name in required}
        self._start(FIRST + 0.25, dict(plain or {}))
        for site in called[-1:]:  # what its type hints tell of, without what it may do without
            self._start(FIRST + 0.27, {name: site.get(name, self._options(name)[0]) for name in required})
        told = {name: self.told.defaults[name] for name in required if name in self.told.defaults}
        if len(told) > 1:  # what the package says elsewhere for these names may belong together
            self._start(FIRST + 0.3, {**(plain or {}), **told})
        for tried in range(self.tries):
            if not self.agenda or self.budget.left < 0:
                return
            if tried == OTHERS_FIRST and plain is not None:  # what mends the package's own arguments is not to be all
                self._push(2 * FIRST, plain)
            cost, arguments = self.agenda.pop()
            plain = None if arguments == plain else plain
            progress, left = constructing(self.budget), self.budget.left
            try:
                module = build(self.kind, arguments, self.namespace, self.budget, self.told.defaults, progress)
            except Exception as error:  # noqa: BLE001 - any error of a constructor is what the search learns from
                if isinstance(error, TooMuchError):
                    self._ended[progress.count] += 1
                    self._inner = handed_on(error, self.kind)
                    self.budget.left += REFUND * (left - self.budget.left)
                self._failed(arguments, error, progress)
                if self._ended[progress.count] >= MAX_TOO_MUCH:  # smaller ones went first: others may do, unseen
                    return
                continue
            if self.again(embedded(arguments)):  # what a configuration is asked for is known only now
                del module  # as below
                continue
            self._inner = handed_on(module, self.kind)
            yield arguments, module
            del module  # two at once are not to be in memory
            for name in arguments:
                for j, option in enumerate(self._options(name)[1:5]):
                    self._push(max(cost, FIRST) + 1.0 + 0.5 * j, {**arguments, name: option})

    def _start(self, cost: float, arguments: Arguments) -> None:
        smaller = self.lighter and reduced(opened(arguments, self.namespace), defaults_of(self.kind))
        self.lightened = self.lightened or bool(smaller) and smaller != arguments
        self._push(cost, smaller or arguments)

    def _failed(self, arguments: Arguments, error: Exception, progress: Progress) -> None:
        """Queue what may mend arguments that failed: the further they came, the sooner."""
        file = str(self.namespace.get("__file__", ""))
        trouble = Trouble.of(error, program=file)
        reached = min(FURTHEST, progress.count + LINE * line_reached(error, file))
        self._stale = 0 if reached > self._reached else self._stale + 1
        if reached > self._reached:
            self._reached, self.message, self.furthest = reached, trouble.message, dict(arguments)
        if (whole := completed(arguments, trouble.message, self.told.defaults)) != arguments:
            self.again(whole)
        cost = PATIENCE * self._stale - math.log2(1 + reached)
        self._tree = self._tree or parsed(self.text)
        self._obey(cost + 0.5 * TRACED, arguments, demands(error, self._tree, file))  # surer than other values
        self._mend(cost, arguments, trouble, {}, blamed(error, self._tree, file, trouble.culprits))

    def _obey(self, cost: float, arguments: Arguments, found: list[Demand]) -> None:
        """Queue arguments with what checks of the program ask for: of the argument of that name, or of that value."""
        for i, demand in enumerate(found):
            for name in meant(demand, arguments, [p.name for p in parameters_of(self.kind)]):
                for j, option in enumerate(demand.wanted):
                    if is_spelled(option, self.namespace) and arguments.get(name) != option:
                        self._push(cost + 0.1 + 0.1 * i + 0.3 * j, with_value(arguments, name, option))
            for name, text in {**defaults_of(self.kind), **arguments}.items():
                if text[:1] == "{" and (key := f"{demand.value!r}:") in text:
                    for j, option in enumerate(demand.wanted):
                        self._push(cost + 0.1 + 0.3 * j, {**arguments, name: text.replace(key, f"{option}:")})
                known = all(is_spelled(option, self.namespace) for option in demand.wanted)
                counts = holding(text, demand.value) if known else []
                for i, (option, count) in enumerate(itertools.product(demand.wanted, counts)):
                    self._push(cost + 0.3 + 0.3 * i, {**arguments, name: f"[{', '.join([option] * count)}]"})

    def again(self, arguments: Arguments, sooner: float = 0.0) -> bool:
        """Whether these arguments are new; they are the next to be tried, ``sooner`` than others that are."""
        return self._push(FIRST - 1.0 - sooner, arguments)

    def again_smaller(self, arguments: Arguments, images: bool = True) -> bool:
        """Whether any with smaller ``images``, fewer or narrower layers are new; they are the next to be tried."""
        defaults, arguments = self._inner | defaults_of(self.kind), opened(arguments, self.namespace)
        kinds = (coarser, shallower, narrower) if images else (shallower, narrower)
        return sum(self.again(smaller(arguments, defaults)) for smaller in kinds) > 0

    def blame(self, arguments: Arguments, trouble: Trouble, asked: Sequence[Demand] = ()) -> None:
        """The module of these arguments did not run: those that made what the failing line uses are to be others."""
        self._obey(FIRST - 0.95, arguments, [*asked])
        self._mend(FIRST - 0.9, arguments, trouble, made_of(self.kind, self.text))

    def _options(self, name: str) -> list[str]:
        if name not in self._values:
            names = [".".join(name.split(".")[-n:]) for n in (2, 1)]  # in its mapping, or in any
            known = [self.told.defaults[k] for k in names if k in self.told.defaults]
            if "." in name:
                guesses = [v for v in values(name.split(".")[-1], "", Uses()) if v != CONFIG]
                how, last = reading(str(self.namespace.get("__file__", ""))), name.split(".")[-1]
                words = ["False", "True"] if last in how.flags else how.words.get(last, [])
                of_part = parts.ANSWERS if name.endswith(f".{parts.CALLED}") else []
                self._values[name] = list(dict.fromkeys([*of_part, *known, *words, *guesses]))
            else:
                hint = next((spelled(p.annotation) for p in parameters_of(self.kind) if p.name == name), "")
                found = values(name, hint, self._uses().get(name, Uses()))
                lead = leading(name, [p.name for p in parameters_of(self.kind)], self.text)
                first, *rest = as_layers_want([*lead, *found], self.text)
                needed = {p.name for p in parameters_of(self.kind) if p.default is p.empty}
                nothing = ["None"] if name in needed and self._uses().get(name, Uses()).optional else []
                flags = [v for v in known if v in ("False", "True")]  # surer than what a name sounds like
                found = [*rows(name, known), *flags, first, *known, *nothing, *rest]
                self._values[name] = list(dict.fromkeys(found))
        return self._values[name]

    def _uses(self) -> dict[str, Uses]:
        if self._used is None:
            self._used = self._read()
        return self._used

    def _read(self) -> dict[str, Uses]:
        tree = self._tree = self._tree or parsed(self.text)
        names = {c.__name__ for c in self.kind.__mro__}
        found: dict[str, Uses] = {}
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and node.name in names:
                found |= uses(node)
        own = {p.name for p in parameters_of(self.kind)}
        found |= arrays(tree, own - found.keys())
        for name, words in compared(tree).items():  # it may be handed on to what compares it
            use = found.setdefault(name, Uses()) if name in own else None
            if use is not None and not use.strings and not use.called:
                use.strings = words
        for name, keys in looked_up(tree).items():
            if name in own and not found.setdefault(name, Uses()).called:
                found[name].attributes |= keys
        for name, mapping in gone_through(tree).items():
            if name in own:
                found.setdefault(name, Uses()).mapping = mapping
        return found

    def _push(self, cost: float, arguments: Arguments) -> bool:
        return self.agenda.push(cost, repr(sorted(arguments.items())), arguments)

    def _mend(
        self,
        cost: float,
        arguments: Arguments,
        trouble: Trouble,
        attributes: Mapping[str, set[str]],
        traced: Collection[str] = (),
    ) -> None:
        """Queue variants of arguments that failed: those that the failing value came from, or named where it failed."""
        made = {} if attributes else made_of(self.kind, self.text, inside=True)  # a line may name what it was made
        parameters, absent = parameters_of(self.kind), []
        for p in parameters:  # optional ones that are really needed
            optional = p.default is None or isinstance(p.default, str | tuple | list | dict | type)
            optional = optional or type(p.default).__name__ in trouble.culprits  # a number where several are wanted
            zero = type(p.default) is int and p.default == 0 and _OF_NONE.search(trouble.message) is not None
            where = trouble.far if (left := p.default is None and _NOTHING.search(trouble.message)) else trouble.near
            said = word(p.name, attributes).search(where) or word(p.name, made).search(where)
            if p.name not in arguments and (optional or zero) and said:
                absent += [p.name] if p.default is None or zero else []
                asked = [o for o in self._options(p.name)[:2] if left and o != "0.0"]
                asked += self._others(p.name, repr(p.default), trouble, bool(attributes))
                for j, option in enumerate(asked[:4]):
                    self._push(cost + 0.5 + 0.4 * j, {**arguments, p.name: option})
        if len(absent) > 1 and _LACKING.search(trouble.message):  # no single one of them mends the line
            self._push(cost + 0.2, {**arguments, **{name: self._options(name)[0] for name in absent}})
        for listed in together(self.kind, arguments, trouble.near, trouble.message):
            self._push(cost - 0.5, listed)
        self._resize(cost - 0.5, arguments, trouble.message)
        self._tell(cost - 0.5, arguments, trouble.message)
        for name, text in arguments.items():
            for i, other in enumerate(changed(text, self.namespace, trouble, self.told.defaults)):
                self._push(cost + 0.3 + 0.1 * i, {**arguments, name: other})
        given = [p.name for p in parameters if p.default is not p.empty and p.name in arguments]
        spare, more = (restored(given, arguments, trouble), 0.0) if attributes else (given, 1.0)
        for i, name in enumerate(spare):  # its default may be what the others need
            self._push(cost + more + 0.1 * i, {n: v for n, v in arguments.items() if n.split(".")[0] != name})
        far = ranked(arguments, trouble, attributes)
        if not attributes:
            others = ranked(arguments, trouble, made)
            far = {name: min(distance, others[name]) for name, distance in far.items()}
        named = {name for name, distance in far.items() if distance <= 0}
        if traced := [name for name in arguments if name in traced]:
            far = {name: TRACED if name in traced else distance + 1 for name, distance in far.items()}
        suspects = sorted((n for n in arguments if far[n] < 2 or not attributes), key=far.__getitem__)
        for i, name in enumerate((suspects or list(arguments))[:6]):
            first = far[name] <= 0 or name in named or len(suspects) == 1
            options = self._others(name, arguments[name], trouble, bool(attributes)) if first else self._options(name)
            for j, option in enumerate(options[:10]):
                if option != arguments[name]:
                    dear = cost + 0.3 + 0.4 * j + 0.6 * i + 0.5 * far[name]
                    self._push(dear, with_value(arguments, name, option))
                    if option in (self._records or ()):  # what is called alike holds such, too
                        self._push(dear - 0.1, arguments | dict.fromkeys(namesakes(name, arguments), option))

    def _tell(self, cost: float, arguments: Arguments, message: str) -> None:
        """Queue arguments with the settings of a configuration that reading it does not show."""
        for name in [n for n, text in arguments.items() if text == CONFIG]:
            wanted = (f"{name}.{n}" for n in untold(name, message, self.text))
            more = {n: self._options(n)[0] for n in wanted if n not in arguments}
            if more:
                self._push(cost, {**arguments, **more})

    def _resize(self, cost: float, arguments: Arguments, message: str) -> None:
        """Queue arguments of other sizes, with what a class inside lacks, without what it has twice."""
        if message.startswith(TooMuchError.__name__):
            defaults, arguments = self._inner | defaults_of(self.kind), opened(arguments, self.namespace)
            fewer = shallower(arguments, defaults)
            self._push(FIRST, fewer)
            self._push(FIRST + 0.01, narrower(fewer, defaults))
            for i, smaller in enumerate([*one_fewer(arguments), narrower(arguments, defaults)]):
                self._push(cost + 0.01 * i, smaller)
        others = enlarged(arguments, message, self.told.defaults) + reshaped(arguments, message)
        others += recounted(self.kind, arguments, message)
        others += with_entries(arguments, message, self.text, self.told.defaults) + thinner(arguments, message)
        others += parts.named(arguments, message, self.text)
        for other in [*others, *left_out(arguments, message, self.text)]:
            self._push(cost, other)
        if lacking := passed_on(self.kind, self.text, message, arguments):
            self._push(cost, arguments | {name: self._options(name)[0] for name in lacking})
        # the class itself gives it to its base
        if twice := re.search(r"multiple values for (?:keyword )?argument '(\w+)'", message):
            self._push(cost, {n: v for n, v in arguments.items() if n != twice[1]})

    def _others(self, name: str, text: str, trouble: Trouble, running: bool) -> list[str]:
        """What an argument may be in place of a value that does not do, as the error asks for first.

        A method of a configuration stays one, with another answer.
        """
        if text.startswith(METHOD):
            others = self._others(name, text.removeprefix(METHOD), trouble, running)
            return [METHOD + other for other in others if other != CONFIG]
        known = self._options(name)
        if instead := spaces.others(name, text, self.namespace, trouble.message):
            return [*instead, *known]
        if _INTEGER.search(trouble.message):
            known = [*(v for v in values(name.split(".")[-1], "int", Uses())[:2] if v != text), *known]
            return list(dict.fromkeys([*known[:2], *self._asked(text, trouble, running), *known]))
        return [*self._asked(text, trouble, running), *known]

    def _asked(self, text: str, trouble: Trouble, running: bool) -> list[str]:
        """Values of the kind that an error asks for in place of one; of a list, longer ones, or lists in it."""
        how = reading(str(self.namespace.get("__file__", "")))
        asked = [
            *with_attributes(text, trouble.message),
            *parts.holding(text, trouble.message, trouble.line, how.flags, how.run),
            *having(self.kind, self.namespace, trouble.message),
            *(offered(trouble.message, self._tree) if self._tree and text[:1] in ("'", '"') else []),
            *wanted(trouble.message, trouble.line, running),
        ]
        if parts.STUB in asked and (others := parts.in_place_of(text)):
            return [*others, *asked]
        asked = [*of_dictionaries(text, trouble, self.text), *in_lists(text, trouble.message), *asked]
        if WANTS.search(trouble.message):
            if self._records is None:
                self._records = lists(parsed(self.text), self.namespace, self.kind.__module__)
            asked = [*self._records, *asked]
        if asked and text[:1] == "[" and "int" in trouble.culprits and "{" not in text:
            layers = [filled(text, a) for a in asked[:LAYERS] if a.startswith("nn.")]
            return [*([filled(text, ADJACENCY)] if asked == TENSORS else layers or [f"[{text}, {text}]"]), *asked]
        return asked

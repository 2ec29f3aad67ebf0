"""What the rest of a package tells about constructor arguments: calls of a class, and defaults of equal names.

Only expressions that a task can hold are taken: literals, names of torch, and definitions of the package itself, which
are then cut out along with the class.
"""

from __future__ import annotations

import ast
import copy
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from sources.hints.below import Below
from sources.hints.callees import Callees
from sources.hints.calls import called, of_bases, tells
from sources.hints.likeness import Likeness, asked
from sources.hints.makers import kind_of
from sources.hints.parsed import Parsed
from sources.hints.said import FIELD, OPTION, Said, said
from sources.hints.settings import Settings, builds, mapping
from sources.hints.spelling import Spelling, chosen, constructor, held_before, required
from sources.hints.trees import Trees, likeliest
from sources.text.documents import Section, sections
from sources.text.folded import folded
from sources.text.on_cpu import CPU, names_cuda
from sources.text.parsers import arguments
from sources.text.registries import registered_as, words
from sources.text.scope import nodes, reads, root_of, walk
from sources.text.symbols import Package
from sources.text.targets import External, Here, Target

MAX_CALLS = 40  # calls of one class that are looked at
MAX_SITES = 4  # of these that are kept
MAX_USERS = 4  # definitions that may be run to see a class at work
MAX_MAKERS = 1  # of these that need arguments themselves
MAX_STEPS = 3  # from a class to a definition that uses what uses it
MAX_SEEN = 60  # definitions looked at on the way
SHORT = {"torch": "torch", "torch.nn": "nn", "torch.nn.functional": "F", "functools": "functools"}
_PLAIN = (ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.UnaryOp, ast.BinOp, ast.Load, ast.operator, ast.unaryop,
          ast.keyword, ast.Starred)  # fmt: skip
_COUNT = re.compile(r"vocab|num|^n_|size|dim|len|class|count")
_WORDS = re.compile(r"(?i)^(\w+_)?vocab(ulary)?(_?size)?$|^(n|num)_?(words|tokens)$|^n_?vocab$|^ntokens?$")
LEAST_WORDS = 8  # of a vocabulary: fewer stand for a number that is known when the program runs
Place = tuple[str, int, int, bool]  # file, line and column of a call, and whether its arguments may tell something
Names = Callable[[Here], str | None]


@dataclass(slots=True)
class Site:
    """One call of a class: the arguments that could be read, and the definitions they name."""

    positional: list[ast.expr | None]
    named: dict[str, ast.expr]
    needs: set[Here] = field(default_factory=set)
    targets: dict[int, Target] = field(default_factory=dict)  # of the names and dotted names in them
    made: list[ast.expr] = field(default_factory=list)  # expressions that are ours
    kept: list[ast.AST] = field(default_factory=list)  # that targets tell of: an id holds as long as its node

    @property
    def known(self) -> int:
        return sum(a is not None for a in self.positional) + len(self.named)

    def complete(self, other: Site, names: list[str]) -> None:
        """Take from another call the arguments that could not be read; ``names`` are those by position."""
        for name, made in other.named.items():
            at = names.index(name) if name in names else len(self.positional)
            if at < len(self.positional):
                if self.positional[at] is not None:
                    continue
                self.positional[at] = made
            elif name in self.named:
                continue
            else:
                self.named[name] = made
            self.add(other)
            self.made.append(made)

    def add(self, other: Site | Spelling) -> None:
        """Take over what the names in another's expressions mean."""
        self.needs, self.targets = self.needs | other.needs, self.targets | other.targets
        self.kept = [*self.kept, *other.kept]

    def words(self) -> set[str]:
        """Strings among the arguments."""
        return words([a for a in self.positional if a is not None] + list(self.named.values()))

    def spelled(self, names: Names) -> dict[str, list[str | None] | dict[str, str]]:
        """The arguments as text, with the names that definitions have in a cut; those that have none are left out."""
        positional = [None if a is None else self._spelled(a, names) for a in self.positional]
        named = {k: text for k, a in self.named.items() if (text := self._spelled(a, names)) is not None}
        return {"positional": positional, "named": named}

    def _spelled(self, node: ast.expr, names: Names) -> str | None:
        targets, lost = self.targets, []

        class Renaming(ast.NodeTransformer):
            def visit(self, inner: ast.AST) -> ast.AST:
                target = targets.get(getattr(inner, "_at", 0))
                if target is None:
                    return super().generic_visit(inner)
                name = names(target) if isinstance(target, Here) else _external(target)
                lost.extend([] if name else [target])
                return ast.Name(name or "", ast.Load())

        marked = copy.deepcopy(node)
        for old, new in zip(ast.walk(node), ast.walk(marked), strict=True):
            new._at = id(old)  # type: ignore[attr-defined]
        for inner in ast.walk(marked):
            if isinstance(inner, ast.Constant) and names_cuda(inner.value):
                inner.value = CPU.type
        text = ast.unparse(Renaming().visit(marked))
        return None if lost else text


def _external(target: Target) -> str | None:
    if not isinstance(target, External) or target.module not in SHORT:
        return None
    return f"{SHORT[target.module]}.{target.name}" if target.name else SHORT[target.module]


class Hints:
    """Calls and defaults of a package, collected when first asked for."""

    def __init__(self, package: Package, settings: Iterable[str] = ()) -> None:
        """``settings`` are the package's configurations: texts in JSON or YAML."""
        self.package = package
        self._calls: dict[str, list[tuple[str, ast.stmt, ast.Call]]] = defaultdict(list)
        self.everywhere: Mapping[str, list[Place]] | None = None  # calls in files that are not looked through, too
        self.counts: dict[str, Counter[str]] = defaultdict(Counter)  # how often names are given values
        self._mentions: dict[str, dict[Here, ast.Name | ast.Attribute]] = defaultdict(dict)  # name -> who says it
        self._settings, self._trees, self._parsed = Settings(), Trees(), Parsed()
        self._likeness, self.below, self._callees = Likeness(package), Below(package), Callees(package)
        self._kinds: dict[Here, str] = {}  # of these, see ``kind_of``
        for path in package.looked_through():
            if path not in package.replacements and (file := package.file(path)) is not None:
                for statement in file.tree.body:
                    self._scan(path, statement)
        for text in settings:
            self._configure(list(sections(text)))

    def _configure(self, found: list[Section]) -> None:
        self._trees.add(found)
        for section in found:
            self._settings.add(dict(section))
            for name, value in (item for item in section if item[1][0] != "{"):
                self._count(name, value, 4)

    def defaults(self, words: Iterable[str], name: str = "") -> dict[str, str]:
        """The usual defaults of names that the class ``name`` says; those of one configuration stay together."""
        known = sorted(set(words))
        usual = {w: likeliest(c) for w in known if (c := self.counts.get(w))}
        together = {w: v for w, v in self._settings.together(known).items() if w in usual or "." in w}
        found = usual | together | self._trees.told(set(known), name)
        return {w: self._parsed.of(w, text) for w, text in found.items()}

    def sites(self, key: Here) -> list[Site]:
        """Calls of a class, most readable arguments first; half of its own file: others may give what does not fit."""
        found: dict[str, Site] = {}
        beside = set[int]()
        for path, statement, node in self.calls_of(key.name):
            root = node.func
            if isinstance(root, ast.Name | ast.Attribute) and self.package.chain(path, root)[0] == key:
                site = self._site(path, statement, node)
                if site.known and (text := ast.unparse(node)) not in found:
                    found[text] = site
                    beside |= {id(site)} if path == key.file else set()
        every = sorted([*found.values(), *self._configured(key)], key=lambda s: -s.known)
        kept = [id(s) for s in every if id(s) in beside][: MAX_SITES // 2]
        kept += [id(s) for s in every if id(s) not in kept][: MAX_SITES - len(kept)]
        best = [s for s in every if id(s) in kept]
        typed = self._typed(key)
        for site in best if typed.known else ():
            site.complete(typed, self._parameters(key))
        return [*best, typed] if typed.known else best

    def _parameters(self, key: Here) -> list[str]:
        """Names of what a class's own constructor takes by position."""
        node = self.package.class_of(key)
        init = constructor(node) if node else None
        return [a.arg for a in init.args.args[1:]] if init else []

    def _configured(self, key: Here) -> Iterator[Site]:
        """Calls of a class that configurations say, of what it is made of where they say none of it."""
        node = self.package.class_of(key)
        init = constructor(node) if node else None
        given = init.args if init else None
        names = None if given is None or given.kwarg else [a.arg for a in [*given.args[1:], *given.kwonlyargs]]
        kinds = [key.name, *(ast.unparse(b).split(".")[-1] for b in (node.bases if node else []))]
        kinds += [heir.name for heir in self.below.heirs(key)]
        kinds += registered_as(node) if node else []
        told = (self._settings.of(kind, names) for kind in kinds)
        for inside in next(filter(None, told), []):
            yield Site([], {name: ast.parse(text, mode="eval").body for name, text in inside.items()})

    def calls(self) -> dict[str, list[Place]]:
        """Where what is written like a class is called, by its name: the first calls of each."""
        return {
            name: [(p, c.lineno, c.col_offset, tells(s, c)) for p, s, c in calls[:MAX_CALLS]]
            for name, calls in self._calls.items()
        }

    def calls_of(self, name: str) -> Iterator[tuple[str, ast.stmt, ast.Call]]:
        if self.everywhere is None:
            yield from self._calls.get(name, [])[:MAX_CALLS]
        for path, line, column, telling in (self.everywhere or {}).get(name, []):
            file = self.package.file(path) if telling else None
            for statement in file.tree.body if file else ():
                if line <= (statement.end_lineno or 0):
                    calls = (n for n in nodes(statement) if isinstance(n, ast.Call))
                    named = (n for n in [*calls, *of_bases(statement)] if called(n) == name)
                    yield from ((path, statement, n) for n in named if (n.lineno, n.col_offset) == (line, column))
                    break

    def _typed(self, key: Here) -> Site:
        """The arguments that need no call: by type hints, by what is asked of them, by what functions call by them."""
        spelling, site = Spelling(self.package, key.file, self._usual, self.below.instead), Site([], {})
        node = self.package.class_of(key)
        for path, init in self.below.constructors(key):
            for a in [*init.args.args[1:], *init.args.kwonlyargs]:
                if a.arg not in site.named and (made := spelling.asked(path, a.annotation, a.arg)) is not None:
                    site.named[a.arg] = made
        for name, (like, definition) in self._alike(key, node, set(site.named)) if node else ():
            if (made := spelling.instance(like, definition)) is not None:
                site.named[name] = made
        for name, kind in [*self._likeness.kinds(node, key), *self._callees.of(node)] if node else ():
            site.named.setdefault(name, spelling.name(kind))
        site.add(spelling)
        site.needs |= {other for key in site.needs for other in self.below.beside(key)}
        return site

    def _alike(self, key: Here, node: ast.ClassDef, known: set[str]) -> Iterator[tuple[str, tuple[Here, ast.ClassDef]]]:
        """Required parameters, and the classes of the package that have what they are asked for."""
        uses = asked(node)
        for name in (n for n, _ in required(node) if n in uses and n not in known):
            if found := self._likeness.of(uses[name], key) or self._likeness.named(name, uses[name], key):
                yield name, found

    def _usual(self, name: str) -> str | None:
        return self.defaults(name.split(".")).get(name)

    def users(self, key: Here) -> list[Here]:
        """Definitions that use a class, or use its users: functions that need no arguments first, near ones first."""
        ready, makers, classes = list[Here](), list[Here](), list[Here]()
        seen, edge = {key}, [key]
        for _ in range(MAX_STEPS):
            found = [h for used in edge for h in self._direct(used) if h not in seen]
            edge = []
            for user in sorted(dict.fromkeys(found), key=lambda h: h.file != key.file)[: MAX_SEEN - len(seen)]:
                seen.add(user)
                kind = self._kinds[user]
                {"ready": ready, "class": classes, "maker": makers}.get(kind, []).append(user)
                edge += [user] if kind != "ready" else []
        first = [*ready[: MAX_USERS - 1], *(makers[:MAX_MAKERS] if len(ready) < MAX_USERS - 1 else ())]
        return [*first, *classes[: MAX_USERS - min(len(first), MAX_USERS - 1)]]

    def makes(self, user: Here) -> bool:
        """Whether a user is a function that needs arguments and answers with what it makes."""
        return self._kinds.get(user) == "maker"

    def _direct(self, key: Here) -> Iterator[Here]:
        for user, node in self._mentions.get(key.name, {}).items():
            if user != key and self.package.chain(user.file, node)[0] == key:
                yield user

    def _mention(self, path: str, statement: ast.stmt) -> None:
        if not isinstance(statement, ast.FunctionDef | ast.ClassDef):
            return
        here = Here(path, statement.name)
        self._kinds[here] = kind_of(statement)
        for node in walk(statement):
            if isinstance(node, ast.Name):
                self._mentions[node.id].setdefault(here, node)
            elif isinstance(node, ast.Attribute) and node.attr[:1].isupper():
                self._mentions[node.attr].setdefault(here, node)

    def _scan(self, path: str, statement: ast.stmt) -> None:
        self._mention(path, statement)
        for call in of_bases(statement):
            self._calls[called(call)].append((path, statement, call))
        for node in walk(statement):
            if isinstance(node, ast.Call) and called(node) in ("add_argument", "set_defaults"):
                self._option(node)
                continue
            if isinstance(node, ast.Call) and called(node)[:1].isupper() and (node.args or node.keywords):
                self._calls[called(node)].append((path, statement, node))
            elif isinstance(node, ast.Call | ast.Dict) and builds(node):
                self._settings.add(mapping(node))
            self._hold(said(node))
            self._trees.note(node)
            self._parsed.note(node)
            self._callees.note(path, node)

    def _option(self, call: ast.Call) -> None:
        """Note what a parser is told of its options."""
        if called(call) == "add_argument":
            for option, value in arguments(call):
                self._count(option, value, OPTION)
        else:
            self._hold((k.arg, k.value, OPTION) for k in call.keywords if k.arg)

    def _hold(self, values: Iterable[Said]) -> None:
        for name, given, weight in values:
            given = folded(given.orelse if isinstance(given, ast.IfExp) else given)
            if isinstance(given, ast.Constant | ast.Tuple | ast.List | ast.UnaryOp):
                self._count(name, ast.unparse(given), weight)

    def _count(self, name: str, value: str, weight: int) -> None:
        try:
            known = ast.literal_eval(value)
        except (ValueError, SyntaxError, TypeError):
            return
        if names_cuda(known):
            known, value = "cpu", "'cpu'"
        flag = isinstance(known, bool)
        if known == 0 and not flag and _COUNT.search(name):  # what is counted when the program runs
            return
        if type(known) is int and known < LEAST_WORDS and _WORDS.search(name):
            return
        if flag and weight < FIELD:  # what other functions take for a flag of this name
            return
        if known not in (None, "", (), [], {}) and value == ascii(known):
            self.counts[name][value] += weight

    def _site(self, path: str, statement: ast.stmt, node: ast.Call) -> Site:
        site = Site([], {})
        free: set[int] = set()
        if any(isinstance(n, ast.Name) for a in [*node.args, *node.keywords] for n in ast.walk(a)):
            free = {id(n) for n in reads(statement).names}
        held = held_before(statement, node.lineno) if node.args or node.keywords else {}
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                break
            site.positional.append(self._taken(path, argument, free, site, held))
        for keyword in node.keywords:
            if keyword.arg and (taken := self._taken(path, keyword.value, free, site, held)) is not None:
                site.named[keyword.arg] = taken
        if site.made:
            self._agree(path, node, site)
        return site

    def _agree(self, path: str, node: ast.Call, site: Site) -> None:
        """Give variables that are arguments the values that were guessed for them inside of other arguments."""
        plain = ast.Name | ast.Attribute
        calls = [a for a in [*node.args, *(k.value for k in node.keywords)] if not isinstance(a, plain)]
        inside = {ast.unparse(n) for a in calls for n in ast.walk(a) if isinstance(n, plain)}
        spelling = Spelling(self.package, path, self._usual)
        for i, argument in enumerate(node.args[: len(site.positional)]):
            if site.positional[i] is None and ast.unparse(argument) in inside:
                site.positional[i] = spelling.guessed(argument)
        for k in node.keywords:
            guess = spelling.guessed(k.value) if ast.unparse(k.value) in inside else None
            if guess is not None and k.arg:
                site.named.setdefault(k.arg, guess)
        site.add(spelling)
        site.made += [a for a in [*site.positional, *site.named.values()] if a is not None]

    def _taken(
        self, path: str, node: ast.expr, free: set[int], site: Site, held: Mapping[str, ast.expr]
    ) -> ast.expr | None:
        """An argument as a task can hold it; what its variables hold, or guesses, stand for them."""
        node = chosen(node)
        if self._readable(path, node, free, site):
            return node
        if not any(isinstance(n, ast.Call | ast.ListComp) for n in ast.walk(node)):
            name = ast.unparse(node)
            left = {n: v for n, v in held.items() if n != name}
            return self._taken(path, held[name], free, site, left) if name in held else self._trees.value(node)
        spelling = Spelling(self.package, path, self._usual, assigned=held)
        made = spelling.passed(node, free)
        if made is not None:
            site.add(spelling)
            site.made.append(made)
        return made

    def _readable(self, path: str, node: ast.AST, free: set[int], site: Site) -> bool:
        """Whether a task can hold an expression; notes what its names mean."""
        if isinstance(node, ast.Name | ast.Attribute):
            root = root_of(node)
            if not isinstance(root, ast.Name) or id(root) not in free:
                return False
            target = self.package.whole(path, node)
            if target is None:
                return False
            site.targets[id(node)] = target
            site.kept.append(node)
            if isinstance(target, Here):
                site.needs.add(target)
                return True
            return _external(target) is not None
        if isinstance(node, ast.Call):
            inner: list[ast.AST] = [node.func, *node.args, *node.keywords]
        elif isinstance(node, _PLAIN):
            inner = list(ast.iter_child_nodes(node))
        else:
            return False
        return all(self._readable(path, child, free, site) for child in inner)

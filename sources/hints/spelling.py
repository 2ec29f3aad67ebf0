"""Expressions for constructor arguments that a package only hints at: what a call passes on, what an annotation asks.

They are syntax trees; ``targets`` notes what the names in them mean, for ``sources.hints.hints`` to spell them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from sources.hints.guesses import CONFIG, values
from sources.hints.mappings import gone_through
from sources.hints.uses import Uses, compared
from sources.text.folded import folded
from sources.text.scope import nodes, reads, root_of
from sources.text.symbols import Package
from sources.text.targets import External, Here, Target

MAX_DEPTH = 14
COPIES = 2  # of what a comprehension makes
MAX_STEPS = 8  # of a comprehension that is written out


@dataclass(slots=True)
class Spelling:
    """Makes expressions of a file, and keeps what their names mean."""

    package: Package
    path: str
    known: Callable[[str], str | None]  # name -> its usual default, as an expression
    instead: Callable[[Here], Here] = lambda base: base  # of what is asked for, the class that is given
    assigned: Mapping[str, ast.expr] = field(default_factory=dict)  # what variables hold where a call is
    targets: dict[int, Target] = field(default_factory=dict)
    needs: set[Here] = field(default_factory=set)
    kept: list[ast.AST] = field(default_factory=list)  # that targets tell of: an id holds as long as its node

    def passed(self, node: ast.expr, free: set[int], depth: int = 0) -> ast.expr | None:
        """An argument of a call with guesses for the variables in it, None where it needs more than these."""

        def inner(child: ast.expr) -> ast.expr | None:
            return self.passed(child, free, depth + 1)

        if depth > MAX_DEPTH:
            return None
        node = chosen(node)
        if isinstance(node, ast.Name | ast.Attribute):
            if (meant := self._meant(self.path, node, free)) is not None:
                return meant
            value = self.assigned.get(ast.unparse(node))
            made = inner(value) if value is not None and value is not node else None
            return self.guessed(node) if made is None else made
        if isinstance(node, ast.IfExp):
            return inner(node.body)
        if isinstance(node, ast.ListComp):
            return self._items(node, free, depth)
        if isinstance(node, ast.List | ast.Tuple):
            every = [inner(child) for child in node.elts]
            items = [e for e in every if e is not None]
            return type(node)(items, ast.Load()) if len(items) == len(every) else None
        if isinstance(node, ast.Call):
            made = self._call(node, free, inner)
            return self._returned(node, free, depth) if made is None else made
        if isinstance(node, ast.BinOp):
            left, right = inner(node.left), inner(node.right)
            return None if left is None or right is None else ast.BinOp(left, node.op, right)
        if isinstance(node, ast.Compare | ast.BoolOp):
            return self._tested(node, inner)
        return node if isinstance(node, ast.Constant) else None

    def _items(self, node: ast.ListComp, free: set[int], depth: int) -> ast.expr | None:
        """The list of a comprehension, ``[dim // 2**i for i in range(4)]``; of two items where its steps are open."""
        each, within = node.generators[0], [self] * COPIES
        if len(node.generators) == 1 and not each.ifs and isinstance(each.target, ast.Name):
            steps = [self.passed(i, free, depth + 1) for i in _steps(each.iter)]
            told = [folded(step) for step in steps if step is not None]
            named = ast.unparse(each.target)
            if told and len(told) == len(steps):
                within = [replace(self, assigned={**self.assigned, named: step}) for step in told]
        items = [folded(m) for w in within if (m := w.passed(node.elt, free, depth + 1)) is not None]
        return ast.List(items, ast.Load()) if len(items) == len(within) else None

    def _tested(self, node: ast.Compare | ast.BoolOp, inner: Callable[[ast.expr], ast.expr | None]) -> ast.expr | None:
        """What a test comes to, ``train = args.lr > 0``, is spelled as that test of what its variables hold."""
        given = [node.left, *node.comparators] if isinstance(node, ast.Compare) else node.values
        made = [m for child in given if (m := inner(child)) is not None]
        if len(made) < len(given):
            return None
        return ast.Compare(made[0], node.ops, made[1:]) if isinstance(node, ast.Compare) else ast.BoolOp(node.op, made)

    def asked(self, path: str, hint: ast.expr | None, name: str, depth: int = 0) -> ast.expr | None:
        """A value of a type hint that names a class of the package, None where it names none."""
        if isinstance(hint, ast.Constant) and isinstance(hint.value, str):
            try:
                hint = ast.parse(hint.value, mode="eval").body
            except SyntaxError:
                return None
        if isinstance(hint, ast.Subscript):
            return self._container(path, hint, name, depth)
        if isinstance(hint, ast.BinOp):
            return self.asked(path, hint.left, name, depth) or self.asked(path, hint.right, name, depth)
        if not isinstance(hint, ast.Name | ast.Attribute) or depth > COPIES:
            return None
        target = self.package.whole(path, hint)
        if not isinstance(target, Here):
            return None
        target = self.instead(target)
        made = self.package.class_of(target)
        return None if made is None else self.instance(target, made, depth)

    def _container(self, path: str, hint: ast.Subscript, name: str, depth: int) -> ast.expr | None:
        kind = ast.unparse(hint.value).split(".")[-1].lower()
        parts = hint.slice.elts if isinstance(hint.slice, ast.Tuple) else [hint.slice]
        made = next((m for p in parts if (m := self.asked(path, p, name, depth)) is not None), None)
        if made is None or kind in ("optional", "union", "annotated"):
            return made
        return ast.List([made] * COPIES, ast.Load()) if kind in ("list", "sequence", "iterable") else None

    def instance(self, target: Here, node: ast.ClassDef, depth: int = 0) -> ast.expr | None:
        """A call of a class with what it requires."""
        keywords, mappings = [], gone_through(node)
        for name, hint in required(node):
            value = self.asked(target.file, hint, name, depth + 1)
            if value is None:
                use = Uses(mapping=mappings.get(name, ""))
                text = next(iter(values(name, ast.unparse(hint) if hint else "", use)))
                text = self._word(target.file, name) or text if text == "'default'" else text
                if text.startswith("<"):
                    return None
                value = ast.parse(text, mode="eval").body
                self._note_ours(value)
            keywords.append(ast.keyword(name, value))
        return ast.Call(self.name(target), [], keywords)

    def _word(self, path: str, name: str) -> str:
        """A word that a file compares a variable with, or looks up with it; "" where it has none."""
        file = self.package.file(path)
        words = compared(file.tree).get(name, []) if file else []
        return repr(words[0]) if words else ""

    def _call(self, node: ast.Call, free: set[int], inner: Callable[[ast.expr], ast.expr | None]) -> ast.expr | None:
        function = self._meant(self.path, node.func, free)
        given = [inner(a) for a in node.args]
        named = {k.arg: inner(k.value) for k in node.keywords}
        if function is None or None in given or None in named.values() or None in named:
            return None
        keywords = [ast.keyword(k, v) for k, v in named.items() if v is not None]
        return ast.Call(function, [a for a in given if a is not None], keywords)

    def _returned(self, node: ast.Call, free: set[int], depth: int) -> ast.expr | None:
        """What a function of the package answers that is given settings, ``build_backbone(args)``, as it makes that."""
        if not isinstance(node.func, ast.Name | ast.Attribute) or id(root_of(node.func)) not in free:
            return None
        target = self.package.chain(self.path, node.func)[0]
        file = self.package.file(target.file) if isinstance(target, Here) else None
        function = file.bindings.get(target.name, [None])[-1] if file and isinstance(target, Here) else None
        if not isinstance(target, Here) or not isinstance(function, ast.FunctionDef):
            return None
        answers = [n.value for n in nodes(function) if isinstance(n, ast.Return) and n.value is not None]
        if not answers or isinstance(answers[-1], ast.Tuple):
            return None
        within = replace(self, path=target.file, assigned=held_before(function, function.end_lineno or 0))
        return within.passed(answers[-1], {id(n) for n in reads(function).names}, depth + 1)

    def _meant(self, path: str, node: ast.expr, free: set[int]) -> ast.expr | None:
        """A name of torch or of the package."""
        root = root_of(node)
        if not isinstance(root, ast.Name) or id(root) not in free or not isinstance(node, ast.Name | ast.Attribute):
            return None
        target = self.package.whole(path, node)
        return self.name(target) if isinstance(target, Here | External) else None

    def guessed(self, node: ast.expr) -> ast.expr | None:
        """A guess for a variable from its name, None for other expressions and where nothing plain is likely."""
        if not isinstance(node, ast.Name | ast.Attribute):
            return None
        name = node.attr if isinstance(node, ast.Attribute) else node.id
        setting = isinstance(node, ast.Attribute) and getattr(root_of(node), "id", "self") != "self"
        part = ".".join(ast.unparse(node).split(".")[-2:])  # ``cfg.SLOW.ALPHA`` is another than ``cfg.MIXUP.ALPHA``
        told = setting and self.known(part)
        if not told and (name[:1].isupper() or CONFIG.match(name)):
            return None
        text = next(iter(values(name, "", Uses())))
        # what is read of settings is what the program has for them, whatever its name says elsewhere
        if setting or text in ("64", "<config>"):
            text = told or self.known(name) or text
        made = ast.parse(text, mode="eval").body
        self._note_ours(made)
        return None if text.startswith("<") else made

    def name(self, target: Target) -> ast.Name:
        """The name of a definition, which the task is to have."""
        name = ast.Name(getattr(target, "name", "") or "x", ast.Load())
        self.targets[id(name)] = target
        self.kept.append(name)
        if isinstance(target, Here):
            self.needs.add(target)
        return name

    def _note_ours(self, made: ast.expr) -> None:
        """Guesses say ``nn.ReLU``: these names are there in every task."""
        short = {"nn": External("torch.nn"), "F": External("torch.nn.functional"), "torch": External("torch")}
        for node in ast.walk(made):
            if isinstance(node, ast.Name) and node.id in short:
                self.targets[id(node)] = short[node.id]
                self.kept.append(node)


def _steps(iterated: ast.expr) -> list[ast.expr]:
    """What a loop goes through, where it is written there: the items of a list, the numbers of a short range."""
    if isinstance(iterated, ast.List | ast.Tuple):
        return iterated.elts if len(iterated.elts) <= MAX_STEPS else []
    if not isinstance(iterated, ast.Call) or ast.unparse(iterated.func) != "range" or iterated.keywords:
        return []
    ends = [getattr(folded(a), "value", None) for a in iterated.args]
    numbers = [n for n in ends if type(n) is int]
    steps = range(*numbers) if len(numbers) == len(ends) and 1 <= len(ends) <= 2 else range(0)
    return [ast.Constant(n) for n in steps] if len(steps) <= MAX_STEPS else []


def constructor(node: ast.ClassDef) -> ast.FunctionDef | None:
    """A class's own ``__init__``."""
    return next((s for s in node.body if isinstance(s, ast.FunctionDef) and s.name == "__init__"), None)


def required(node: ast.ClassDef) -> list[tuple[str, ast.expr | None]]:
    """Parameters that the class must be given, with their hints: of ``__init__``, or fields of a record."""
    if (init := constructor(node)) is not None:
        places, named = needed(init.args)
        return [(a.arg, a.annotation) for a in [*places[1:], *named]]
    fields = (s for s in node.body if isinstance(s, ast.AnnAssign) and (s.value is None or _is_none(s.value)))
    return [(f.target.id, f.annotation) for f in fields if isinstance(f.target, ast.Name)]


def needed(given: ast.arguments) -> tuple[list[ast.arg], list[ast.arg]]:
    """Parameters that have no default: such as go by their place, and such as go by name only."""
    places, only = [*given.posonlyargs, *given.args], zip(given.kwonlyargs, given.kw_defaults, strict=True)
    return places[: len(places) - len(given.defaults)], [a for a, default in only if default is None]


def _is_none(node: ast.expr) -> bool:
    """A record of sizes whose fields are None until they are told is read as if they were."""
    return isinstance(node, ast.Constant) and node.value is None


def chosen(node: ast.expr) -> ast.expr:
    """The first entry of a table that is looked into where it is written, ``{18: BasicBlock, 50: ...}[depth]``."""
    table = node.value if isinstance(node, ast.Subscript) else None
    return table.values[0] if isinstance(table, ast.Dict) and table.values else node


def held_before(statement: ast.stmt, line: int) -> dict[str, ast.expr]:
    """What variables, and attributes of self, were last given before a line of a statement; of branches the first.

    And the words and classes that parameters of the function around that line are by default: ``norm=nn.LayerNorm``.
    """
    found = (n for n in nodes(statement) if isinstance(n, ast.Assign) and n.lineno < line and len(n.targets) == 1)
    others = {id(n) for s in nodes(statement) if isinstance(s, ast.If) for o in s.orelse for n in ast.walk(o)}
    held = dict(_told_by_default(statement, line))
    for n in sorted(found, key=lambda n: n.lineno):
        name = ast.unparse(n.targets[0]) if isinstance(n.targets[0], ast.Name | ast.Attribute) else ""
        if name and (name not in held or id(n) not in others):
            held[name] = n.value
    return held


def _told_by_default(statement: ast.stmt, line: int) -> Iterator[tuple[str, ast.expr]]:
    for function in nodes(statement):
        if isinstance(function, ast.FunctionDef) and function.lineno <= line <= (function.end_lineno or 0):
            given = [*function.args.posonlyargs, *function.args.args]
            last = zip(reversed(given), reversed(function.args.defaults), strict=False)
            only = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
            for parameter, default in (*last, *only):
                if default is not None and (_is_word(default) or _is_class(default)):
                    yield parameter.arg, default


def _is_word(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_class(node: ast.expr) -> bool:
    """Whether an expression is written like a class, or one that some of its arguments are given: ``partial(Norm)``."""
    made = isinstance(node, ast.Call) and ast.unparse(node.func) in ("partial", "functools.partial")
    name = node.args[0] if isinstance(node, ast.Call) and made and node.args else node
    return isinstance(name, ast.Name | ast.Attribute) and ast.unparse(name).split(".")[-1][:1].isupper()

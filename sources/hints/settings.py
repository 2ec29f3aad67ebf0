"""What configurations build: mappings that name a class with its arguments, and ones whose keys a class reads.

``{"type": "Neck", "width": 64}``, ``dict(type="Neck")``, ``_target_: net.Neck``, and ``neck: net.Neck`` beside its
``neck_args``, are what a builder makes a call of; of several sizes that one class reads those belong together that
stand in one mapping.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from sources.text.documents import Section

NAMING = ("type", "name", "_target_", "target", "class", "class_name", "class_path", "cls", "arch")
PARTS = ("params", "args", "kwargs", "init_args", "arguments", "options")  # mappings of the arguments alone
MAX_BUILT = 12  # calls of one class that are kept
MAX_SECTIONS = 4000
LEAST = 2  # keys of a mapping that a program must say for the mapping to be about it
Values = Mapping[str, str]  # name -> expression
_OF_PART = re.compile(r"_(cfg|config|conf|args|params|kwargs)$")
_ON_CPU = re.compile(r"'cuda(?::\d+)?'")


@dataclass(slots=True)
class Settings:
    """The mappings of a package's configurations."""

    sections: dict[Section, None] = field(default_factory=dict)
    built: dict[str, dict[Section, None]] = field(default_factory=lambda: defaultdict(dict))  # class -> arguments

    def add(self, values: Values) -> None:
        """Note a mapping."""
        plain = {k: _ON_CPU.sub("'cpu'", v) for k, v in values.items() if k.isidentifier()}
        if len(plain) >= LEAST and len(self.sections) < MAX_SECTIONS:
            self.sections.setdefault(tuple(plain.items()))
        named = {k.lower(): k for k in plain}
        words = {k for k, v in plain.items() if v[:1] in "'\""}
        key = next((named[n] for n in NAMING if named.get(n) in words), "")
        if key:
            arguments = {k: v for k, v in plain.items() if k != key}
            for part in (p for p in PARTS if arguments.get(p, "").startswith("{")):
                arguments |= dict(_inner(arguments.pop(part)))
            self._build(plain[key], arguments)
        for part, text in plain.items():  # ``model: net.Model`` beside ``model_args: {...}``
            name, _, rest = part.rpartition("_")
            if name in words - {key} and rest in PARTS and text.startswith("{"):
                self._build(plain[name], dict(_inner(text)))

    def _build(self, name: str, arguments: dict[str, str]) -> None:
        """Note a call of a class, by the last of its dotted ``name``."""
        known = self.built[ast.literal_eval(name).split(".")[-1]]
        if arguments and len(known) < MAX_BUILT:
            known.setdefault(tuple(arguments.items()))

    def of(self, name: str, parameters: Iterable[str] | None) -> list[dict[str, str]]:
        """Arguments that configurations give a class, by name: of its ``parameters`` only, where these are known.

        A part that is told in a mapping of its own goes by its name alone there: ``backbone`` is ``backbone_cfg``, or
        the first of the parameters that may be meant, but none that the configuration names itself.
        """
        every = [dict(s) for s in self.built.get(name, ())]
        if parameters is None:
            return [f for f in every if f]
        allowed = dict.fromkeys(parameters)  # in order: which of them is meant is to be the same each time
        parts: dict[str, str] = {}
        for p in filter(_OF_PART.search, allowed):
            parts.setdefault(_OF_PART.sub("", p), p)
        found = [{k: v for k, v in s.items() if k in allowed} for s in every]
        for said, given in zip(every, found, strict=True):
            for part, text in said.items():
                if part in parts and part not in allowed and text[:1] == "{":
                    given.setdefault(parts[part], text)
        return [f for f in found if f]

    def together(self, words: Iterable[str]) -> dict[str, str]:
        """Values of names that a program says, so that those of one mapping stay together.

        Of mappings in it ``STAGE2.WIDTH`` is what the inner one says.
        """
        left, found = set(words), dict[str, str]()
        about = [(s, keys) for s in self.sections if len(keys := left.intersection(k for k, _ in s)) >= LEAST]
        while about:
            best, keys = max(about, key=lambda item: len(item[1]))
            found |= {k: v for k, v in best if k in keys}
            found |= {f"{k}.{n}": v for k, text in best if k in keys and text[:1] == "{" for n, v in _inner(text)}
            left -= keys
            about = [(s, rest) for s, known in about if len(rest := known & left) >= LEAST]
        return found


def _inner(text: str) -> list[tuple[str, str]]:
    """Names and values of a mapping that is an expression."""
    return [(k, repr(v)) for k, v in ast.literal_eval(text).items() if isinstance(k, str) and k.isidentifier()]


def builds(node: ast.AST) -> bool:
    """Whether a dictionary that Python's text shows names a class by a word."""
    said = ((k, v) for k, v in _items(node) if k in NAMING)
    return any(isinstance(v, ast.Constant) and isinstance(v.value, str) for _, v in said)


def mapping(node: ast.AST) -> dict[str, str]:
    """The plain values of a dictionary that Python's text shows, ``{...}`` or ``dict(...)``; none of another node."""
    return {k: text for k, v in _items(node) if (text := _text(v))}


def _items(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value, value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict" and not node.args:
        yield from ((k.arg, k.value) for k in node.keywords if k.arg)


def _text(node: ast.expr) -> str:
    """A value as an expression of literals, "" where it is none."""

    class Displayed(ast.NodeTransformer):
        def visit_Call(self, call: ast.Call) -> ast.expr:
            items = list(_items(call)) if not call.args and ast.unparse(call.func) == "dict" else []
            shown = ast.Dict([ast.Constant(k) for k, _ in items], [self.visit(v) for _, v in items])
            return shown if items or not call.keywords and ast.unparse(call) == "dict()" else call

    try:
        return repr(ast.literal_eval(Displayed().visit(ast.parse(ast.unparse(node), mode="eval").body)))
    except (ValueError, TypeError, SyntaxError, RecursionError):
        return ""

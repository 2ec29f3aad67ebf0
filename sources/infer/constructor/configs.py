"""Configuration objects: one that invents what a constructor asks it for, and the text of one that holds just that.

What it invents is noted among the constructor's arguments: ``cfg.width`` and, where the program reads deeper,
``cfg.model.width``.
"""

from __future__ import annotations

import ast
import functools
import inspect
import keyword
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import torch

from sources.hints.guesses import Uses, values
from sources.hints.mappings import gone_through
from sources.infer.constructor import parts
from sources.infer.forward.variants import Arguments
from sources.text.scope import variable_of

CONFIG = "<config>"
RECORD = "SimpleNamespace"
NO_WORD = "'default'"  # what is guessed for a word of which only the name is known
METHOD = "lambda *_, **__: "  # what a method of a configuration is, before its answer
NAME = "Configuration"
CLASS = f"""class {NAME}(dict):
    def __getattr__(self, name):
        if name in self:
            return self[name]
        raise AttributeError(name)
"""
_made: dict[str, Any] = {"__name__": __name__}
exec(CLASS, _made)  # noqa: S102 - our own text: it is laid into tasks, too
Configuration: type[dict[str, Any]] = _made[NAME]
LENGTH, USUAL_LENGTH = "length", "1024"  # the setting that says how many there are of what is counted, too
COUNTED = "Vocabulary"
COUNTED_CLASS = f'''class {COUNTED}:
    """Stands for what holds settings and is counted, as the words of a tokenizer are."""

    def __init__(self, {LENGTH}, **settings):
        self.__dict__.update(settings, {LENGTH}={LENGTH})

    def __len__(self):
        return self.{LENGTH}
'''
# Attributes of values: what has these is no part of a configuration that has parts.
_OF_TENSORS = frozenset(dir(torch.Tensor))
_OF_VALUES = {*dir(str), *dir(dict), *dir(list), "shape", "size", "to", "dim", "device", "dtype"}
_OF_NO_PART = {"", *_OF_TENSORS, *_OF_VALUES}
_NO_WORDS = ("", "none", "no", "cuda", "cpu", "__main__")  # by which nothing is chosen
_COPIED = re.compile(r"\bvars\(|\.__dict__|\bSimpleNamespace\(\*\*")
MAX_ALIAS = 2  # dots in what a part of a configuration is called


class Unpacking(NamedTuple):
    """``callee(x, y=z, **name)``."""

    name: str
    callee: str
    positional: int  # arguments beside it
    named: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """How a program reads its configurations."""

    parts: frozenset[str] = frozenset()  # names that are configurations themselves
    unpacked: tuple[Unpacking, ...] = ()
    called: frozenset[str] = frozenset()  # names of methods
    methods: frozenset[tuple[str, str]] = frozenset()  # of what is called so: ``data.words.size()``
    optional: frozenset[str] = frozenset()  # names of what may be None
    mappings: Mapping[str, str] = field(default_factory=dict)  # expressions of those whose keys are gone through
    words: Mapping[str, list[str]] = field(default_factory=dict)  # expressions of what is compared with a word, by name
    flags: frozenset[str] = frozenset()  # names of what decides something, and is read for nothing else
    stated: Mapping[str, str] = field(default_factory=dict)  # what stands for a name that is not there, as expressions


@functools.lru_cache(maxsize=64)
def reading(file: str) -> Reading:
    """How the program in a file reads its configurations."""
    if not file or not Path(file).is_file():
        return Reading()
    parts, unpacked, called, methods = set[str](), list[Unpacking](), set[str](), set[tuple[str, str]]()
    optional, words = set[str](), dict[str, list[str]]()
    tree = ast.parse(Path(file).read_text())
    aliases, imported, tables = _aliases(tree), _imported(tree), _tables(tree)
    for node in ast.walk(tree):
        if aliases and isinstance(node, ast.Attribute | ast.Subscript) and _read(node) not in _OF_NO_PART:
            parts.update(aliases.get(ast.unparse(node.value), ()) if _depth(node.value) < MAX_ALIAS else ())
        if (name := _read(node)) and name not in _OF_VALUES and (inner := _read(getattr(node, "value", node))):
            root = variable_of(node)
            if root != "self" or _depth(node) > 2:
                parts.add(inner)
        if isinstance(node, ast.Compare) and ast.unparse(node.comparators[0]) == "None":
            optional.add(_read(node.left))
        for name, word in (*_compared(node), *_looked_up(node, tables)):
            words.setdefault(name, []).append(word)
        if isinstance(node, ast.Call):
            owner = node.func.value if isinstance(node.func, ast.Attribute) else None
            if isinstance(node.func, ast.Attribute) and isinstance(owner, ast.Name) and owner.id not in imported:
                called.add(node.func.attr)
            if isinstance(node.func, ast.Attribute) and isinstance(owner, ast.Name | ast.Attribute):
                methods.add((ast.unparse(owner).split(".")[-1], node.func.attr))
            for keyword in node.keywords:
                if keyword.arg is None and (name := _read(keyword.value) or getattr(keyword.value, "id", "")):
                    named = tuple(k.arg for k in node.keywords if k.arg)
                    unpacked.append(Unpacking(name, ast.unparse(node.func), len(node.args), named))
    called -= _plainly_read(tree)  # x.expand(...) of a tensor is no call of config.expand
    return Reading(frozenset(parts), tuple(unpacked), frozenset(called), frozenset(methods), frozenset(optional),
                   gone_through(tree), words, _flags(tree), dict(_stated(tree)))  # fmt: skip


def _plainly_read(tree: ast.AST) -> set[str]:
    """What is read of variables, but not of ``self``, somewhere without a call: attributes, and what goes by words."""
    functions = {id(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call)}
    reads = (n for n in ast.walk(tree) if isinstance(n, ast.Attribute | ast.Subscript) and id(n) not in functions)
    return {_read(n) for n in reads if isinstance(n.value, ast.Name) and n.value.id != "self"}


def _flags(tree: ast.AST) -> frozenset[str]:
    """Names that are read as a test only, or to be kept by that name: ``if config.tied:``."""
    tests, reads = set[int](), list[ast.AST]()
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.IfExp | ast.While | ast.Assert):
            tests.update(map(id, _joined(node.test)))
        elif isinstance(node, ast.Assign) and _read(node.value) == _read(node.targets[0]):
            tests.add(id(node.value))
        elif _read(node) and isinstance(getattr(node, "ctx", None), ast.Load):
            reads.append(node)
    return frozenset(map(_read, reads)).difference(_read(n) for n in reads if id(n) not in tests)


def _stated(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Names that are read with a plain value in case they are not there, and this: ``getattr(args, "tied", False)``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "getattr" and len(node.args) == 3:
            name, value = (getattr(a, "value", None) for a in node.args[1:])
            if isinstance(name, str) and isinstance(value, bool | int | float | str):
                yield name, repr(value)


def _joined(test: ast.expr) -> list[ast.expr]:
    """What a test joins by ``and``, ``or`` and ``not``."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _joined(test.operand)
    return [e for v in test.values for e in _joined(v)] if isinstance(test, ast.BoolOp) else [test]


def _compared(node: ast.AST) -> Iterator[tuple[str, str]]:
    """What a comparison reads, by its name, and each word that it is compared with, as an expression."""
    if (
        not isinstance(node, ast.Compare)
        or not isinstance(node.ops[0], ast.Eq | ast.In)
        or not (name := _read(node.left))
    ):
        return
    right = node.comparators[0]
    for word in right.elts if isinstance(right, ast.List | ast.Tuple | ast.Set) else [right]:
        if isinstance(word, ast.Constant) and isinstance(word.value, str) and word.value.lower() not in _NO_WORDS:
            yield name, repr(word.value)


def _looked_up(node: ast.AST, tables: Mapping[str, list[str]]) -> Iterator[tuple[str, str]]:
    """What is looked up in a table, by its name, and each word of the table: ``ACT2FN[config.hidden_act]``."""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and (name := _read(node.slice)):
        yield from ((name, word) for word in tables.get(node.value.id, ()))


def _tables(tree: ast.Module) -> dict[str, list[str]]:
    """The words of each dictionary that the program writes out at its top level, as expressions."""
    found = {ast.unparse(n.targets[0]): n.value for n in tree.body if isinstance(n, ast.Assign)}
    keys = {name: table.keys for name, table in found.items() if isinstance(table, ast.Dict)}
    return {
        name: [repr(k.value) for k in every if isinstance(k, ast.Constant) and isinstance(k.value, str)]
        for name, every in keys.items()
    }


def _aliases(tree: ast.AST) -> dict[str, set[str]]:
    """Variables, and attributes of self, that are given parts of configurations: what these parts are called."""
    found: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        part = _read(node.value) if isinstance(node, ast.Assign) and len(node.targets) == 1 else ""
        if isinstance(node, ast.Assign) and part and (variable_of(node.value) != "self" or _depth(node.value) > 1):
            found.setdefault(ast.unparse(node.targets[0]), set()).add(part)
    return {name: parts - _OF_TENSORS for name, parts in found.items()}


def _imported(tree: ast.AST) -> set[str]:
    """``self``, and names of modules: what is called on these is no method of a configuration."""
    imports = (n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom))
    return {"self"}.union(*({a.asname or a.name.split(".")[0] for a in n.names} for n in imports))


def _read(node: ast.AST) -> str:
    """The name that ``x.name`` or ``x["name"]`` reads, or ""."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return node.slice.value if isinstance(node.slice.value, str) else ""
    return ""


def _depth(node: ast.AST) -> int:
    depth = 0
    while isinstance(node, ast.Attribute | ast.Subscript):
        depth, node = depth + 1, node.value
    return depth


class Config:
    """A configuration that invents what it is asked for and notes it in the arguments."""

    __slots__ = ("__dict__", "_arguments", "_defaults", "_given", "_name", "_namespace")  # no ``vars`` tells these

    def __init__(
        self, name: str, arguments: Arguments, namespace: Mapping[str, Any], defaults: Mapping[str, str]
    ) -> None:
        own = {"_name": name, "_arguments": arguments, "_namespace": namespace, "_defaults": defaults, "_given": {}}
        for field_name, value in own.items():
            object.__setattr__(self, field_name, value)
        for key in [n for n in self._known() if arguments[f"{name}.{n}"] != CONFIG]:  # so that ``vars`` tells them
            self.__dict__[key] = self.__getattr__(key)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in self._given:
            return self._given[name]
        key, how = f"{self._name}.{name}", reading(self._namespace.get("__file__", ""))
        if key not in self._arguments and (name in how.parts or any(name == u.name for u in how.unpacked)):
            self._arguments[key] = CONFIG
        if key not in self._arguments:
            use = Uses(mapping=how.mappings.get(name, ""))
            guess = "False" if name in how.flags else next(v for v in values(name, "", use) if v != CONFIG)
            guess = how.stated.get(name, guess)
            usual = self._defaults.get(name, "None" if name in how.optional else guess)
            known = self._defaults.get(f"{self._name.split('.')[-1]}.{name}", usual)
            if name in how.words and (known[:1] not in "'\"N" or known == NO_WORD):
                known = how.words[name][0]
            asked = name in how.called or (self._name.split(".")[-1], name) in how.methods
            answers = asked and not known.startswith(("nn.", "F."))
            # what else goes by the name of a method is no answer of it
            self._arguments[key] = f"{METHOD}{guess}" if answers else known
        if self._arguments[key] == CONFIG:
            self._given[name] = Config(key, self._arguments, self._namespace, self._defaults)
            return self._given[name]
        return eval(self._arguments[key], dict(self._namespace))  # noqa: S307 - our own expressions, in the sandbox

    def __getitem__(self, name: str) -> Any:
        return self.__getattr__(name)

    def __call__(self, *given: Any, **named: Any) -> Any:
        """What is called is a part that holds settings: it answers with a layer."""
        if parts.CALLED not in self._given:
            text = self._arguments.setdefault(f"{self._name}.{parts.CALLED}", parts.ANSWERS[0])
            self._given[parts.CALLED] = eval(text, dict(self._namespace))  # noqa: S307 - our own expressions
        return parts.StubModule(self._given[parts.CALLED])(*given, **named)

    def __len__(self) -> int:
        return int(self._arguments.setdefault(f"{self._name}.{LENGTH}", USUAL_LENGTH))

    def __bool__(self) -> bool:
        return True

    def get(self, name: str, default: Any = None) -> Any:
        return self.__getattr__(name) if default is None else default

    def __contains__(self, name: str) -> bool:
        return name in self._given or f"{self._name}.{name}" in self._arguments

    def __setattr__(self, name: str, value: Any) -> None:
        self._given[name] = self.__dict__[name] = value

    __setitem__ = __setattr__

    def keys(self) -> list[str]:
        """What is known of it, and what those functions need that it is unpacked for."""
        return list(dict.fromkeys([*self._known(), *self._needed()]))

    def _known(self) -> list[str]:
        known = [n.removeprefix(f"{self._name}.") for n in self._arguments if n.startswith(f"{self._name}.")]
        return [n for n in known if "." not in n]

    def _needed(self) -> Iterator[str]:
        last = self._name.split(".")[-1]
        for name, callee, positional, named in reading(self._namespace.get("__file__", "")).unpacked:
            every = _parameters(self._namespace.get(callee))[positional:] if name == last else []
            kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
            yield from (p.name for p in every if p.default is p.empty and p.kind in kinds and p.name not in named)

    def copy(self) -> Config:
        return self

    clone = copy

    def __deepcopy__(self, _: Any) -> Config:
        return self


def _parameters(function: Any) -> list[inspect.Parameter]:
    """What a function takes; nothing where that is not told, as of ``SimpleNamespace``."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []


def text(name: str, fields: Mapping[str, str], source: str) -> str:
    """An expression for the configuration of a name: ``fields`` are those of all arguments, by dotted name."""
    own = {k.removeprefix(f"{name}."): v for k, v in fields.items() if k.startswith(f"{name}.")}
    inner = {k: v if v != CONFIG else text(f"{name}.{k}", fields, source) for k, v in own.items() if "." not in k}
    maker = NAME if _as_mapping(name, inner, source) else "SimpleNamespace"
    counted = LENGTH in inner and re.search(rf"\blen\([\w.]*\b{re.escape(name.split('.')[-1])}\)", source)
    maker = COUNTED if counted and maker != NAME else maker
    maker = parts.NAME if inner.get(parts.CALLED, "").startswith("nn.") else maker
    odd = {k: v for k, v in inner.items() if not k.isidentifier() or keyword.iskeyword(k)}  # ``cfg["len-inp"]``
    settings = [f"{k}={v}" for k, v in inner.items() if k not in odd]
    more = [f"**{{{', '.join(f'{k!r}: {v}' for k, v in odd.items())}}}"] if odd else []
    return f"{maker}({', '.join([*settings, *more])})"


def _as_mapping(name: str, fields: Mapping[str, str], source: str) -> bool:
    keys = "|".join(map(re.escape, fields)) or "(?!)"
    last = re.escape(name.split(".")[-1])
    pattern = (
        rf"""(\[\s*|\.get\(\s*)["']({keys})["']|\*\*[\w.]*\b{last}\b|\bin [\w.]*\b{last}\b(?!\.)"""
        rf"""|\b{last}\.(copy|keys|items|values|update)\("""
        rf"""|\b{last}\.get\(\s*["']"""
    )
    return re.search(pattern, source) is not None


def untold(name: str, message: str, source: str) -> list[str]:
    """Settings of the configuration of a name that an error asks for, where reading it does not show any.

    They are read of a copy of it, or are what something lacks that it is unpacked for, further on perhaps.
    """
    last = name.split(".")[-1]
    lacking = re.search(r"missing \d+ required (?:positional|keyword-only) arguments?: (.*)", message)
    if lacking and re.search(rf"\*\*(?:vars\()?(?:\w+\.)*{re.escape(last)}\b(?!\.(?!__dict__))", source):
        return re.findall(r"'(\w+)'", lacking[1])
    match = re.search(r"has no attribute '([a-zA-Z]\w*)'", message)
    return list(dict.fromkeys([match[1], *_attributes(source, last)])) if match and _COPIED.search(source) else []


@functools.lru_cache(maxsize=256)
def _attributes(text: str, last: str) -> list[str]:
    """What a text reads of variables that are called like something."""
    return re.findall(rf"\b\w*{re.escape(last)}\w*\.([a-zA-Z]\w*)\b(?!\()", text)


def with_attributes(expression: str, message: str) -> list[str]:
    """An expression with configurations for the mappings in it, where a ``message`` says that one lacks a field."""
    if not message.startswith("AttributeError: 'dict' object has no attribute") or "{" not in expression:
        return []
    tree = ast.parse(expression, mode="eval")
    return [] if expression.startswith("lambda") else [ast.unparse(_Attributes().visit(tree))]


class _Attributes(ast.NodeTransformer):
    """Makes configurations of mappings."""

    def visit_Dict(self, node: ast.Dict) -> ast.Call:
        return ast.Call(ast.Name(NAME), [self.generic_visit(node)], [])  # type: ignore[list-item]

    def visit_Call(self, node: ast.Call) -> ast.AST:
        return node if ast.unparse(node.func) == NAME else self.generic_visit(node)


def noting(read: set[str]) -> type[SimpleNamespace]:
    """Records of settings that note which of them are read."""

    class Noting(SimpleNamespace):
        def __getattribute__(self, name: str) -> Any:
            read.add(name)
            return super().__getattribute__(name)

    return Noting


def without_unread(expression: str, read: Collection[str]) -> str:
    """An expression without the settings in it that nothing reads."""
    if f"{RECORD}(" not in expression:
        return expression
    tree = ast.parse(expression, mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == RECORD:
            node.keywords = [k for k in node.keywords if k.arg in read]
    return ast.unparse(tree)

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
from types import SimpleNamespace
from typing import Any

from sources.hints.guesses import values
from sources.hints.uses import Uses
from sources.infer.constructor import parts
from sources.infer.constructor.reading import reading
from sources.infer.forward.variants import Arguments

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
# What a program says of a record of settings that it takes for a mapping.
OF_RECORDS = re.compile(
    r"SimpleNamespace' object (has no attribute '(get|keys|items|values|copy|update)'|is not (subscriptable|iterable))"
    r"|must be a mapping, not types\.SimpleNamespace"
)
COUNTED = "Vocabulary"
COUNTED_CLASS = f'''class {COUNTED}:
    """Stands for what holds settings and is counted, as the words of a tokenizer are."""

    def __init__(self, {LENGTH}, **settings):
        self.__dict__.update(settings, {LENGTH}={LENGTH})

    def __len__(self):
        return self.{LENGTH}
'''
_COPIED = re.compile(r"\bvars\(|\.__dict__|\bSimpleNamespace\(\*\*")


def is_spelled(option: str, namespace: Mapping[str, Any]) -> bool:
    """Whether the names that a wished value is spelled with are known."""
    tree = ast.parse("" if option == CONFIG else option)
    return all(n.id in namespace for n in ast.walk(tree) if isinstance(n, ast.Name))


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
            self.__dict__[key] = self[key]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: str) -> Any:
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
            known = "None" if name in how.lacking else known  # most go without
            known = how.run.get(name, known)
            if name in how.words and (known[:1] not in "'\"N" or known == NO_WORD):
                known = how.words[name][0]
            asked = name in how.called or (self._name.split(".")[-1], name) in how.methods
            answers = asked and not known.startswith(("nn.", "F."))
            # what else goes by the name of a method is no answer of it
            self._arguments[key] = how.layers.get(name, f"{METHOD}{guess}") if answers else known
        if self._arguments[key] == CONFIG:
            self._given[name] = Config(key, self._arguments, self._namespace, self._defaults)
            return self._given[name]
        return eval(self._arguments[key], dict(self._namespace))  # noqa: S307 - our own expressions, in the sandbox

    def answered(self, name: str, otherwise: Any) -> Any:
        """What it answered when it was asked for a name, ``otherwise`` where it was not, or with no plain value."""
        if name in self._given:
            return self._given[name]
        try:
            return ast.literal_eval(self._arguments.get(f"{self._name}.{name}", ""))
        except (ValueError, SyntaxError):
            return otherwise

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
        return self[name] if default is None else default

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


def text(name: str, fields: Mapping[str, str], source: str, mapping: bool = False) -> str:
    """An expression for the configuration of a name: ``fields`` are those of all arguments, by dotted name.

    It is a record, unless the program's ``source`` shows that it is to be a ``mapping``, or this is known.
    """
    own = {k.removeprefix(f"{name}."): v for k, v in fields.items() if k.startswith(f"{name}.")}
    part = functools.partial(text, fields=fields, source=source, mapping=mapping)
    inner = {k: v if v != CONFIG else part(f"{name}.{k}") for k, v in own.items() if "." not in k}
    maker = NAME if mapping or _as_mapping(name, inner, source) else "SimpleNamespace"
    counted = LENGTH in inner and re.search(rf"\blen\([\w.]*\b{re.escape(name.split('.')[-1])}\)", source)
    maker = COUNTED if counted and maker != NAME else maker
    maker = parts.NAME if inner.get(parts.CALLED, "").startswith("nn.") else maker
    odd = {k: v for k, v in inner.items() if not k.isidentifier() or keyword.iskeyword(k)}  # ``cfg["len-inp"]``
    settings = [f"{k}={v}" for k, v in inner.items() if k not in odd]
    more = [f"**{{{', '.join(f'{k!r}: {v}' for k, v in odd.items())}}}"] if odd else []
    return f"{maker}({', '.join([*settings, *more])})"


def _as_mapping(name: str, fields: Mapping[str, str], source: str) -> bool:
    keys = "|".join(map(re.escape, fields)) or "(?!)"
    called = re.escape(name.split(".")[-1])
    kept_as = re.findall(rf"(?m)^\s*(?:\w+\.)*(\w+)(?:: [\w.]+)? = (?:\w+\.)+{called}\s*$", source)  # ``net = cfg.NET``
    last = f"(?:{'|'.join([called, *map(re.escape, kept_as)])})"
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


def with_value(arguments: Arguments, name: str, option: str) -> Arguments:
    """The arguments with another value for one; what was read of a configuration is no longer, where that was one."""
    if arguments.get(name) == CONFIG and option != CONFIG:
        arguments = {n: v for n, v in arguments.items() if not n.startswith(f"{name}.")}
    return {**arguments, name: option}

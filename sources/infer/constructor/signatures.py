"""What a module class's constructor takes: by its signature, by the package's calls of it, by what it hands on."""

from __future__ import annotations

import ast
import functools
import inspect
import re
import textwrap
import traceback
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from torch import nn

from sources.infer.forward.variants import Arguments, defaults_of
from sources.text.scope import is_literal

_ANY = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}


def parameters_of(kind: type[nn.Module]) -> list[inspect.Parameter]:
    """Parameters that can be given by name, those that ``**kwargs`` passes on to a base class included."""
    found: dict[str, inspect.Parameter] = {}
    handed_whole = True  # all that it is given goes to the base
    said: tuple[int, set[str]] = (0, set())  # what a base is given besides
    for base in kind.__mro__:
        if "__init__" not in vars(base) and base is not kind:
            continue
        try:
            every = list(inspect.signature(base if base is kind else vars(base)["__init__"]).parameters.values())
        except (TypeError, ValueError):
            break
        plain = [p for p in every if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and p.name != "self"]
        for p in (p for p in plain[said[0] :] if p.name not in said[1]):
            found.setdefault(p.name, p if base is kind or handed_whole else p.replace(kind=p.KEYWORD_ONLY))
        for p in _read(vars(base).get("__init__")) if any(p.kind is p.VAR_KEYWORD for p in every) else ():
            found.setdefault(p.name, p)
        handed_whole = handed_whole and {p.kind for p in every if p.name != "self"} == _ANY
        if not any(p.kind is p.VAR_KEYWORD for p in every) or base is nn.Module:
            break
        handed = (0, set[str]()) if handed_whole else _handed(vars(base).get("__init__"))
        if handed is None:
            break
        said = handed
    return list(found.values())


@functools.lru_cache(maxsize=256)
def _read(constructor: Any) -> tuple[inspect.Parameter, ...]:
    """What a constructor reads out of its ``**kwargs``, and has a plain value for: ``kwargs.get("width", 64)``."""
    function = _parsed(constructor)
    rest = function.args.kwarg if isinstance(function, ast.FunctionDef) else None
    asks = {f"{rest.arg}.get", f"{rest.arg}.pop"} if rest else set[str]()
    found = []
    for call in ast.walk(function) if function and asks else ():
        if not isinstance(call, ast.Call) or ast.unparse(call.func) not in asks:
            continue
        name = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else None
        if isinstance(name, str) and name.isidentifier() and len(call.args) == 2 and is_literal(call.args[1]):
            default = ast.literal_eval(call.args[1])
            found.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default))
    return tuple(found)


def _parsed(constructor: Any) -> ast.stmt | None:
    """A constructor's text, None where it has none of its own."""
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(constructor))).body[0]
    except (OSError, TypeError, SyntaxError):
        return None


@functools.lru_cache(maxsize=256)
def _handed(constructor: Any) -> tuple[int, set[str]] | None:
    """How many arguments, and which names, a constructor gives its base beside ``**kwargs``; None: not ``**kwargs``.

    ``super().__init__(width, **kwargs)``: others may go to what it constructs, ``self.body = Body(**kwargs)``.
    """
    if (function := _parsed(constructor)) is None:  # it has no text of its own, which would tell
        return 0, set()
    rest = function.args.kwarg if isinstance(function, ast.FunctionDef) else None
    for call in ast.walk(function):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "__init__":
            continue
        spread = [ast.unparse(k.value) for k in call.keywords if k.arg is None]
        if rest and any(re.search(rf"\b{rest.arg}\b", text) for text in spread):
            given = [a for a in call.args if not isinstance(a, ast.Starred)]
            unbound = not isinstance(call.func.value, ast.Call)  # ``Base.__init__(self, ...)``, and not ``super()``
            return len(given) - unbound, {k.arg for k in call.keywords if k.arg}
    return None


def bound_of(kind: type[nn.Module], given: tuple[Any, ...], named: Mapping[str, Any]) -> inspect.BoundArguments:
    """What a class was constructed with, by the parameters of the first constructor that is not ``*args, **kwargs``."""
    signature = inspect.signature(kind)
    for base in kind.__mro__:
        if {p.kind for p in signature.parameters.values()} != _ANY or base is nn.Module:
            break
        if "__init__" in vars(base):
            _, *rest = inspect.signature(vars(base)["__init__"]).parameters.values()
            signature = inspect.Signature(rest)
    return signature.bind(*given, **named)


def as_called(sites: Iterable[Mapping[str, Any]], parameters: Sequence[inspect.Parameter]) -> list[Arguments]:
    """Arguments of the package's own calls, which give them by position and by name."""
    names = [p.name for p in parameters if p.kind != p.KEYWORD_ONLY]
    found = []
    for site in sites:
        given = {n: v for n, v in zip(names, site["positional"], strict=False) if v is not None} | site["named"]
        # ``config.width`` is of ``config``
        found.append({n: given[n] for p in parameters for n in given if n.split(".")[0] == p.name})
    return found


def passed_on(kind: type[nn.Module], text: str, message: str, arguments: Arguments) -> list[str]:
    """What a class that is constructed inside, or ``kwargs["name"]``, lacks, where ``**kwargs`` may hand it on.

    ``text`` is the program's, ``message`` the error's.
    """
    match = re.search(r"missing \d+ required (?:keyword-only |positional )arguments?: (.*)", message)
    rest = [p.name for p in inspect.signature(kind).parameters.values() if p.kind is p.VAR_KEYWORD]
    open_ended, key = bool(rest), re.fullmatch(r"KeyError: '([^\W\d]\w*)'", message)
    if rest and key and re.search(rf"\b{rest[0]}(\[|\.pop\()['\"]{key[1]}['\"]", text):
        return [key[1]] if key[1] not in arguments else []
    if rest:  # ``if "name" not in kwargs: raise ValueError("name must be given")``
        asked = re.findall(rf"['\"]([^\W\d]\w*)['\"] not in {rest[0]}\b", text)
        if lacking := [n for n in dict.fromkeys(asked) if n not in arguments and re.search(rf"\b{n}\b", message)]:
            return lacking
    if rest and "NoneType" in message:  # ``kwargs.get("name")`` is what is needed, where nothing stands in for it
        asked = re.findall(rf"\b{rest[0]}\.(?:get|pop)\(['\"]([^\W\d]\w*)['\"](?:, ?None)?\)", text)
        return [n for n in dict.fromkeys(asked) if n not in arguments]
    return [n for n in re.findall(r"'(\w+)'", match[1]) if n not in arguments] if match and open_ended else []


def handed_on(made: Exception | nn.Module, kind: type[nn.Module]) -> Arguments:
    """Sizes that a class which is constructed inside has by default, where ``**kwargs`` may say others.

    ``made`` is what constructing ``kind`` came to: a module, or an error.
    """
    own = inspect.signature(kind).parameters
    if not any(p.kind is p.VAR_KEYWORD for p in own.values()):
        return {}
    inner: list[type]
    if isinstance(made, nn.Module):
        inner = [type(m) for m in made.children() if type(m).__module__ == kind.__module__][:1]
    else:
        frames = (f for f, _ in traceback.walk_tb(made.__traceback__) if f.f_code.co_name == "__init__")
        inner = [type(m) for f in frames if not isinstance(m := f.f_locals.get("self"), kind)][:1]
    return {n: text for c in inner for n, text in defaults_of(c).items() if n not in own}


def spelled(hint: Any) -> str:
    """A type hint as it is written; "" for none."""
    if isinstance(hint, str) or hint is inspect.Parameter.empty:
        return hint if isinstance(hint, str) else ""
    return hint.__name__ if isinstance(hint, type) else str(hint).replace("typing.", "")

"""Other arguments where something was counted that is not there: items of lists, whole numbers, channels of layers."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from sources.infer.constructor.signatures import parameters_of
from sources.infer.forward.variants import Arguments
from sources.infer.running.progress import TooMuchError

WIDE = "64"  # in place of a width of which a layer's reduction left nothing
LESS = 4  # times as wide are networks whose configuration multiplies all widths
_MULTIPLES = re.compile(r"('\w*(?:width|depth)_?mult\w*': )([\d.]+)")
_NOT_WHOLE = re.compile(r"must be integers or slices, not float|'float' object cannot be interpreted as an integer")
_NO_CHANNELS = re.compile(r"got weight of size \[0, (\d+)|weight of size \[\d+, 0, .* expected input\[\d+, (\d+)")
_BEYOND = re.compile(r"index (\d+ is )?out of range")  # of a list, or of a list of layers
_SEVERAL = re.compile(r"'int' object is not subscriptable")  # items of a list were wanted, the first perhaps
_TO_LIST = re.compile(r'can only concatenate list \(not "(tuple|int)"\)')
_GROUPS = re.compile(r"divisible by (num_)?groups")
MAX_DEFAULTS = 4  # sizes of other parameters that are tried in place of one
_NO_MODULE = re.compile(r"^IndexError: index (\d+) is out of range$")


def recounted(kind: type, arguments: Arguments, message: str) -> list[Arguments]:
    """The arguments of a class with other counts, as an error asks for."""
    plain = (int, float, tuple, list)
    every = {p.name: repr(p.default) for p in parameters_of(kind) if type(p.default) in plain} | arguments
    if _NOT_WHOLE.search(message):
        return [{**arguments, n: t[:-2]} for n, t in every.items() if re.fullmatch(r"-?\d+\.0", t)]
    if found := _NO_CHANNELS.search(message):
        return [{**arguments, n: WIDE} for n, t in every.items() if t in found.groups() and t != WIDE]
    if _GROUPS.search(message):  # ``groups=width``, where the width has a default: channels are as many, perhaps
        numbers = sorted({int(t) for n, t in every.items() if n not in arguments and t.isdecimal()}, reverse=True)
        plain_ones = [(n, int(t)) for n, t in arguments.items() if t.isdecimal()]
        return [{**arguments, n: str(m)} for m in numbers[:MAX_DEFAULTS] for n, size in plain_ones if m > size]
    counts = {name: count for name, text in every.items() if (count := _items(text)) > 1}
    if found := _NO_MODULE.search(message):
        longer = {n: _longer(every[n]) for n, count in counts.items() if count == int(found[1])}
        return [{**arguments, **longer}] if longer else []
    if counts and "list index out of range" in message:  # one may be counted down while the lists are cut
        most = min(counts.values()) - 1
        return [{**arguments, n: str(most)} for n, t in every.items() if t.isdecimal() and int(t) > most]
    return []


def in_lists(text: str, message: str) -> list[str]:
    """Lists of a number, where an error says that there are to be several; one twice as long in place of a list.

    And a tuple in place of a list to which one is added, or a list in place of what is added to one.
    """
    added = match[1] if (match := _TO_LIST.search(message)) else ""
    if added == "tuple" and text[:1] in ("[", "(") and _items(text):
        items = text[1:-1].rstrip(", ")
        return [f"({items},)" if text[0] == "[" else f"[{items}]"]
    if added == "int" and text.isdecimal():
        return [f"[{text}, {text}]", f"[{text}]"]
    if _BEYOND.search(message) and text[:1] == "[" and text != "[]" and " for " not in text:
        return [f"[{text[1:-1]}, {text[1:-1]}]"]
    return [f"[{text}]", f"[{text}, {text}]"] if text.isdecimal() and _SEVERAL.search(message) else []


def together(kind: type, arguments: Arguments, near: str, message: str) -> list[Arguments]:
    """The arguments with lists in place of all numbers of which a failing line takes items: ``size[0], stride[0]``."""
    if not _SEVERAL.search(message):
        return []
    every = {p.name: repr(p.default) for p in parameters_of(kind) if type(p.default) is int} | arguments
    taken = {n: text for n, text in every.items() if text.isdecimal() and re.search(rf"\b{re.escape(n)}\[", near)}
    return [{**arguments, **{n: f"[{t}]" for n, t in taken.items()}}] if len(taken) > 1 else []


def _items(text: str) -> int:
    """How many items a list or tuple says; none of a default that no expression is: ``(<class 'Head'>,)``."""
    try:
        tree = ast.parse(text, mode="eval").body if text[:1] in ("[", "(") else None
    except SyntaxError:
        return 0
    return len(tree.elts) if isinstance(tree, ast.List | ast.Tuple) else 0


def _longer(text: str) -> str:
    """A list with its last item once more."""
    tree = ast.parse(text, mode="eval").body
    assert isinstance(tree, ast.List | ast.Tuple)
    tree.elts.append(tree.elts[-1])
    return ast.unparse(tree)


def with_entries(arguments: Arguments, message: str, text: str, defaults: Mapping[str, str]) -> list[Arguments]:
    """Arguments that are dictionaries with all that the program ``text`` looks up, where one entry is lacking.

    What goes by these names, ``defaults`` tell: of YOLO's networks, say, the layers that a configuration lists.
    """
    lacking = re.fullmatch(r"KeyError: '(\w+)'", message)
    if not lacking or lacking[1] not in defaults:
        return []
    read = dict.fromkeys([lacking[1], *re.findall(r"\w\[[\"'](\w+)[\"']\]", text)])
    found = []
    for name, given in arguments.items():
        tree = ast.parse(given, mode="eval").body if given[:1] == "{" else None
        if isinstance(tree, ast.Dict) and lacking[1] not in (keys := [getattr(k, "value", "") for k in tree.keys]):
            more = [f"{key!r}: {defaults[key]}" for key in read if key in defaults and key not in keys]
            found.append({**arguments, name: f"{{{', '.join([*filter(None, [given[1:-1]]), *more])}}}"})
    return found


def thinner(arguments: Arguments, message: str) -> list[Arguments]:
    """Arguments that say in a dictionary by how much all layers are wider, or more, where that was too much."""
    if not message.startswith(TooMuchError.__name__):
        return []
    fewer = {n: _MULTIPLES.sub(lambda m: f"{m[1]}{float(m[2]) / LESS}", t) for n, t in arguments.items()}
    return [fewer] if fewer != arguments else []

"""Inputs that are no tensors: strings, flags and numbers, as a text and the hints of types tell."""

from __future__ import annotations

import ast
import re

from sources.hints.guesses import values
from sources.hints.uses import Uses
from sources.infer.inputs import Plain


def chosen(name: str, text: str) -> list[Plain]:
    """Strings that the text compares a parameter with, and numbers that branches of it do."""
    found = re.findall(rf"\b{re.escape(name)}(?: ?==| in) ?[(\[{{]?\s*(['\"]\w+['\"])", text)
    found += re.findall(rf"\b(?:el)?if {re.escape(name)} ?== ?(\d+)\b", text)
    return [Plain(ast.literal_eval(t)) for t in dict.fromkeys(found)][:4]


def plain(name: str, hint: str) -> list[Plain]:
    """Values for a parameter that is no tensor, as its type hint tells."""
    kind = re.sub(r"<class '(\w+)'>", r"\1", hint).split("|")[0].strip()
    counted = re.fullmatch(r"(?:typing\.)?[Tt]uple\[(int|float)((?:, ?(?:int|float))*)\]", kind)
    if kind not in ("int", "float", "bool", "str") and not counted:
        return []
    known = []
    for expression in values(name, counted[1] if counted else kind, Uses()):
        try:
            known.append(ast.literal_eval(expression))
        except (ValueError, SyntaxError):
            continue
    if counted:
        return [Plain((v,) * (counted[2].count(",") + 1)) for v in known if isinstance(v, int | float)][:3]
    wanted = {"int": int, "float": float, "bool": bool, "str": str}[kind]
    return [Plain(v) for v in known if type(v) is wanted][:3]

"""Names by which recurrent modules take a state, and make the first one."""

from __future__ import annotations

import ast
import re

STATE = re.compile(
    r"h|hx|hc|h_?0|hiddens?|(\w+_)?hidden(_?states?)?|(prev(ious)?|init(ial)?|last|rnn|lstm|gru)_?(h|states?)|states?"
)
MAKES = re.compile(
    r"init_?(\w+_)?(hidden\w*|h0?|states?|cells?)|initHidden|(get_)?(initial|zero|begin)_?(hidden|state)s?"
)


def makes_state(node: ast.ClassDef, name: str) -> bool:
    """Whether a method of a class makes the state that its forward takes."""
    forward = next((s for s in node.body if isinstance(s, ast.FunctionDef) and s.name == "forward"), None)
    taken = [a.arg.lower() for a in forward.args.args[1:]] if forward and MAKES.fullmatch(name) else []
    return any(map(STATE.fullmatch, taken))

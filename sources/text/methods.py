"""By which method a class computes that has no forward, or one that only raises; and which classes are abstract."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from sources.text.scope import nodes, walk

MAX_METHODS = 3  # of one class that are tried
Methods = Mapping[str, ast.FunctionDef]
# Methods that prepare, keep or report, by how their names start.
_BESIDES = re.compile(
    r"_|(set|load|save|init|reset|build|make|create|add|register|update|freeze|unfreeze|configure"
    r"|log(?!_?(prob|likeli|densit|pdf))|on|print|plot|show"
    r"|visuali[sz]e|write|read|train|eval|test|fit|optimi[sz]e|backward|requires|state|prepare|setup|cuda|cpu|to|val"
    r"|validation|summary|parameters|named|children|modules|apply|count|export|from|is|has|num|len|name|repr)(_|$)"
    r"|get_(\w+_)?(optim|param|config|name|lr|weight|model|layer|module|device|dataset|loader|num|state|args)"
    r"|\w+_(dataloader|loader|epoch_end|epoch|parameters|optimizers?|hook|callbacks?|name|config|state)$"
)
# Of the others, best first.
_USUAL = [re.compile(pattern) for pattern in (
    r"forward_\w+|\w+_forward|call|run", r"encode\w*|embed\w*|extract\w*|\w*features?|get_\w*(emb|feat)\w*",
    r"decode\w*|reconstruct\w*|transform|project\w*|predict\w*|generate\w*|inverse|act|policy",
    r"\w*loss\w*|nll\w*|elbo|cost|energy|score\w*|log_prob\w*|(training|shared)_step|step", r"sample\w*",
)]  # fmt: skip
_STEPS = frozenset(["training_step", "train_step"])  # in which a trainer's module computes its loss
_SPECIAL = re.compile(r"property|staticmethod|classmethod|abstract|setter|getter|overload|cached")
# How else attributes are set than by an assignment, and bases that add none, by their last names.
_SETTERS = ("register_buffer", "register_parameter", "add_module", "register_module", "setattr", "update")
_PLAIN = ("Module", "ABC", "object")
_CONDITIONS = (ast.If, ast.IfExp, ast.Try, ast.Lambda, ast.FunctionDef, ast.For, ast.While, ast.BoolOp)


def methods(lineage: Sequence[ast.ClassDef]) -> dict[str, ast.FunctionDef]:
    """The methods of a class, its bases' included; ``lineage`` holds it and them in the order of resolution."""
    found: dict[str, ast.FunctionDef] = {}
    for node in lineage:
        for statement in node.body:
            if isinstance(statement, ast.FunctionDef) and statement.name not in found:
                found[statement.name] = statement
        for statement in node.body:  # forward = encode
            if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Name):
                for target in statement.targets:
                    if isinstance(target, ast.Name) and statement.value.id in found:
                        found.setdefault(target.id, found[statement.value.id])
    return found


def unfinished(known: Methods, name: str, seen: frozenset[str] = frozenset()) -> bool:
    """Whether a method is left to subclasses, or always calls one that is; so is a forward that there is not."""
    node = known.get(name)
    if node is None or name in seen:
        return name == "forward" and node is None
    return _is_abstract(node) or any(unfinished(known, n, seen | {name}) for n in dict.fromkeys(_always_called(node)))


def unset(lineage: Sequence[ast.ClassDef], always: bool = False) -> bool:
    """Whether a class calls, or goes through, a part of itself that nothing in it sets: classes below it do.

    ``always``: only what its forward calls whatever it is given counts.
    """
    held = _held(lineage)
    if held is None:
        return False
    if not always:
        dead = {id(n) for kind in lineage for s in walk(kind) if isinstance(s, ast.FunctionDef) for n in _behind_end(s)}
        every = (n for kind in lineage for n in walk(kind) if isinstance(n, ast.Call | ast.For) and id(n) not in dead)
        return not {_own(n.func if isinstance(n, ast.Call) else n.iter) for n in every} - {""} <= held
    known, reached, stack = methods(lineage), set[str](), ["forward"]
    while stack:
        if (name := stack.pop()) not in reached:
            reached.add(name)
            stack += _always_called(known[name]) if name in known else ()
    return not reached - {"forward"} <= held


def _held(lineage: Sequence[ast.ClassDef]) -> set[str] | None:
    """Attributes that a class has, or sets; None where it is a kind of something else, or sets ones by any name."""
    from torch import nn  # heavy: who only reads our reasons does without

    held, own = {*dir(nn.Module)}, {kind.name for kind in lineage}
    for kind in lineage:
        if any(ast.unparse(b).split(".")[-1] not in (*_PLAIN, *own) for b in kind.bases) or kind.decorator_list:
            return None
        inner = {s.name for s in kind.body if isinstance(s, ast.FunctionDef | ast.ClassDef)}
        if inner & {"__getattr__", "__getattribute__"}:
            return None
        held |= inner
        held |= {s.target.id for s in kind.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)}
        held |= {t.id for s in kind.body if isinstance(s, ast.Assign) for t in s.targets if isinstance(t, ast.Name)}
        for node in walk(kind):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                held.add(_own(node))
            elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in _SETTERS:
                named = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
                if not named:
                    return None
                held.update(named)
    return held


def _own(node: ast.AST) -> str:
    """The name of an attribute of ``self``, "" for anything else."""
    plain = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return node.attr if plain and isinstance(node, ast.Attribute) else ""


def handed_to(known: Methods) -> str:
    """The method to which forward gives all that it is given, ``return self.compute(*args, **kwargs)``; "" for none.

    What a property answers with, ``self.module(*args)``, is a part.
    """
    node = known.get("forward")
    given = node.args if node else None
    if node is None or given is None or given.vararg is None or len(given.args) != 1 or given.kwonlyargs:
        return ""
    ends = [n.value for n in nodes(node) if isinstance(n, ast.Return)]
    call = ends[0] if len(ends) == 1 else None
    whole = isinstance(call, ast.Call) and [ast.unparse(a) for a in call.args] == [f"*{given.vararg.arg}"]
    name = _calls(call) if call is not None and whole else ""
    return name if name in known and not known[name].decorator_list and name != "forward" else ""


def calls_forward(known: Methods) -> bool:
    """Whether any of a class's methods may call the forward that it has not."""
    return any("forward" in map(_calls, nodes(node)) for node in known.values())


def main_methods(known: Methods, called: Mapping[str, int]) -> tuple[str, ...]:
    """The methods by which a class may compute, best first; ``called`` counts calls of methods, by name."""
    usable = [n for n, node in known.items() if _may_compute(node) and not unfinished(known, n)]

    def place(name: str) -> tuple[bool, int]:
        rank = next((i for i, pattern in enumerate(_USUAL) if pattern.fullmatch(name)), len(_USUAL))
        return not called.get(name, 0), rank

    return tuple(sorted(usable, key=place)[:MAX_METHODS])


def calls(texts: Mapping[str, str]) -> Counter[str]:
    """How often methods of whatever object but ``self`` are called in some files, by name."""
    return Counter(name for text in texts.values() for name in re.findall(r"(?<!\bself)\.(\w+)\(", text))


def _may_compute(node: ast.FunctionDef) -> bool:
    """Whether a method takes something, computes and returns a value, as far as its text tells."""
    if _BESIDES.match(node.name) and node.name not in _STEPS:
        return False
    if any(_SPECIAL.search(ast.unparse(d)) for d in node.decorator_list) or len(node.args.args) < 2:
        return False
    every = nodes(node)
    if not any(isinstance(n, ast.Return) and n.value is not None and not isinstance(n.value, ast.Constant)
               for n in every):  # fmt: skip
        return False
    return any(isinstance(n, ast.BinOp) or isinstance(n, ast.Call) and _computes(n) for n in every)


def _computes(call: ast.Call) -> bool:
    root: ast.expr = call.func
    while isinstance(root, ast.Attribute | ast.Subscript):
        root = root.value
    return isinstance(root, ast.Name) and root.id in ("self", "torch", "F", "nn") and root is not call.func


def _is_abstract(node: ast.FunctionDef) -> bool:
    """Whether a method is left to subclasses: it is declared so, or does nothing but raise."""
    if any("abstract" in ast.unparse(d) for d in node.decorator_list):
        return True
    body = [s for s in node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    stub = all(isinstance(s, ast.Raise | ast.Pass) for s in body)
    return stub and (node.name == "forward" or any(isinstance(s, ast.Raise) for s in body))


def _reached(node: ast.FunctionDef) -> list[ast.AST]:
    """The statements of a function up to the first with which it surely ends; some leave an older version behind it."""
    ends = (i for i, s in enumerate(node.body) if isinstance(s, ast.Return | ast.Raise))
    return [*node.body[: next(ends, len(node.body)) + 1]]


def _behind_end(node: ast.FunctionDef) -> Iterator[ast.AST]:
    """All that stands behind these."""
    for statement in node.body[len(_reached(node)) :]:
        yield from ast.walk(statement)


def _always_called(node: ast.FunctionDef) -> Iterator[str]:
    """Methods of itself that a method calls whatever it is given; ``self(x)`` calls forward."""
    stack: list[ast.AST] = _reached(node)
    while stack:
        inner = stack.pop()
        if name := _calls(inner):
            yield name
        if not isinstance(inner, _CONDITIONS):
            stack += ast.iter_child_nodes(inner)


def _calls(node: ast.AST) -> str:
    """The method of itself that an expression calls, "" for anything else; ``self(x)`` calls forward."""
    function = node.func if isinstance(node, ast.Call) else None
    if isinstance(function, ast.Name) and function.id == "self":
        return "forward"
    return _own(function) if isinstance(function, ast.Attribute) else ""

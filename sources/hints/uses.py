"""What a class's own text does with the parameters of its constructor, which tells more than their names do."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field

from torch import nn

from sources.text.scope import nodes

_LAYER = re.compile(r"(torch\.)?nn\.(Conv|Linear)\w*\(")
_OF_NUMBERS = re.compile(r"(torch\.)?nn\.(?!Module|Sequential|Parameter)[A-Z]\w*\(")  # layers that hold no others
_TO_TENSORS = frozenset(["torch.tensor", "torch.from_numpy", "torch.as_tensor", "torch.Tensor", "torch.FloatTensor",
                         "np.array", "np.asarray"])  # fmt: skip
_OWN = ("self", "cls")  # parameters of methods that no call hands over
_HELD = re.compile(r"(?:self\.)?(\w+)\.(?:shape\[0\]|size\(0\))")  # how many something holds
_OF_SEQUENCES = frozenset(["len", "enumerate", "zip", "sum", "list", "tuple", "torch.Size", "np.prod", "math.prod"])


@dataclass(slots=True)
class Uses:
    """What the class's own text does with a constructor parameter."""

    called: bool = False
    run: bool = False  # as an attribute of self
    makes: bool = False  # it is called with two sizes, perhaps, and what it answers with is kept
    wraps: bool = False  # it is called with a layer: ``norm(nn.Conv2d(dim, dim, 3))``
    listed: bool = False
    axis: bool = False  # it is passed on as ``dim=`` or ``axis=``
    array: bool = False  # a tensor is made of it
    counted: bool = False  # something is done so many times
    counts: bool = False  # something is done as often as each of its items says: ``range(depths[0])``
    optional: bool = False  # it is compared with None
    stacked: bool = False  # something is done for each that it holds: ``range(graphs.shape[0])``
    mapping: str = ""  # an expression for one whose keys are gone through, where it is such
    strings: list[str] = field(default_factory=list)  # it is compared with these
    attributes: set[str] = field(default_factory=set)
    items: set[int] = field(default_factory=set)  # that are taken out of it


def uses(definition: ast.ClassDef) -> dict[str, Uses]:
    """Uses of every parameter of ``__init__``, also through ``self.<name>`` of the same name, if it is kept there."""
    found = {name: Uses(stacked=True) for name in _stacked(definition)}
    layers = _layers_of(definition)
    others = Uses()  # of all that is no parameter: nobody reads them

    def of(node: ast.expr) -> Uses:
        match node:
            case ast.Name(id=name):
                return found.setdefault(name, Uses())
            case ast.Attribute(value=ast.Name(id="self"), attr=name) if name not in layers:
                return found.setdefault(name, Uses())
        return others

    for node in ast.walk(definition):
        _note(node, of)
    return found


def _note(node: ast.AST, of: Callable[[ast.expr], Uses]) -> None:
    """Note what a node does with parameters, whose uses ``of`` tells by the expressions that stand for them."""
    match node:
        case ast.Assign(
            targets=[ast.Attribute(value=ast.Name(id="self")), *_],
            value=ast.Call(func=ast.Name() as maker, args=[_, _, *_] as sizes),
        ):  # ``self.net = make(inside, outside)``
            if not any(isinstance(size, ast.Starred) for size in sizes):
                of(maker).makes = True
        case ast.Call():
            _note_call(node, of)
        case ast.Subscript(value=mapping, slice=ast.Constant(value=str(key))) if key:
            of(mapping).attributes.add(key)
        case ast.Subscript(value=ast.Dict(keys=keys), slice=chosen):  # ``{"gru": nn.GRU}[kind]``
            of(chosen).strings += [k.value for k in keys if isinstance(k, ast.Constant) and isinstance(k.value, str)]
        case ast.Subscript(value=sequence, slice=place):
            use = of(sequence)
            use.listed = True
            use.items |= {place.value} if isinstance(place, ast.Constant) and type(place.value) is int else set()
        case ast.For(iter=sequence) | ast.comprehension(iter=sequence) | ast.Starred(value=sequence):
            of(sequence).listed = True
        case ast.Compare(left=left, comparators=others):
            said = [c.value for other in others for c in ast.walk(other) if isinstance(c, ast.Constant)]
            use = of(left)
            use.strings += [value for value in said if isinstance(value, str)]
            use.optional |= None in said
        case ast.Attribute(value=owner, attr=name):
            of(owner).attributes.add(name)


def arrays(tree: ast.Module, names: Set[str]) -> dict[str, Uses]:
    """Uses of what is called by these names by constructors of a text that ask it for its shape.

    Another class may do nothing with an array but hand it on to them: its own text tells nothing of it.
    """
    found: dict[str, Uses] = {}
    kinds = [n for n in tree.body if isinstance(n, ast.ClassDef)] if names else []
    made = ((k, n) for k in kinds for n in k.body if isinstance(n, ast.FunctionDef) and n.name == "__init__")
    for kind, init in made:
        asked = (n for n in ast.walk(init) if isinstance(n, ast.Attribute) and n.attr in ("shape", "size"))
        given = names & {a.arg for a in init.args.args} & {ast.unparse(n.value) for n in asked}
        found = {n: use for n, use in uses(kind).items() if n in given} | found if given else found
    return found


def _stacked(tree: ast.AST) -> list[str]:
    """Names of what as much is done for as it holds: how many these are may have got a name before."""
    calls = (n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name))
    steps = [ast.unparse(a) for c in calls if ast.unparse(c.func) == "range" for a in c.args]
    kept = (n for n in ast.walk(tree) if isinstance(n, ast.Assign)) if steps else ()
    counts = {ast.unparse(n.targets[0]): ast.unparse(n.value) for n in kept}
    return [held[1] for step in steps if (held := _HELD.fullmatch(counts.get(step, step)))]


def _layers_of(definition: ast.ClassDef) -> set[str]:
    """Names of parameters by which layers are kept that are made with them: ``self.dropout = nn.Dropout(dropout)``."""
    found, kept = set[str](), set[str]()
    for node in ast.walk(definition):
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if not isinstance(node, ast.Assign) or not isinstance(target, ast.Attribute):
            continue
        call = node.value if isinstance(node.value, ast.Call) and _OF_NUMBERS.match(ast.unparse(node.value)) else None
        given = [*call.args, *(k.value for k in call.keywords)] if call else []
        made = any(isinstance(g, ast.Name) and g.id == target.attr for g in given)
        (found if made else kept).add(target.attr)
    return found - kept


def compared(tree: ast.AST) -> dict[str, list[str]]:
    """Words that variables of a text, and attributes of self, are compared with, or looked up with in a table of it.

    Also where they are handed to a function of the text that does so: ``self.backbone = self.chosen(name)``.
    """
    found: dict[str, list[str]] = {}
    every = nodes(tree)
    for name, word in _words(every):
        found.setdefault(name, []).append(word)
    functions = [f for f in every if isinstance(f, ast.FunctionDef)]
    twice = Counter(f.name for f in functions)  # of which no call tells which one it is of
    taken = {f.name: [a.arg for a in f.args.args if a.arg not in _OWN] for f in functions if twice[f.name] == 1}
    for call in (n for n in every if isinstance(n, ast.Call) and isinstance(n.func, ast.Name | ast.Attribute)):
        own = taken.get(_variable(call.func), ()) if found else ()
        for given, parameter in zip(call.args, own, strict=False):
            if (name := _variable(given)) and name not in found and parameter in found:
                found[name] = found[parameter]
    return found


def _words(every: Sequence[ast.AST]) -> Iterator[tuple[str, str]]:
    """Names of variables, with words that these are compared with or that a table has which they choose from."""
    made = (n for n in every if isinstance(n, ast.Assign))
    tables = {ast.unparse(n.targets[0]): n.value.keys for n in made if isinstance(n.value, ast.Dict)}
    for node in every:
        match node:
            case ast.Subscript(value=ast.Name() | ast.Attribute() as table, slice=ast.Name(id=name)):
                keys = tables.get(ast.unparse(table), ())
                yield from ((name, k.value) for k in keys if isinstance(k, ast.Constant) and isinstance(k.value, str))
            case ast.Compare(ops=[ast.Eq() | ast.NotEq(), *_], comparators=[ast.Constant(value=str(word)), *_]):
                if name := _variable(node.left):
                    yield name, word


def _variable(node: ast.expr) -> str:
    """The name of a variable, or of an attribute of self; "" for others."""
    if isinstance(node, ast.Attribute):
        return node.attr if isinstance(node.value, ast.Name) and node.value.id == "self" else ""
    return node.id if isinstance(node, ast.Name) else ""


def looked_up(tree: ast.AST) -> dict[str, set[str]]:
    """Words by which things are looked up in variables, and attributes of self, of a text, by their names."""
    found: dict[str, set[str]] = {}
    for node in nodes(tree):
        if isinstance(node, ast.Subscript) and (key := _key(node)):
            found.setdefault(ast.unparse(node.value).removeprefix("self."), set()).add(key)
    return found


def _note_call(node: ast.Call, of: Callable[[ast.expr], Uses]) -> None:
    """As ``_note``, for calls: of parameters, and with them."""
    called = ast.unparse(node.func)
    own = isinstance(node.func, ast.Name) and called[:1].isupper() and not hasattr(nn, called)
    for keyword in node.keywords if not own else ():  # a layer of the program is told how wide it is by that name
        if keyword.arg in ("dim", "axis"):
            of(keyword.value).axis = True
    of_self = isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == "self"
    if isinstance(node.func, ast.Name) or of_self:
        use = of(node.func)
        use.called, use.run = True, use.run or of_self
        use.wraps = use.wraps or bool(node.args) and _LAYER.match(ast.unparse(node.args[0])) is not None
    if node.args and called in _TO_TENSORS:
        of(node.args[0]).array = True
    if called == "range":
        for use in map(of, node.args):
            use.counted = True
        for use in (of(n.value) for a in node.args for n in _terms(a) if isinstance(n, ast.Subscript)):
            use.counts = True
    if called in _OF_SEQUENCES:
        for use in map(of, node.args):
            use.listed = True


def _terms(node: ast.expr) -> list[ast.expr]:
    """What a number is computed of: ``depths[0] + 1``."""
    return [t for side in (node.left, node.right) for t in _terms(side)] if isinstance(node, ast.BinOp) else [node]


def _key(node: ast.AST) -> str:
    """The string that something is subscripted with."""
    key = node.slice if isinstance(node, ast.Subscript) else None
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""

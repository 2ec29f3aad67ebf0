"""Statements that a task takes over: what is left out of each, what it needs at once, what stands in for others."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sources.text.danger import harmful
from sources.text.remembered import remembered
from sources.text.scope import Reads, nodes, walk
from sources.text.states import makes_state
from sources.text.targets import Here, Target

# Decorators without which a task computes the same.
_NOISE = re.compile(
    r"regist(?!er_to_config)|jit\b|compile|docstring|(^|_)docs?(_|$)|deprecat|beartype|typecheck|jaxtyped|export|experimental|"
    r"torch\.fx|overload|validate(d|_call|_arguments)$|"
    r"force_fp32|auto_fp16|autocast|custom_fwd|custom_bwd|add_to|requires_|builder|configurable|gin\.|rank_zero|"
    r"functional_(transform|datapipe)"  # which refuse what they hold already
)
EMPTY_CLASS = "class {}:\n    pass"
# What can be made, kept, and be a base beside nn.Module.
KEPT_CLASS = "class {}:\n    def __init__(self, *_, **__):\n        super().__init__()"
_COMPILES = re.compile(r"(torch\.utils\.cpp_extension|subprocess)\b")  # what builds extensions, and is absent
NO_STATE = "def {}(*_, **__):\n    return {{}}"  # where there are no trained weights
# What functions answer with that are absent, by their names: what loads weights finds none, a log is Python's own.
_ANSWERS = {
    re.compile(r"_?load_?(from_)?(checkpoint|state_dict|pretrained)\w*"): NO_STATE,
    re.compile(r"hf_hub_(url|download)|(load|get)_file_from_url|(cached_)?download(_\w+)?"): (
        "def {}(*_, **__):\n    return ''"  # where a file would be
    ),
    re.compile(r"(get|create|setup)_(\w+_)?logger"): (
        "def {}(*_, **__):\n    import logging\n\n    return logging.getLogger()"
    ),
    re.compile(r"(Rich|Colou?r\w*|Tqdm\w*|\w*Log\w*)Handler"): (
        "def {}(*_, **__):\n    import logging\n\n    return logging.NullHandler()"
    ),
    # A task has one process.
    re.compile(r"(get_|dist_)*world_size"): "def {}(*_, **__):\n    return 1",
    re.compile(r"(get_|dist_|local_|global_)*rank"): "def {}(*_, **__):\n    return 0",
    re.compile(r"is_(main|master|rank_?zero|primary)(_process|_proc|_rank)?"): "def {}(*_, **__):\n    return True",
    re.compile(r"is_dist(rib(uted)?)?(_avail\w*|_init\w*|_enabled|_on)?"): "def {}(*_, **__):\n    return False",
    re.compile(r"_?([A-Z]+_)?LOG(GER)?|_?(\w+_)?logger"): "import logging\n\n{} = logging.getLogger()",
    **{re.compile(rf"Sync(hronized)?BatchNorm{n}d"): f"from torch.nn import BatchNorm{n}d as {{}}" for n in (1, 2, 3)},
}
# Calls that read what a file of the package's holds; ``open`` is none of them: it touches the system anyway.
_READS_FILES = re.compile(
    r"(torch|np|numpy|json|pickle|joblib|yaml|scipy\.io|sio)\.(load|safe_load|loadtxt|genfromtxt|fromfile|loadmat)|loadmat"
    r"|(pd|pandas)\.read_(csv|table|json|excel|pickle|hdf|parquet)"
)
FROM_FILE = "what a file holds"
TRAINED = "what trained weights there are"
# A table of them, whatever is looked up in it; ``Name = deepcopy(Name)`` of an imported one cannot be said.
NO_TABLE = '{} = type("NoWeights", (dict,), {{"__missing__": lambda *_: {{}}}})()'
OF_WEIGHTS = re.compile(r"(?i).*pretrained.*|.*(model|weight)s?_?(urls?|paths?|zoo)")
# An enumeration of trained weights, by its base in torchvision: there are none here.
_WEIGHTS = "WeightsEnum"
# Calls that change what a name holds.
_ADDS = re.compile(
    r"add(_\w+)?|register(_module|_class)?|update|append|extend|insert|setdefault|remove|pop|sort|reverse|fill|[a-z]\w*_"
)
_MAIN = ("__init__", "forward")  # methods that run in any task
# Methods that torch and Python call by themselves: of an autograd function, and of an enumeration.
_CALLED = ("setup_context", "_missing_", "_generate_next_value_")
NO_WEIGHTS = """class {{}}:
    {} = None

    @staticmethod
    def verify(weights):
        return None"""
# Torchvision's decorator of what makes a network: it takes wishes for trained weights in old ways, ``alexnet(True)``.
WISHING = "handle_legacy_interface"
NO_WISH = """def {}(**weights):
    import functools
    import inspect

    def outer(builder):
        @functools.wraps(builder)
        def inner(*given, **named):
            named = {{**dict(zip(inspect.signature(builder).parameters, given)), **named}}
            for name, (old, _) in weights.items():
                named.pop(old, None)
                named[name] = None
            return builder(**named)

        return inner

    return outer"""


@dataclass(slots=True)
class Piece:
    """One top-level statement that a task takes over."""

    key: Here
    node: ast.stmt  # whole
    view: ast.stmt  # without what is left out: reads are taken of this
    local: dict[str, Target]  # what import statements inside it bind
    reads: Reads
    needs: list[tuple[str, Target]] = field(default_factory=list)
    lacks: str = ""  # what it needs that there is not: a stand-in is written, for those who do not use it
    stand_in: str = "{} = None"


def stand_in_for(key: Here, lacks: str, stand_in: str = "") -> Piece:
    """The piece in place of a name that lacks something.

    ``stand_in``: its text, with ``{}`` for the name; without one it is what the name tells that it answers, or None.
    """
    text = stand_in or _answer(key.name) or "{} = None"
    return Piece(key, ast.Pass(), ast.Pass(), {}, Reads(), lacks=lacks, stand_in=text)


def answering(name: str) -> str:
    """A function in place of one that is absent, "" for a name that tells nothing of its answer."""
    return _answer(name).format(name)


def _answer(name: str) -> str:
    return next((text for pattern, text in _ANSWERS.items() if pattern.fullmatch(name)), "")


def weights_of(node: ast.stmt) -> list[str]:
    """The members of an enumeration of trained weights, none of another definition."""
    if not isinstance(node, ast.ClassDef) or not any(ast.unparse(b).endswith(_WEIGHTS) for b in node.bases):
        return []
    return [t.id for s in node.body if isinstance(s, ast.Assign) for t in s.targets if isinstance(t, ast.Name)]


def reads_file(node: ast.stmt) -> bool:
    """Whether a constant is read from a file: a task has none, and who does without the constant can be one."""
    value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
    calls = (n for n in walk(value) if isinstance(n, ast.Call)) if value is not None else ()
    return any(_READS_FILES.fullmatch(ast.unparse(call.func)) for call in calls)


@remembered
def locally_bound(view: ast.AST) -> frozenset[str]:
    """Names that functions in a statement give to something: ``Block = partial(layers.Block)`` hides another Block."""
    inside = [n for f in nodes(view) if isinstance(f, ast.FunctionDef) for n in nodes(f)]
    stored = {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return frozenset(stored | {n.arg for n in inside if isinstance(n, ast.arg)})


def used_names(tree: ast.AST) -> set[int]:
    """Names that are called or whose attributes are read, by id."""
    called = {id(n.func) for n in nodes(tree) if isinstance(n, ast.Call)}
    return called | {id(n.value) for n in nodes(tree) if isinstance(n, ast.Attribute)}


def made_of(tree: ast.AST, name: ast.Name) -> set[str] | None:
    """Classes that are called as ``name`` or ``name.Class``, by their names in it; None where something else is done.

    What is made and kept by a constructor may never be used by what a task calls: an encoder to bytes, a logger.
    """
    for node in nodes(tree):
        if isinstance(node, ast.Call) and node.func is name:
            return set() if name.id[:1].isupper() else None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.value is name:
            return {node.func.attr} if node.func.attr[:1].isupper() else None
    return None


def without_dependants(pieces: dict[Here, list[Piece]]) -> dict[Here, list[Piece]]:
    """The pieces with stand-ins also for constants that are computed from what is absent, or compiled."""
    compiling = dict.fromkeys(_compiling(pieces), "what compiles an extension")
    while True:
        lacking = {key: found[0].lacks for key, found in pieces.items() if found[0].lacks not in ("", TRAINED)}
        lacking |= compiling
        more = {
            key: stand_in_for(key, lacking[target])
            for key, found in pieces.items()
            for piece in found
            if not piece.lacks and not isinstance(piece.node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            for _, target in piece.needs
            if isinstance(target, Here) and target in lacking
        }
        if not more:
            return pieces
        pieces = pieces | {key: [piece] for key, piece in more.items()}


def _compiling(pieces: Mapping[Here, list[Piece]]) -> set[Here]:
    """Functions that build extensions, and those that call them."""
    functions = {key: [t for p in found for _, t in p.needs] for key, found in pieces.items()
                 if isinstance(found[-1].node, ast.FunctionDef)}  # fmt: skip
    found = {k for k, needs in functions.items() if any(_COMPILES.match(getattr(t, "name", "")) for t in needs)}
    while more := {k for k, needs in functions.items() if not found.isdisjoint(needs)} - found:
        found |= more
    return found


def copied(node: ast.Assign) -> set[str]:
    """Names that an assignment reads and binds."""
    read = {n.id for n in walk(node.value) if isinstance(n, ast.Name)}
    return {t.id for t in node.targets if isinstance(t, ast.Name)} & read


@remembered
def listed(node: ast.AST) -> frozenset[str]:
    """Names of which a statement looks through all that they hold, as modules: ``vars(name)``."""
    calls = (n for n in nodes(node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "vars")
    return frozenset(a.id for c in calls if len(c.args) == 1 and isinstance(a := c.args[0], ast.Name))


@remembered
def taken_from(node: ast.AST) -> frozenset[str]:
    """Names of which a statement takes an attribute whose name it computes: ``getattr(name, word)``.

    Or an item: ``name.__dict__[word]``.
    """
    calls = (n for n in nodes(node) if isinstance(n, ast.Call) and ast.unparse(n.func) == "getattr" and n.args)
    looked_up = (n.value for n in nodes(node) if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Attribute))
    holders = [*(c.args[0] for c in calls), *(a.value for a in looked_up if a.attr == "__dict__")]
    return frozenset(a.id for a in holders if isinstance(a, ast.Name))


def goes_by(name: str) -> set[str]:
    """Words by which a definition may be looked up, in lower case: its name, and that without its last part."""
    parts = re.findall(r"[A-Z]+[a-z0-9]*|[a-z0-9]+", name)
    return {name.lower(), "".join(parts[:-1]).lower() or name.lower()}


def at_once(piece: Piece) -> set[str]:
    """Names that must have a true value as soon as the piece is executed.

    These are bases of a class, parts of a constant, and what a function's defaults read attributes of.
    """
    node = piece.view
    if isinstance(node, ast.ClassDef) and len(node.bases) > 1:
        return set()  # a mixin that is absent is an empty class
    if isinstance(node, ast.ClassDef):
        return {n.id for base in node.bases for n in walk(base) if isinstance(n, ast.Name)}
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        defaults = [d for d in [*node.args.defaults, *node.args.kw_defaults] if d is not None]
        parts = (n.value for d in defaults for n in walk(d) if isinstance(n, ast.Attribute))
        return {n.id for n in parts if isinstance(n, ast.Name)}
    return piece.reads.eager


def unused(node: ast.ClassDef, used: set[str]) -> frozenset[str]:
    """Methods of a class that nothing mentions, or that no task may call."""
    never, unmentioned = _left_out(node)
    return never | unmentioned - used


@remembered
def _left_out(node: ast.AST) -> tuple[frozenset[str], frozenset[str]]:
    """Methods of a class that every task is without, and those that it is without where nothing mentions them."""
    if not isinstance(node, ast.ClassDef):
        return frozenset(), frozenset()
    methods = [s for s in node.body if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef)]
    beside = {n.id for s in node.body if s not in methods for n in nodes(s) if isinstance(n, ast.Name)}
    starts, never, unmentioned = tuple(computed(node)), set[str](), set[str]()
    for method in methods:
        name = method.name
        if (
            name in beside or name.startswith(starts) and not harmful(method)
        ):  # what has another name is used: ``b = a``
            continue
        special = name.startswith("__") and name.endswith("__") and name not in ("__repr__", "__str__")
        special = special or name in _CALLED or makes_state(node, name) and not harmful(method)
        if name == "extra_repr" or not special and name != "forward" and harmful(method):
            never.add(name)
        elif not special:
            unmentioned.add(name)
    return frozenset(never), frozenset(unmentioned)


def computed(node: ast.ClassDef) -> Iterator[str]:
    """How names start by which methods of a class are taken out of ``self``: ``getattr(self, f"build_{part}")``."""
    for call in (n for n in nodes(node) if isinstance(n, ast.Call) and len(n.args) > 1):
        if ast.unparse(call.func) == "getattr" and ast.unparse(call.args[0]) == "self":
            match call.args[1]:
                case ast.JoinedStr(values=[ast.Constant(value=str() as said), ast.FormattedValue(), *_]):
                    yield said
                case ast.BinOp(left=ast.Constant(value=str() as said)) if start := said.split("%")[0]:
                    yield start
                case ast.Call(func=ast.Attribute(value=ast.Constant(value=str() as said), attr="format")):
                    yield from filter(None, [said.split("{")[0]])


def optional(piece: Piece, name: str) -> bool:
    """Whether a name that nothing binds is read under a condition, or in a method beside: it may never be.

    So is one behind a condition under which a function returns.
    """
    blocks: list[list[ast.AST]] = [[*n.body, *n.orelse] for n in nodes(piece.view) if isinstance(n, ast.If)]
    blocks += [[n.body, n.orelse] for n in nodes(piece.view) if isinstance(n, ast.IfExp)]
    blocks += [_behind_return(n) for n in nodes(piece.view) if isinstance(n, ast.FunctionDef)]
    if isinstance(piece.view, ast.ClassDef):
        blocks += [[*s.body] for s in piece.view.body if isinstance(s, ast.FunctionDef) and s.name not in _MAIN]
    inside = {id(n) for block in blocks for s in block for n in walk(s)}
    return all(id(n) in inside for n in piece.reads.names if n.id == name)


def _behind_return(function: ast.FunctionDef) -> list[ast.AST]:
    """The statements of a function behind the first ``if`` of its own in which it returns."""
    returns = (i for i, s in enumerate(function.body) if isinstance(s, ast.If) and _has_return(s))
    return [*function.body[next(returns, len(function.body)) + 1 :]]


def _has_return(block: ast.If) -> bool:
    return any(isinstance(n, ast.Return) for n in nodes(block))


def only_adds(change: ast.AST) -> bool:
    """Whether all methods that are called within for what they do change what they are methods of."""
    calls = [n.value for n in nodes(change) if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call)]
    return all(_ADDS.fullmatch(call.func.attr) for call in calls if isinstance(call.func, ast.Attribute))


def is_debugging(node: ast.AST) -> bool:
    """Whether a statement only prints, or stops or waits for somebody to look: no task does."""
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call):
        return False
    if isinstance(call.func, ast.Attribute):  # of pdb and its like; of a tensor, whose gradients somebody looks at
        watches = call.func.attr == "register_hook" and ast.unparse(call.func.value) != "self"
        return watches or call.func.attr == "set_trace"
    return isinstance(call.func, ast.Name) and call.func.id in ("print", "breakpoint", "set_trace")


def is_noise(decorator: ast.expr) -> bool:
    """Whether a decorator registers, compiles or documents: the task computes the same without it."""
    function = ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator)
    return _NOISE.search(function) is not None


def view_of(node: ast.stmt, dropped: frozenset[str]) -> ast.stmt:
    """The statement as it will be written. Nodes that stay are the file's own, so that positions hold."""
    if not isinstance(node, ast.ClassDef):
        return node
    view = copy.copy(node)
    methods = (ast.FunctionDef, ast.AsyncFunctionDef)
    view.body = [s for s in node.body if not (isinstance(s, methods) and s.name in dropped)]
    return view


def swept(tree: ast.AST) -> Iterator[ast.Attribute | ast.Name]:
    """What a loop goes through value by value: ``for function in register.config_dict.values()``."""
    for loop in (n for n in nodes(tree) if isinstance(n, ast.For)):
        values = loop.iter.func if isinstance(loop.iter, ast.Call) else None
        held = values.value if isinstance(values, ast.Attribute) and values.attr == "values" else None
        if isinstance(held, ast.Attribute | ast.Name):
            yield held

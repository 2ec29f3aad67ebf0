"""The part of Python that a candidate may be written in: wrappers around kernels need no more.

What is left out reaches behind the interface between a kernel and its caller: into interpreters, frames, modules that
are not the candidate's, settings that others share, code made at run time.  A text that needs it teaches nothing about
kernels, whatever it computes.  Text is checked before anything runs; ``candidate.enclosure`` holds at run time what
text cannot show (names put together from parts, objects reached through other names).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from kdata.verify.candidate.arrays import MEMBERS
from kdata.verify.candidate.reached import reached
from kdata.verify.candidate.scopes import hidden

# What is asked of loggers: see kdata.verify.candidate.silence.
LEVELS = {"DEBUG": 10, "INFO": 20, "WARNING": 30, "ERROR": 40, "CRITICAL": 50}
LOGGED = frozenset({
    "getLogger", "debug", "info", "warning", "warn", "error", "exception", "critical", "log", "basicConfig", "setLevel",
})  # fmt: skip
# Parts of torch and triton that reach the machine, other backends, or the compiler that made the candidate.
CLOSED = re.compile(
    r"torch\.(_(?!_version__)|hub\b|distributed\b|multiprocessing\b|package\b|utils\.(?!checkpoint\b)|compile\b"
    r"|compiler\b(?!\.is_compiling\b)|ao\b|onnx\b|contrib\b|monitor\b|ops\.(load_library|import_module)|classes\b"
    r"|(cuda\.|random\.|cuda\.random\.)?(get_rng_state|default_generator)|get_num_|\w+Storage\b|storage\b"
    r"|fx\b|export\b|cuda\._|jit\.(?!Final\b|ignore\b|unused\b|is_scripting|is_tracing|annotate\b|export\b)|overrides\b"
    r"|library\b(?!\.(custom_op|triton_op|wrap_triton)\b)|futures\b|profiler\b|save\b|load\b|from_file\b|serialization\b|func\.functional_call\b"
    r"|set_(default|num|float32|deterministic|flush|printoptions|rng|autocast|warn)|use_deterministic|seed\b"
    r"|backends\.\w+\.(flags|sdp_kernel|enable_|preferred_)|cuda\.(memory\b|set_(?!device)|caching_allocator|CUDAGraph\b|graphs\b"
    r"|memory_(stats|summary|snapshot|usage)|host_memory|utilization|temperature|power_draw|clock_rate|device_memory_used"
    r"|list_gpu|nccl\b|comm\b|sparse\b|is_current_stream|MemPool|use_mem_pool|cudart\b|check_error|cudaStatus|_?lazy))"
    r"|triton\.(_(?!_version__)|backends\b|compiler\b|runtime\.(?!jit|autotuner|driver)|tools\.(?!tensor_descriptor)"
    r"|profiler\b|knobs\b|language\.(target_info|semantic)\b)"
    rf"|logging\.(?!({'|'.join(sorted({'Logger', *LEVELS, *LOGGED}))})\b)"
    rf"|numpy\.(?!({'|'.join(sorted(MEMBERS))})\b)"
    # what runs text, or makes classes and names that text does not show
    r"|typing(_extensions)?\.(get_type_hints|ForwardRef|get_annotations|evaluate_forward_ref)"
    r"|functools\.singledispatch|types\.(new_class|prepare_class|resolve_bases|DynamicClassAttribute)"
    # versions are compared, nothing else
    r"|packaging\.(?!version(\.(Version|parse|InvalidVersion)\b|$))"
    r"|enum\.global_enum|abc\.update_abstract|dataclasses\.make_dataclass"
)
ALIASES = frozenset({  # modules under the names by which torch, triton and the pure modules hold them
    "ast", "bisect", "bltns", "contextvars", "datetime", "glob", "hashlib", "io", "json", "keyword", "logging", "mp",
    "np", "pkgutil", "re", "statistics", "stdlib_re", "textwrap", "time", "timeit", "uuid",
})  # fmt: skip
# Modules that reach the machine or the running program, as attributes of others: ``torch.os``, ``typing.sys``.
MACHINE = frozenset({
    "os", "sys", "gc", "inspect", "ctypes", "importlib", "builtins", "subprocess", "threading", "multiprocessing",
    "socket", "atexit", "pickle", "copyreg", "marshal", "linecache", "traceback", "weakref", "shutil", "tempfile",
    "pathlib", "platform", "mmap", "asyncio", "concurrent", "runpy", "interpreter", "knobs", "serialization", "dis",
    "cpp_extension", "urllib", "hub", "attrgetter", "methodcaller", "FunctionType", "CodeType", "CellType",
    "LambdaType",
})  # fmt: skip
# Attributes without underscores that lead from objects to the program that runs them.
PROGRAM = frozenset({
    "tb_frame", "tb_next", "f_back", "f_locals", "f_globals", "f_builtins", "f_code", "gi_frame", "gi_code", "cr_frame",
    "ag_frame", "cell_contents", "func_globals", "mro", "with_traceback", "InterpretedFunction", "fn_cache",
    "cache_info", "device_caches", "create_binder", "used_global_vals", "raw_src", "starting_line_number",
    "rewritten_fn",
})  # fmt: skip
MODULES = frozenset({
    "torch", "torch.nn", "torch.nn.functional", "torch.cuda", "torch.backends", "torch.utils", "torch.autograd",
    "triton", "triton.language", "triton.runtime", "math", "functools", "itertools", "operator", "types", "typing",
    "collections", "contextlib", "copy", "dataclasses", "enum", "abc", "warnings", "numbers", "fractions",
    "packaging", "packaging.version", "logging", "random", "numpy",
})  # fmt: skip
# What subclasses of torch's own layers call: it looks at dimensions, and computes nothing.
LAYERS_OWN = frozenset({"_check_input_dim"})
DUNDERS = frozenset({"__init__", "__name__", "__doc__", "__len__", "__post_init__", "__version__", "__qualname__"})
BUILTINS = frozenset({
    "exec", "eval", "compile", "open", "input", "breakpoint", "globals", "locals", "vars", "memoryview", "delattr",
    "__import__", "__builtins__", "__loader__", "__spec__", "__file__", "__build_class__", "__debug__", "help",
})  # fmt: skip
REGISTER = ("self.register_buffer", "self.register_parameter", "self.add_module", "self.register_module")
KINDS = re.compile(r"types\.FunctionType|torch\.nn\.modules\.\w+\._\w+")  # asked for by ``isinstance`` only
# What constructors take from torch for want of a public name: bases of layers, pairs of sizes, fans of initialisations.
UNNAMED = re.compile(
    r"torch\.nn\.(modules\.\w+\._[A-Z][a-z]\w*|modules\.utils\._(single|pair|triple|quadruple|ntuple)"
    r"|init\._(calculate_(fan_in_and_fan_out|correct_fan)|no_grad_\w+))"
)
# Functions of Triton's own library that kernels of sorting are made of.
STANDARD = re.compile(r"triton\.language\.standard\._(log2|indicator|compare_and_swap|bitonic_merge|sum_combine)")
# Likewise, and in annotations: what makes classes, and arrays of memory that nobody wrote.
MAKERS = re.compile(r"(\w+\.)+(\w*Meta|EnumType)|numpy\.ndarray")
# What a text may name so itself: operators and protocols that run when its own code asks for them.
OWN_DUNDERS = DUNDERS | frozenset(
    f"__{name}__" for name in (
        "abs add aenter aexit aiter all and annotations anext author await bool call class_getitem complex constants "
        "contains copy copyright date deepcopy delitem div divmod email enter exit float floordiv format future ge "
        "get getattr getitem getstate gt hash iadd iand imul int invert ior isub iter itruediv ixor le length_hint "
        "license lshift lt matmul missing mod mul ne neg new next or pos pow radd rand rdiv repr reversed rfloordiv "
        "rlshift rmatmul rmod rmul ror round rpow rrshift rshift rsub rtruediv rxor set setattr setitem setstate slots "
        "status str sub truediv trunc xor jit_unused_properties jit_ignored_attributes"
    ).split()
)  # fmt: skip
PLAIN_TYPES = frozenset({"int", "float", "str", "bool", "bytes", "tuple", "list", "dict", "set", "frozenset"})
# What a compiled kernel cannot ask, or is answered otherwise than an interpreted one.
ASKS = frozenset({"isinstance", "issubclass", "hasattr", "getattr", "setattr", "type", "callable", "repr", "str", "id",
                  "dir", "hash", "format", "ascii"})  # fmt: skip
HANDLES = frozenset({"handle", "builder", "_builder", "_semantic"})


class Roots(dict[str, str]):
    """What imported names, and plain aliases of them, stand for."""

    hidden: frozenset[int] = frozenset()  # nodes of such names that are variables of a function

    def of(self, node: ast.expr) -> str:
        """What a name stands for; "" where it is not imported."""
        known = isinstance(node, ast.Name) and id(node) not in self.hidden
        return self.get(node.id, "") if known else ""  # type: ignore[attr-defined]


def outside(tree: ast.Module) -> Iterator[str]:
    """What a text says that is not part of the language of candidates, as the text says it.

    Not what stands in functions of the task's that the candidate does not reach.
    """
    roots, own, parents = _roots(tree), own_names(tree), _parents(tree)
    kernels = _kernels(tree)
    for node in reached(tree):
        if isinstance(node, ast.Attribute):
            yield from _attribute(node, roots, own, parents)
        elif isinstance(node, ast.Name):
            yield from _name(node, roots, own, kernels, parents)
        elif isinstance(node, ast.MatchClass):  # patterns read attributes, too
            yield from (f"case {name}" for name in node.kwd_attrs if private(name))
            if node.patterns and ast.unparse(node.cls) not in PLAIN_TYPES:
                yield f"case {ast.unparse(node.cls)}(...)"
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _hook(node.name):
            yield f"def {node.name}"
        elif isinstance(node, ast.Call):
            yield from _call(node, roots)
        elif isinstance(node, ast.ClassDef) and any(k.arg == "metaclass" for k in node.keywords):
            yield f"class {node.name}(metaclass=...)"
    for kernel in jitted(tree):
        yield from _inside(kernel)


def _hook(name: str) -> bool:
    """Whether Python, or torch, would call what has this name by itself, or read it past the interface."""
    return name.startswith("__") and name.endswith("__") and name not in OWN_DUNDERS


def _call(node: ast.Call, roots: Roots) -> Iterator[str]:
    """Calls that make a class, or copy attributes whose names are data."""
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name == "type" and len(node.args) != 1:
        yield "type(...)"
    chain = _chain(node.func, roots)
    most = {"functools.wraps": 1, "functools.update_wrapper": 2}.get(chain)
    if most is not None and (len(node.args) > most or node.keywords):
        yield f"{chain}(...)"


def _inside(kernel: ast.FunctionDef) -> Iterator[str]:
    """What a kernel asks that shows who runs it."""
    for node in ast.walk(kernel):
        asks = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ASKS
        if asks or (isinstance(node, ast.Attribute) and node.attr in HANDLES):
            yield f"{ast.unparse(node)} in a kernel"


def closed(name: str) -> bool:
    """Whether a qualified name is of a part of torch or triton that candidates may not use."""
    return CLOSED.match(name) is not None


def private(name: str, own: frozenset[str] | set[str] = frozenset()) -> bool:
    """Whether an attribute's name is of what lies behind an object's interface."""
    if name in MACHINE or name in PROGRAM:
        return name not in own
    return name.startswith("_") and name not in DUNDERS and name not in LAYERS_OWN and name not in own


def _attribute(node: ast.Attribute, roots: Roots, own: set[str], parents: dict[int, ast.AST]) -> Iterator[str]:
    chain = _chain(node, roots)
    changed = isinstance(node.ctx, ast.Store | ast.Del)
    parent = parents.get(id(node))
    if (
        private(node.attr, frozenset() if chain else own)
        and not STANDARD.fullmatch(chain)
        and not UNNAMED.fullmatch(chain)
        and not _type_name(node, parent)
        and not (KINDS.fullmatch(chain) and "isinstance" not in own and _type_asked(parent, parents))
        and not (node.attr == "_version" and not changed)
    ):
        yield ast.unparse(node)
    elif chain and (_shut(chain, node, parent, parents) or changed or node.attr in ALIASES):
        yield chain + (" = ..." if changed else "")


def _type_name(node: ast.Attribute, parent: ast.AST | None) -> bool:
    """``self.__class__.__name__``: what a module is called, for messages."""
    return node.attr == "__class__" and isinstance(parent, ast.Attribute) and parent.attr in DUNDERS


def _type_asked(parent: ast.AST | None, parents: dict[int, ast.AST]) -> bool:
    """Whether it is named only to ask ``isinstance``."""
    if isinstance(parent, ast.Tuple):
        parent = parents.get(id(parent))
    return isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "isinstance"


def _shut(chain: str, node: ast.expr, parent: ast.AST | None, parents: dict[int, ast.AST]) -> bool:
    """Whether an imported name may not be used here."""
    if chain in ("torch.library", "torch.compiler") and isinstance(parent, ast.Attribute):
        return False  # what is asked of it is looked at by itself
    return closed(chain) or (MAKERS.fullmatch(chain) is not None and not _kind_of(node, parent, parents))


def _kind_of(node: ast.expr, parent: ast.AST | None, parents: dict[int, ast.AST]) -> bool:
    """Whether a class is named as the kind of something only: to ask ``isinstance``, or in an annotation."""
    if isinstance(parent, ast.BinOp | ast.Subscript):
        return True
    return _type_asked(parent, parents) or getattr(parent, "annotation", None) is node


def _name(node: ast.Name, roots: Roots, own: set[str], kernels: set[str], parents: dict[int, ast.AST]) -> Iterator[str]:
    parent = parents.get(id(node))
    if node.id in BUILTINS and node.id not in own:
        yield node.id
    elif isinstance(node.ctx, ast.Store) and _hook(node.id):
        yield f"{node.id} = ..."
    elif node.id == "__name__" and not (_asks_for_main(parent, parents) or _names_a_logger(parent, roots)):
        yield node.id
    elif (meant := roots.of(node)) and isinstance(node.ctx, ast.Load) and _shut(meant, node, parent, parents):
        yield meant
    elif meant in MODULES and _module_as_value(node, parent):
        yield f"{meant} as a value"
    elif node.id in kernels and isinstance(parent, ast.Call) and node in parent.args:
        asked = parent.func.id if isinstance(parent.func, ast.Name) else ""
        if asked in ASKS:
            yield ast.unparse(parent)  # what a kernel is shows who runs it
    elif node.id in kernels and isinstance(parent, ast.FormattedValue):
        yield f"f'{{{node.id}}}'"


def _asks_for_main(parent: ast.AST | None, parents: dict[int, ast.AST]) -> bool:
    """Whether it is what tests beside a module's own functions ask; a function would be told who has imported it."""
    if not (isinstance(parent, ast.Compare) and "__main__" in ast.unparse(parent)):
        return False
    asking = parents.get(id(parent))
    while isinstance(asking, ast.BoolOp | ast.UnaryOp):
        asking = parents.get(id(asking))
    return isinstance(asking, ast.If) and isinstance(parents.get(id(asking)), ast.Module)


def _names_a_logger(parent: ast.AST | None, roots: Roots) -> bool:
    return isinstance(parent, ast.Call) and _chain(parent.func, roots) == "logging.getLogger"


def _module_as_value(node: ast.Name, parent: ast.AST | None) -> bool:
    """Whether a module is handed on, beyond where text can follow it."""
    if not isinstance(node.ctx, ast.Load) or isinstance(parent, ast.Attribute):
        return False
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        return False
    asks = (
        isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id in ("getattr", "hasattr")
    )
    return not asks


def _roots(tree: ast.Module) -> Roots:
    """Names that imports bind, and plain aliases of them: ``F = nn.functional``; to what they stand for."""
    roots = Roots()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                roots[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom):
            roots |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            chain = _chain(node.value, roots)
            if chain and isinstance(node.value, ast.Name | ast.Attribute):
                roots.setdefault(node.targets[0].id, chain)
    roots.hidden = hidden(tree, roots)
    return roots


def _chain(node: ast.expr, roots: Roots) -> str:
    """``torch.nn.functional.relu`` for what starts at an imported name, else ""."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([start, *reversed(parts)]) if (start := roots.of(node)) else ""


def own_names(tree: ast.Module) -> set[str]:
    """Names that the text itself gives to functions, arguments, variables, and attributes of ``self``."""
    own: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            own.add(node.name)
        elif isinstance(node, ast.arg):
            own.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            own.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            if isinstance(node.value, ast.Name) and node.value.id == "self":
                own.add(node.attr)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in REGISTER:
            own |= {a.value for a in node.args[:1] if isinstance(a, ast.Constant) and isinstance(a.value, str)}
    return {name for name in own if not (name.startswith("__") and name.endswith("__"))} - BUILTINS | (
        own & {"input", "help", "compile", "vars"}
    )


def _kernels(tree: ast.Module) -> set[str]:
    return {f.name for f in jitted(tree)}


def jitted(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """The kernels of a text: functions that are decorated with ``triton.jit``."""
    functions = (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef))
    yield from (f for f in functions if any("jit" in ast.unparse(d) for d in f.decorator_list))


def _parents(tree: ast.Module) -> dict[int, ast.AST]:
    return {id(child): node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}

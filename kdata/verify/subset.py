"""The part of Python that a candidate may be written in: wrappers around kernels need no more.

What is left out reaches behind the interface between a kernel and its caller: into interpreters, frames, modules that
are not the candidate's, settings that others share, code made at run time.  A text that needs it teaches nothing about
kernels, whatever it computes.  Text is checked before anything runs; ``kdata.verify.enclosure`` holds at run time what
text cannot show (names put together from parts, objects reached through other names).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

# Parts of torch and triton that reach the machine, other backends, or the compiler that made the candidate.
CLOSED = re.compile(
    r"torch\.(_|hub\b|distributed\b|multiprocessing\b|package\b|utils\.(cpp_extension|dlpack|_)|compiler\b|compile\b"
    r"|fx\b|export\b|cuda\._|jit\.(?!Final\b|ignore\b|unused\b|is_scripting|is_tracing|annotate\b|export\b)|overrides\b"
    r"|library\b|futures\b|profiler\b|save\b|load\b|from_file\b|serialization\b|func\.functional_call\b"
    r"|set_(default|num|float32|deterministic|flush|printoptions|rng|autocast|warn)|use_deterministic|seed\b"
    r"|backends\.\w+\.(flags|sdp_kernel|enable_|preferred_)|cuda\.(memory\b|set_(?!device)|caching_allocator|CUDAGraph\b|graphs\b)"
    r"|utils\.(model_zoo|collect_env|data|bundled_inputs|file_baton|hipify|serialization|viz|weak)\b)"
    r"|triton\.(_|backends\b|compiler\b|runtime\.(?!jit|autotuner|driver)|tools\.(?!tensor_descriptor)"
    r"|profiler\b|knobs\b)"
)
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
})  # fmt: skip
MODULES = frozenset({
    "torch", "torch.nn", "torch.nn.functional", "torch.cuda", "torch.backends", "torch.utils", "torch.autograd",
    "triton", "triton.language", "triton.runtime", "math", "functools", "itertools", "operator", "types", "typing",
    "collections", "contextlib", "copy", "dataclasses", "enum", "abc", "warnings", "numbers", "fractions",
})  # fmt: skip
DUNDERS = frozenset({"__init__", "__name__", "__doc__", "__len__", "__post_init__", "__version__", "__qualname__"})
BUILTINS = frozenset({
    "exec", "eval", "compile", "open", "input", "breakpoint", "globals", "locals", "vars", "memoryview", "delattr",
    "__import__", "__builtins__", "__loader__", "__spec__", "__file__", "__build_class__", "__debug__", "help",
})  # fmt: skip
REGISTER = ("self.register_buffer", "self.register_parameter", "self.add_module", "self.register_module")
KINDS = re.compile(r"types\.FunctionType|torch\.nn\.modules\.\w+\._\w+")  # asked for by ``isinstance`` only
HOOKS = frozenset({
    "__torch_function__", "__torch_dispatch__", "__getattribute__", "__reduce__", "__reduce_ex__", "__del__",
    "__set_name__", "__init_subclass__", "__prepare__", "__subclasscheck__", "__instancecheck__", "__index__", "__eq__",
})  # fmt: skip


def outside(tree: ast.Module) -> Iterator[str]:
    """What a text says that is not part of the language of candidates, as the text says it."""
    roots, own, parents = _roots(tree), own_names(tree), _parents(tree)
    kernels = _kernels(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield from _attribute(node, roots, own, parents)
        elif isinstance(node, ast.Name):
            yield from _name(node, roots, own, kernels, parents)
        elif isinstance(node, ast.MatchClass):  # patterns read attributes, too
            yield from (f"case {name}" for name in node.kwd_attrs if private(name))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name in HOOKS:
            yield f"def {node.name}"
        elif isinstance(node, ast.ClassDef) and any(k.arg == "metaclass" for k in node.keywords):
            yield f"class {node.name}(metaclass=...)"


def closed(name: str) -> bool:
    """Whether a qualified name is of a part of torch or triton that candidates may not use."""
    return CLOSED.match(name) is not None


def private(name: str, own: frozenset[str] | set[str] = frozenset()) -> bool:
    """Whether an attribute's name is of what lies behind an object's interface."""
    if name in MACHINE or name in PROGRAM:
        return name not in own
    return name.startswith("_") and name not in DUNDERS and name not in own


def _attribute(node: ast.Attribute, roots: dict[str, str], own: set[str], parents: dict[int, ast.AST]) -> Iterator[str]:
    chain = _chain(node, roots)
    changed = isinstance(node.ctx, ast.Store | ast.Del)
    parent = parents.get(id(node))
    if (
        private(node.attr, frozenset() if chain else own)
        and not _type_name(node, parent)
        and not (KINDS.fullmatch(chain) and "isinstance" not in own and _type_asked(parent, parents))
        and not (node.attr == "_version" and not changed)
    ):
        yield ast.unparse(node)
    elif chain and (closed(chain) or changed):
        yield chain + (" = ..." if changed else "")


def _type_name(node: ast.Attribute, parent: ast.AST | None) -> bool:
    """``self.__class__.__name__``: what a module is called, for messages."""
    return node.attr == "__class__" and isinstance(parent, ast.Attribute) and parent.attr in DUNDERS


def _type_asked(parent: ast.AST | None, parents: dict[int, ast.AST]) -> bool:
    """Whether it is named only to ask ``isinstance``."""
    if isinstance(parent, ast.Tuple):
        parent = parents.get(id(parent))
    return isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "isinstance"


def _name(
    node: ast.Name, roots: dict[str, str], own: set[str], kernels: set[str], parents: dict[int, ast.AST]
) -> Iterator[str]:
    parent = parents.get(id(node))
    if node.id in BUILTINS and node.id not in own:
        yield node.id
    elif node.id in roots and isinstance(node.ctx, ast.Load) and closed(roots[node.id]):
        yield roots[node.id]
    elif node.id in roots and _module_as_value(node, roots, parent):
        yield f"{roots[node.id]} as a value"
    elif node.id in kernels and isinstance(parent, ast.Call) and node in parent.args:
        asked = parent.func.id if isinstance(parent.func, ast.Name) else ""
        if asked in ("type", "isinstance", "hasattr", "getattr", "dir", "repr", "str", "callable", "setattr", "id"):
            yield ast.unparse(parent)  # what a kernel is shows who runs it


def _module_as_value(node: ast.Name, roots: dict[str, str], parent: ast.AST | None) -> bool:
    """Whether a module is handed on, beyond where text can follow it."""
    if roots[node.id] not in MODULES or not isinstance(node.ctx, ast.Load) or isinstance(parent, ast.Attribute):
        return False
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        return False
    asks = (
        isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id in ("getattr", "hasattr")
    )
    return not asks


def _roots(tree: ast.Module) -> dict[str, str]:
    """Names that imports bind, and plain aliases of them: ``F = nn.functional``; to what they stand for."""
    roots: dict[str, str] = {}
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
    return roots


def _chain(node: ast.expr, roots: dict[str, str]) -> str:
    """``torch.nn.functional.relu`` for what starts at an imported name, else ""."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not (isinstance(node, ast.Name) and node.id in roots):
        return ""
    return ".".join([roots[node.id], *reversed(parts)])


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
    functions = (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef))
    return {f.name for f in functions if any("jit" in ast.unparse(d) for d in f.decorator_list)}


def _parents(tree: ast.Module) -> dict[int, ast.AST]:
    return {id(child): node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}

"""Candidates in CUDA C++, as text: a Python module in KernelBench's form, whose strings hold the C++.

Such a text hands its strings to ``torch.utils.cpp_extension.load_inline``.  The Python around that call obeys the same
rules as Triton's wrappers (``candidate.subset``); the call itself becomes one to a builtin ``load_inline`` that the
judge gives the text, for what it names has been compiled before.  Of the C++ text only what has no place in a kernel or
its caller is objected to; what it calls is seen in what the compiler made of it, see ``kdata.verify.cuda.symbols``.
"""

from __future__ import annotations

import ast
import itertools
import math
import re
from collections.abc import Iterable, Sequence

from kdata.verify import reasons
from kdata.verify.candidate.source import LONGEST, MOST_NAMED, Objection, object_to
from kdata.verify.cuda import delays

LOADER = "load_inline"
MODULE = "torch.utils.cpp_extension"
IMPORTED = re.compile(r"^[ \t]*(?:import|from)[ \t]+triton\b|@[ \t]*triton\.", re.MULTILINE)
CUDA = re.compile(r"\bload_inline\b|\bcpp_extension\b|__global__")
SPLICE = re.compile(r"\\[ \t\r\f\v]*\n")  # where a line goes on
LEXED = re.compile(  # comments and, where what looks like them is none, strings, raw ones, and characters
    r"(?P<comment>//[^\n]*|/\*.*?\*/)|(?<!\w)(?:u8|[uUL])?R\"(?P<end>[^\s()\\]{0,16})\(.*?\)(?P=end)\""
    r"|\"(?:[^\"\\\n]|\\.)*\"|(?<!\w)(?:u8|[uUL])?'(?:[^'\\\n]|\\.)*'", re.DOTALL
)  # fmt: skip
ATTRIBUTE = re.compile(r"__(?:launch_bounds|cluster_dims|maxnreg|block_size|attribute)__\s*\((?:[^()]|\([^()]*\))*\)")
KERNEL = re.compile(r"__global__[^;{()]*?\b(\w+)\s*\(")
LIBRARIES = re.compile(
    r"#\s*include\s*[<\"]([^>\"]*(?:cublas|cudnn|cusparse|cusolver|cufft|curand\.h|cutensor|nvrtc|nvJitLink|cutlass"
    r"|thrust/|ATen/native|ATen/cuda/CUDABlas|ATen/cudnn)[^>\"]*)[>\"]", re.IGNORECASE
)  # fmt: skip
MACHINE = re.compile(
    r"#\s*include\s*[<\"]((?:sys/|linux/|arpa/|net|unistd|dlfcn|fcntl|signal|pthread|thread|future|fstream|filesystem"
    r"|spawn|pybind11/(?:embed|eval)|torch/csrc/jit|frameobject)[^>\"]*)[>\"]"
)
BEHIND = re.compile(
    r"\b(TorchDispatchModeTLS|profilerEnabled|Exclude\w*Guard|Include\w*Guard|DispatchKey\w*|redispatch|Dispatcher|TORCH_LIBRARY\w*|torch::jit\S*"
    r"|py::(?:exec|eval|globals|module_?::import|cast|object)\b|pybind11::(?:exec|eval|globals)\b|PyRun_\w+|PyEval_\w+"
    r"|PyImport_\w+|PyObject_\w+|PyDict_\w+|dlopen|dlsym|dlmopen|mprotect|ptrace|popen|execv\w*|execl\w*|fork|getenv"
    r"|cuLaunch\w+|cuModule\w+|cuLibrary\w+|cuGetProcAddress\w*|nvrtc\w+|cudaGraph\w*|cudaStreamBeginCapture"
    r"|cudaDeviceSetLimit|cudaStreamSetAttribute|cudaCtxResetPersistingL2Cache"
    r"|__wrap_\w+|__real_\w+|kdata_\w+)|(?<![\w.>:])(?:std\s*::\s*)?(system|socket|syscall)\s*\("
)
ENVIRONMENT = re.compile(r"os\.environ\['(TORCH_CUDA_ARCH_LIST|MAX_JOBS|CC|CXX|CUDA_HOME|TORCH_EXTENSIONS_DIR)'\]")
INTEGER = re.compile(r"(?<![\w.])\d+(?![\w.])")
NUMBER = re.compile(r"(?<![\w.])(\d+\.\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?|\d+e[+-]?\d+)f?\b", re.IGNORECASE)


def language_of(text: str) -> str:
    """The language of a candidate's text: "cuda" if it compiles CUDA C++ and imports no Triton, else "triton"."""
    return "cuda" if CUDA.search(text) and not IMPORTED.search(text) else "triton"


def python_part(text: str) -> str:
    """The text with its calls of ``load_inline`` turned into calls of a builtin, and no import of what compiles.

    Text that does not parse is returned as it is.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    tree.body = [statement for statement in tree.body if not _chooses_compiler(statement)]
    asked = any(isinstance(node, ast.Name) and node.id == "os" for node in ast.walk(tree))
    return ast.unparse(ast.fix_missing_locations(_Loader(_names(tree), asked).visit(tree)))


def object_to_text(text: str) -> Objection | None:
    """The first reason not to run a candidate's text, None if there is none. Its C++ is not looked at."""
    python = text if len(text) > LONGEST else python_part(text)
    if objection := object_to(python):
        return objection
    if not any(isinstance(n, ast.Name) and n.id == LOADER for n in ast.walk(ast.parse(python))):
        return Objection(reasons.NO_KERNEL, f"no call of {MODULE}.{LOADER}")
    return None


def object_to_sources(sources: Sequence[str]) -> Objection | None:
    """The first reason not to compile C++ texts: libraries that do the work, the machine, torch's inner parts."""
    plain = [as_read(text) for text in sources]
    for text in plain:
        if found := LIBRARIES.search(text):
            return Objection(reasons.ATEN, f"includes {found[1]}")
        if found := MACHINE.search(text):
            return Objection(reasons.BEHIND, f"includes {found[1]}")
        if found := BEHIND.search(LEXED.sub('""', text)):
            return Objection(reasons.BEHIND, f"C++: {found[1] or found[2]}"[:200])
        if found := delays.ASKED.search(text):
            return Objection(reasons.BEHIND, f"C++: {found[0].strip()}"[:200])
    if not kernel_names(plain):
        return Objection(reasons.NO_KERNEL, "the C++ has no __global__ function")
    return None


def as_read(text: str) -> str:
    """C++ as its compiler reads it: split lines are one, comments are blanks but not within strings, ``%:`` is ``#``.

    Source: ISO C++20 [lex.phases], [lex.digraph].
    """
    joined = SPLICE.sub("", text)
    return LEXED.sub(lambda found: " " if found["comment"] else found[0], joined).replace("%:", "#")


def kernel_names(sources: Iterable[str]) -> set[str]:
    """The names of the ``__global__`` functions of C++ texts."""
    plain = (ATTRIBUTE.sub(" ", as_read(text)) for text in sources)
    return {name for text in plain for name in KERNEL.findall(text)}


def values_named(text: str) -> tuple[float, ...]:
    """Numbers with a fraction that a text's C++ names, and what lies midway: inputs at which it may do other things."""
    found = {float(n) for part in _parts(text) for n in NUMBER.findall(part)}
    numbers = sorted(n for n in found if 0 < n < math.inf)[:MOST_NAMED]
    midway = [(a + b) / 2 for a, b in itertools.pairwise(numbers)]
    return tuple(dict.fromkeys((*numbers, *midway)))


def integers_named(text: str) -> set[int]:
    """Whole numbers that a text's C++ names."""
    return {int(n) for part in _parts(text) for n in INTEGER.findall(part)}


def _parts(text: str) -> list[str]:
    """The C++ of a text, without its comments."""
    strings = [n.value for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return [as_read(s) for s in strings if CUDA.search(s)]


def _chooses_compiler(statement: ast.stmt) -> bool:
    """Whether it only sets a variable that compilers look at: which compiles, and for what, is chosen here."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Constant):
        return False
    return all(ENVIRONMENT.fullmatch(ast.unparse(target)) for target in statement.targets)


def _names(tree: ast.Module) -> dict[str, str]:
    """What the text calls the module that compiles, and its ``load_inline``; to what they stand for."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == MODULE:
                    names[alias.asname or MODULE] = MODULE
                elif alias.name in ("torch", "torch.utils"):
                    root, stands_for = (alias.asname, alias.name) if alias.asname else ("torch", "torch")
                    names[root + MODULE.removeprefix(stands_for)] = MODULE
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                if full in (MODULE, f"{MODULE}.{LOADER}"):
                    names[alias.asname or alias.name] = full
                elif full == "torch.utils":
                    names[f"{alias.asname or alias.name}.cpp_extension"] = MODULE
    return names


class _Loader(ast.NodeTransformer):
    def __init__(self, names: dict[str, str], asks_system: bool) -> None:
        self._left_out = () if asks_system else ("os",)
        self._loaders = {name if full != MODULE else f"{name}.{LOADER}" for name, full in names.items()}

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """``torch.utils.cpp_extension.load_inline``."""
        if ast.unparse(node) in self._loaders:
            return ast.copy_location(ast.Name(LOADER, node.ctx), node)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """``load_inline``, or what the text calls it."""
        return ast.copy_location(ast.Name(LOADER, node.ctx), node) if node.id in self._loaders else node

    def visit_Import(self, node: ast.Import) -> ast.AST:
        """Without what compiles; ``import torch.utils.cpp_extension`` binds torch all the same."""
        for alias in node.names:
            if alias.name == MODULE:
                alias.name, alias.asname = "torch", None
        node.names = [a for a in node.names if (a.asname or a.name) not in self._left_out]
        return node if node.names else ast.copy_location(ast.Pass(), node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        """Likewise."""
        node.names = [a for a in node.names if f"{node.module}.{a.name}" not in (MODULE, f"{MODULE}.{LOADER}")]
        return node if node.names else ast.copy_location(ast.Pass(), node)

"""What can be said of a candidate's text before it runs: triage with clear reasons. The authority is running it."""

from __future__ import annotations

import ast
import importlib.util
import itertools
import math
import re
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kdata.task import INIT_INPUTS, INPUTS, unparsable
from kdata.verify import reasons
from kdata.verify.candidate.subset import closed, jitted, outside
from kdata.verify.constants import name_of, sayable, whole

LONGEST = 400_000  # characters
PURE = frozenset({
    "__future__", "abc", "collections", "contextlib", "copy", "dataclasses", "enum", "fractions", "functools",
    "itertools", "math", "numbers", "operator", "types", "typing", "typing_extensions", "warnings",
})  # fmt: skip
DESCRIPTORS = ("make_tensor_descriptor", "TensorDescriptor", "from_tensor")  # what is called to make one
# Of these ``subset.CLOSED`` says what is not for candidates.
ENGINES = frozenset({"torch", "triton", "packaging", "logging", "random", "numpy"})
NEVER_IMPORTED = re.compile(r"(torch|triton)\.testing")
BLOCK_SIZES = (32, 64, 128, 256, 512, 1024, 2048, 4096)
MOST_NAMED, MOST_VALUES = 8, 48
MOST_WHOLE = 1 << 10  # larger whole numbers are sizes
# What is cut off at a number is seen a little beyond it: far from it, as natural draws are, it may be next to nothing.
BESIDE, FAR = (1 + 1 / 64, 1 - 1 / 64), 1e30
LEAST_OF = frozenset({"minimum", "maximum", "clamp", "min", "max"})
READS_BITS = re.compile(r"bitcast|view\(.*int")
ASKS_HOW = re.compile(
    r"train|eval|grad|infer|leaf|\bmode|hook|attr|(?<!init)__(?!init__)|\bvars\b|\btry\b|version|output_nr|_base\b|_is_view|"
    r"suppress|\b(?:repr|ascii|format|str)\b|\b[rR]?[fF][rR]?[\"']"  # a refused call let pass, and what a tensor prints
)
ONE = 0x3F800000  # the bits of 1.0 in float32
COOKIE = re.compile(r"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")  # as PEP 263 has it
UTF8 = frozenset({"utf-8", "utf8", "u8", "utf", "utf-8-sig", "ascii", "us-ascii"})


@dataclass(frozen=True, slots=True)
class Objection:
    """Why a text will not be run."""

    reason: str
    detail: str


def object_to(text: str) -> Objection | None:
    """The first reason not to run a candidate's text, None if there is none."""
    if len(text) > LONGEST:
        return Objection(reasons.TOO_LONG, f"{len(text)} characters, at most {LONGEST}")
    if cookie := _cookie(text):
        return Objection(reasons.BEHIND, f"another text when read as {cookie}")
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Objection(reasons.NOT_PYTHON, unparsable(error))
    if not sayable(tree):
        return Objection(reasons.NOT_PYTHON, "an integer of more digits than Python prints")
    if not any(isinstance(s, ast.ClassDef) and s.name == "ModelNew" for s in tree.body):
        return Objection(reasons.NO_MODEL_NEW, "the kernel file defines no class ModelNew")
    tree.body = [s for s in tree.body if not _is_main(s)]
    for name in _imports(tree):
        if objection := object_to_import(name):
            return objection
    said = next(outside(tree), None)
    return Objection(reasons.BEHIND, said[:200]) if said else None


def _cookie(text: str) -> str:
    """The encoding that a comment in the first two lines names, "" where that is UTF-8 or there is none."""
    found = [m[1] for line in text.splitlines()[:2] if (m := COOKIE.match(line))]
    return next((name for name in found if name.lower().replace("_", "-") not in UTF8), "")


def _is_main(statement: ast.stmt) -> bool:
    """Whether it is ``if __name__ == "__main__":``, which never runs here."""
    return isinstance(statement, ast.If) and ast.unparse(statement.test) == "__name__ == '__main__'"


def defines_kernel(text: str) -> bool:
    """Whether a function is decorated with triton.jit."""
    return any(jitted(ast.parse(text)))


def describes(text: str) -> bool:
    """Whether a text calls for tensor descriptors."""
    calls = (n.func for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Call))
    return any(getattr(f, "attr", getattr(f, "id", "")).endswith(DESCRIPTORS) for f in calls)


def integers(text: str) -> set[int]:
    """The integer literals of the kernels and of ``ModelNew``: of the text without the task it may hold too."""
    body = [s for s in ast.parse(text).body if _of_candidate(s) or isinstance(s, ast.FunctionDef)]
    found = (n.value for s in body if getattr(s, "name", "") not in (INPUTS, INIT_INPUTS) for n in ast.walk(s)
             if isinstance(n, ast.Constant))  # fmt: skip
    return {v for v in found if type(v) is int}


def landmarks(text: str) -> list[int]:
    """Whole numbers beyond 2, no powers of two, that the kernels or their launches name: programs they may single out.

    Sums, products and the like of numbers count as what they come to; of a large one its shares by blocks, too.
    """
    tree = ast.parse(text)
    launches = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Subscript)]
    named = {abs(v) for part in [*jitted(tree), *launches] for n in ast.walk(part) if (v := whole(n)) is not None}
    named = {v for v in named if v > 2 and v & (v - 1)}
    shares = {v // block for v in named for block in BLOCK_SIZES if v // block > 2}
    return sorted(named)[:MOST_NAMED] + sorted(shares - named)[:MOST_NAMED]


def values_named(text: str) -> tuple[float, ...]:
    """Numbers with a fraction, numbers that kernels compare with, what lies between and beside these, and bits.

    Inputs at which a kernel may do other than it does elsewhere. A kernel may be given them, so they may stand anywhere
    in the text. Of bits that it names there are the float that has them, and one that ends in them. What is an ``int``
    here is for inputs of integers alone: among others of a usual size nothing else would be seen.
    """
    tree = ast.parse(text)
    compared = [c for kernel in jitted(tree) for c in ast.walk(kernel) if isinstance(c, ast.Compare) or _limits(c)]
    said = {n.value for c in compared for n in ast.walk(c) if isinstance(n, ast.Constant)}
    numbers = sorted(abs(v) for v in said if type(v) is float and 0 < abs(v) < math.inf)
    midway = [(a + b) / 2 for a, b in itertools.pairwise(numbers)]
    whole = sorted(float(v) for v in said if type(v) is int and 2 < v < MOST_WHOLE)
    anywhere = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and type(n.value) is float}
    others = sorted({abs(v) for v in anywhere if 0 < abs(v) < math.inf} - {*numbers})
    named = dict.fromkeys((*numbers[:MOST_NAMED], *midway[:MOST_NAMED], *_bits(text, said), *whole[:MOST_NAMED]))
    beside = [v * by for v in (*numbers[:MOST_NAMED], *whole[:MOST_NAMED], *others[:MOST_NAMED]) for by in BESIDE]
    large = sorted(v for v in said if type(v) is int and MOST_WHOLE <= v < 1 << 31)[:MOST_NAMED]
    return tuple(dict.fromkeys((*named, *others[:MOST_VALUES], *(v for v in beside if v < FAR), *large)))


def _limits(node: ast.AST) -> bool:
    """Whether it keeps something on one side of a number, as a comparison may, or below it by a rest or a mask."""
    if isinstance(node, ast.Call):
        return name_of(node.func) in LEAST_OF
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod | ast.BitAnd)


def _bits(text: str, said: Iterable[object]) -> Iterator[float]:
    """Floats of which a text that looks at bits names the bits: all of them, or the last ones."""
    if READS_BITS.search(text):
        bits = sorted(v for v in said if type(v) is int and 2 < v < 1 << 31)[:MOST_NAMED]
        found = [struct.unpack("<f", struct.pack("<I", v if v >= 1 << 23 else ONE | v))[0] for v in bits]
        yield from (v for v in found if math.isfinite(v))


def asks_how(text: str) -> bool:
    """Whether a text has words by which it could find out in which mode, or with which gradients, it is called."""
    return bool(ASKS_HOW.search(text))


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{'.' * node.level}{node.module or ''}.{a.name}".replace("..", ".") for a in node.names)


def object_to_import(name: str) -> Objection | None:
    """Why a candidate may not import this module, or this member of a module; None if it may."""
    top = name.partition(".")[0]
    if top in PURE:
        return None
    if top in ENGINES:
        return Objection(reasons.FORBIDDEN_IMPORT, name) if closed(name) or NEVER_IMPORTED.match(name) else None
    if top and not _present(top):
        return Objection(reasons.ABSENT_PACKAGE, top)
    return Objection(reasons.FORBIDDEN_IMPORT, name)


def _present(top: str) -> bool:
    try:
        return importlib.util.find_spec(top) is not None
    except (ImportError, ValueError):
        return False


def task_part(text: str) -> str:
    """The task of a file that may hold a candidate too: what its two functions and its module need, and no kernels.

    Text that does not parse, or holds no ``ModelNew``, is returned as it is.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    if not any(isinstance(s, ast.ClassDef) and s.name == "ModelNew" for s in tree.body):
        return text
    tree.body = _task([part for s in tree.body for part in _apart(s) if not _of_candidate(part)])
    return ast.unparse(tree)


def _task(body: list[ast.stmt]) -> list[ast.stmt]:
    """The task's functions and modules, and what these need."""
    wanted = {INPUTS, INIT_INPUTS, "Model"}
    if not any(_binds(s) & {"Model"} for s in body):
        wanted |= {name for s in body if isinstance(s, ast.ClassDef) for name in _binds(s)}
    return needed(body, frozenset(wanted))


def needed(body: list[ast.stmt], wanted: frozenset[str]) -> list[ast.stmt]:
    """Imports, what binds the wanted names, and the definitions that these use, directly or not."""
    while True:
        kept = [s for s in body if isinstance(s, ast.Import | ast.ImportFrom) or _binds(s) & wanted]
        more = wanted | {n.id for s in kept for n in ast.walk(s) if isinstance(n, ast.Name)}
        if more == wanted:
            return kept
        wanted = more


def _binds(statement: ast.stmt) -> set[str]:
    """The names that a statement defines at the top level."""
    return {name for node in _outside_of_functions(statement) for name in _bound(node)}


def _outside_of_functions(statement: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a statement but for what runs in a scope of its own."""
    yield statement
    if not isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        for child in ast.iter_child_nodes(statement):
            yield from _outside_of_functions(child)


def _bound(node: ast.AST) -> set[str]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name.partition(".")[0] for alias in node.names}
    return {node.id} if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else set()


def _apart(statement: ast.stmt) -> Iterator[ast.stmt]:
    """A statement, or imports one by one: ``import torch, triton`` is the task's and the candidate's."""
    if isinstance(statement, ast.Import):
        yield from (ast.Import([name]) for name in statement.names)
    elif isinstance(statement, ast.ImportFrom):
        yield from (ast.ImportFrom(statement.module, [name], statement.level) for name in statement.names)
    else:
        yield statement


def _of_candidate(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.ClassDef):
        return statement.name == "ModelNew"
    if isinstance(statement, ast.FunctionDef):
        return any("triton" in ast.unparse(d) for d in statement.decorator_list)
    if isinstance(statement, ast.Import | ast.ImportFrom):
        module = statement.module if isinstance(statement, ast.ImportFrom) else ""
        named = [f"{module}.{a.name}" if module else a.name for a in statement.names]
        return any(name.partition(".")[0] == "triton" or "cpp_extension" in name for name in named)
    return False

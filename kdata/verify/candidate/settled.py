"""What a text asks of the machine whose answer is known, and what changes nothing there: written out before it is read.

Kernels of libraries ask for switches in the environment, which nobody has set, for the version of triton, and keep
``torch.compile`` from some functions.  The trusted side.  Each is put where it stands as the answer is, so that nothing
asks at run time.  Only switches of these libraries' own, by their names in full: what is set on every machine, or here,
would tell a text where it runs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

LIBRARIES = "LIGER|FLA|GEMS|FLAGGEMS|FLAG_GEMS|UNSLOTH|XFORMERS|FLASH_ATTN|FLASH_ATTENTION|MAMBA|SGLANG|VLLM|QUACK"
SWITCH = re.compile(rf"({LIBRARIES})_[A-Z0-9_]+")
SPEAKS = frozenset({"TRITON_PRINT_AUTOTUNING", "TOKENIZERS_PARALLELISM"})  # what may be set, for it changes no answer
VERSIONS = ("triton", "torch")
UNCOMPILED = re.compile(r"torch\.(compiler\.disable|_dynamo\.disable|_disable_dynamo)(\((recursive=(True|False))?\))?")
Place = tuple[int, int, int, int]  # first line and column, last ones; columns in bytes


def settled(text: str) -> str:
    """The text with such answers in it; as it is where there are none, or lines are not what they seem."""
    try:
        tree = ast.parse(text)
        known = _modules(tree)
        changes = [*_answers(tree, known), *_left_out(tree, known)]
        if not changes:
            return text
        other = _written(text, changes)
        ast.parse(other)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    return other


def _modules(tree: ast.Module) -> dict[str, str]:
    """Names that one import at the top level binds, and nothing else in the text, and to what."""
    found: dict[str, str] = {}
    for statement in tree.body:
        if isinstance(statement, ast.Import):
            found |= {a.asname or a.name.partition(".")[0]: a.name if a.asname else a.name.partition(".")[0]
                      for a in statement.names}  # fmt: skip
        elif isinstance(statement, ast.ImportFrom) and not statement.level:
            found |= {a.asname or a.name: f"{statement.module}.{a.name}" for a in statement.names}
    return {name: module for name, module in found.items() if not _bound_otherwise(tree, name, module)}


def _bound_otherwise(tree: ast.Module, name: str, module: str) -> bool:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load):
            return True
        if name in (getattr(node, "arg", ""), getattr(node, "name", "")) and not isinstance(node, ast.alias):
            return True
        if isinstance(node, ast.alias) and name in (node.asname, node.name) and not module.endswith(node.name):
            return True
    return False


def _chain(node: ast.AST, known: dict[str, str]) -> str:
    """``os.environ.get`` for what starts at an imported name, else ""."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    start = known.get(node.id, "") if isinstance(node, ast.Name) else ""
    return ".".join([start, *reversed(parts)]) if start else ""


def _answers(tree: ast.Module, known: dict[str, str]) -> Iterator[tuple[Place, str]]:
    """Expressions, each with what it comes to."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and not node.keywords and all(isinstance(a, ast.Constant) for a in node.args):
            said = [a.value for a in node.args if isinstance(a, ast.Constant)]
            if answer := _called(_chain(node.func, known), said, known):
                yield _place(node), answer
        elif isinstance(node, ast.Compare) and isinstance(node.left, ast.Constant) and _is_switch(node.left.value):
            there, asked = _chain(node.comparators[0], known), node.ops[0]
            if len(node.ops) == 1 and there == "os.environ" and isinstance(asked, ast.In | ast.NotIn):
                yield _place(node), str(isinstance(asked, ast.NotIn))


def _called(function: str, given: Sequence[object], known: dict[str, str]) -> str:
    """What a call with these constants comes to, as text; "" where that is not known."""
    if function in ("os.environ.get", "os.getenv") and len(given) in (1, 2) and _is_switch(given[0]):
        return repr(given[1] if len(given) > 1 else None)
    version = function == "importlib.metadata.version" and len(given) == 1 and given[0] in VERSIONS
    return f"str({given[0]}.__version__)" if version and known.get(str(given[0])) == given[0] else ""


def _left_out(tree: ast.Module, known: dict[str, str]) -> Iterator[tuple[Place, str]]:
    """Statements and decorators that do nothing here."""
    for statement in tree.body:
        if isinstance(statement, ast.Assign | ast.Expr) and _is_set(statement, known):
            yield _place(statement), "pass"
    for node in ast.walk(tree):
        for decorator in getattr(node, "decorator_list", []):
            if known.get("torch") == "torch" and UNCOMPILED.fullmatch(ast.unparse(decorator)):
                first, column, last, end = _place(decorator)
                yield (first, column - 1, last, end), ""


def _is_set(statement: ast.Assign | ast.Expr, known: dict[str, str]) -> bool:
    """Whether it sets a switch to a text, once and for all."""
    if isinstance(statement, ast.Expr):
        call = statement.value
        setting = isinstance(call, ast.Call) and _chain(call.func, known) == "os.environ.setdefault"
        name = call.args[0] if setting and len(call.args) == 2 else None  # type: ignore[attr-defined]
        return isinstance(name, ast.Constant) and _may_be_set(name.value)
    target = statement.targets[0]
    named = isinstance(target, ast.Subscript) and _chain(target.value, known) == "os.environ"
    name = target.slice if named and len(statement.targets) == 1 else None  # type: ignore[attr-defined]
    plain = isinstance(statement.value, ast.Constant) and isinstance(name, ast.Constant)
    return plain and _may_be_set(name.value)  # type: ignore[union-attr]


def _is_switch(name: object) -> bool:
    return isinstance(name, str) and SWITCH.fullmatch(name) is not None


def _may_be_set(name: object) -> bool:
    return _is_switch(name) or name in SPEAKS


def _place(node: ast.stmt | ast.expr) -> Place:
    return node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


def _written(text: str, changes: list[tuple[Place, str]]) -> str:
    """The text with these in their places, and as many lines as before.

    Raises:
        ValueError: one stands on several lines, or a decorator does not stand alone.
    """
    lines = [line.encode() for line in text.split("\n")]
    for (first, column, last, end), other in sorted(changes, reverse=True):
        line = lines[first - 1]
        alone = not (line[:column].strip() or line[end:].strip())
        if first != last or (not other and not (alone and line[column : column + 1] == b"@")):
            raise ValueError(other)
        lines[first - 1] = line[:column] + other.encode() + line[end:]
    return b"\n".join(lines).decode()

"""Kernel text, step three: a matmul on 2-D tiles, as a person writes it.

Inductor computes with 3-D (batched: 4-D) index tensors and reshapes them for ``tl.dot``.  Here rows, columns and ``k``
are vectors, spread to ``[:, None]`` or ``[None, :]`` where they meet.
"""

from __future__ import annotations

import ast
import copy

from kdata.align.errors import AlignError
from kdata.align.simplify import Replace, assignments, call, names

# family of an index name -> subscript that spreads it, by where it stands
LEFT = {"y": "[:, None]", "r": "[None, :]"}
RIGHT = {"x": "[None, :]", "r": "[:, None]"}
OUTSIDE = {"y": "[:, None]", "x": "[None, :]"}


def flatten_tiles(function: ast.FunctionDef) -> None:
    """Rewrite a kernel with one ``tl.dot`` in place.

    Raises:
        AlignError: the kernel has another form than Inductor's native matmul.
    """
    body = next((s for s in function.body if isinstance(s, ast.For)), function).body
    position, left, right, product = _find_dot(body)
    prologue = [s for s in body[:position] if not _is_frame(s)]
    indices = [s for s in body[:position] if _is_frame(s) and not _is_dot(s)]
    tail = body[position:]
    a, left = _operand(prologue, left, LEFT, "left")
    b, right = _operand(prologue, right, RIGHT, "right")
    looped = body is not function.body
    accumulator = _accumulator(tail, product) if looped else None
    precision = ast.Constant("ieee")
    if looped:
        assert accumulator is not None
        dot = call("tl.dot", left, right, ast.Name(accumulator, ast.Load()), input_precision=precision)
        body[:] = [*indices, *a, *b, _assign(accumulator, dot)]
        after = function.body.index(next(s for s in function.body if isinstance(s, ast.For)))
        rest = [_squeeze(s) for s in function.body[after + 1 :]]
        aliases = [s for s in rest if isinstance(s, ast.Assign) and ast.unparse(s.value) == accumulator]
        renames: dict[str, ast.expr] = {ast.unparse(s.targets[0]): ast.Name(accumulator, ast.Load()) for s in aliases}
        rest = [Replace(renames).visit(s) for s in rest if s not in aliases]
        head = [_one_dimensional(s) if _is_frame(s) else _spread(_squeeze(s), OUTSIDE) for s in function.body[: after + 1]]
    else:
        dot = _assign(product, call("tl.dot", left, right, input_precision=precision))
        kept = [_spread(_squeeze(copy.deepcopy(s)), OUTSIDE) for s in _needed_by(tail, prologue)]
        head = [*(_one_dimensional(s) for s in indices), *a, *b, dot, *kept]
        rest = tail
    function.body = [*head, *(_spread(_squeeze(s), OUTSIDE) for s in rest)]
    _drop_batch_mask(function)


def _assign(name: str, value: ast.expr) -> ast.Assign:
    return ast.Assign([ast.Name(name, ast.Store())], value, lineno=0)


def _find_dot(body: list[ast.stmt]) -> tuple[int, ast.expr, ast.expr, str]:
    """Where the product stands, its operands' 3-D values, and its name."""
    where = {s.targets[0].id: s.value for s in body if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)}
    for position, statement in enumerate(body):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Attribute(attr="dot"), args=[a, b])):
                return position + 1, _unshaped(a, where), _unshaped(b, where), name
    raise AlignError("compiler output", "a matmul kernel without a product in its main loop")


def _unshaped(node: ast.expr, where: dict[str, ast.expr]) -> ast.expr:
    """What is under ``tl.trans(tl.reshape(value, ...))``, casts kept."""
    match node:
        case ast.Name(id=name) if name in where and _is_shaping(where[name]):
            return _unshaped(where[name], where)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="tl"), attr="reshape" | "trans" | "broadcast_to"), args=[value, *_]):
            return _unshaped(value, where)
        case ast.Call(func=ast.Attribute(value=value, attr="to"), args=[kind]):
            return ast.Call(ast.Attribute(_unshaped(value, where), "to", ast.Load()), [kind], [])
    return node


def _is_shaping(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) in ("tl.reshape", "tl.trans", "tl.broadcast_to")


def _operand(prologue: list[ast.stmt], root: ast.expr, spread: dict[str, str], side: str) -> tuple[list[ast.stmt], ast.expr]:
    """The statements that an operand is made by, in 2-D, under names of their own."""
    needed, chosen = names(root), []
    for statement in reversed(prologue):
        assert isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
        if statement.targets[0].id in needed:
            chosen.append(statement)
            needed |= names(statement.value)
    made = [s.targets[0].id for s in chosen]  # type: ignore[attr-defined]
    renamed: dict[str, ast.expr] = {n: ast.Name(f"{n}_{side}", ast.Load()) for n in made}
    copies: list[ast.stmt] = []
    for statement in reversed(chosen):
        assert isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
        value = _spread(_drop_shape(Replace(renamed).visit(copy.deepcopy(statement.value))), spread)
        copies.append(_assign(f"{statement.targets[0].id}_{side}", value))
    return copies, Replace(renamed).visit(copy.deepcopy(root))


class _DropShape(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        return node.args[0] if ast.unparse(node.func) == "tl.broadcast_to" else node


def _drop_shape(node: ast.expr) -> ast.expr:
    """Spread vectors broadcast by themselves."""
    changed: ast.expr = _DropShape().visit(node)
    return changed


def _accumulator(tail: list[ast.stmt], product: str) -> str:
    """The loop-carried name that the product is added to."""
    aliases = {product}
    for statement in tail:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            read, target = names(statement.value), statement.targets[0].id
            if isinstance(statement.value, ast.BinOp) and read & aliases:
                return (read - aliases).pop()
            if read & aliases:
                aliases.add(target)
    raise AlignError("compiler output", "a matmul whose product is not accumulated")


def _family(name: str) -> str:
    """'x', 'y', 'r' for names of indices, parts of indices and masks; '' for others."""
    head, _, _ = name.partition("_")
    is_index = name.endswith(("index", "mask")) or "_part" in name or (head[:1] in set("xyzr") and head[1:].isdigit())
    return name[0] if is_index and name[0] in "xyzr" else ""


class _Spread(ast.NodeTransformer):
    def __init__(self, spread: dict[str, str]) -> None:
        self.spread = spread

    def visit_Name(self, node: ast.Name) -> ast.expr:
        family = _family(node.id)
        if not isinstance(node.ctx, ast.Load) or family in ("", "z"):
            return node
        if family not in self.spread:
            raise AlignError("compiler output", f"a matmul operand that depends on {node.id}")
        return ast.parse(node.id + self.spread[family], mode="eval").body


def _spread(node: ast.AST, spread: dict[str, str]) -> ast.AST:
    if isinstance(node, ast.stmt) and _defines_index(node):
        return node
    return _Spread(spread).visit(node)


def _defines_index(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name) and bool(
        _family(statement.targets[0].id)
    )  # fmt: skip


class _Unindex(ast.NodeTransformer):
    """Remove ``[:, None, None]`` from vectors and ``[:, :, None]`` from tiles."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        return node.value if isinstance(node.slice, ast.Tuple) else node


def _one_dimensional(statement: ast.stmt) -> ast.stmt:
    """Index definitions as vectors; other statements as they are."""
    if isinstance(statement, ast.For):
        statement.body = [_one_dimensional(s) for s in statement.body]
        return statement
    base = isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "r0_base"
    if base or _defines_index(statement):
        changed: ast.stmt = _Unindex().visit(statement)
        return changed
    return statement


def _needed_by(tail: list[ast.stmt], prologue: list[ast.stmt]) -> list[ast.stmt]:
    """The statements before the product that what follows it reads, in order."""
    needed, chosen = {n for s in tail for n in names(s)}, []
    for statement in reversed(prologue):
        if ast.unparse(statement.targets[0]) in needed:  # type: ignore[attr-defined]
            chosen.insert(0, statement)
            needed |= names(statement)
    return chosen


def _is_dot(statement: ast.stmt) -> bool:
    return "tl.dot(" in ast.unparse(statement)


def _is_frame(statement: ast.stmt) -> bool:
    """The loop, an index, a block's start, an accumulator or a product: what is laid out already."""
    if not isinstance(statement, ast.Assign) or _defines_index(statement):
        return True
    text = ast.unparse(statement)
    return "offset" in text.partition("=")[0] or "r0_base" in text.partition("=")[0] or "tl.dot(" in text or (
        "tl.zeros(" in text or "tl.full(" in text
    )


def _squeeze(statement: ast.stmt) -> ast.stmt:
    changed: ast.stmt = _Unindex().visit(_DropShape().visit(statement))
    return changed


def _drop_batch_mask(function: ast.FunctionDef) -> None:
    """The batch runs over one program each: no block, no mask."""
    single = assignments(function)
    if "zindex" not in single:
        return
    program = next(n for n in ast.walk(single.get("zoffset", single["zindex"])) if _is_program_id(n))
    wide = ast.Call(ast.Attribute(program, "to", ast.Load()), [ast.parse("tl.int64", mode="eval").body], [])  # type: ignore[arg-type]
    function.body = [s for s in function.body if not _assigns(s, ("zoffset", "zmask"))]
    for statement in function.body:
        if _assigns(statement, ("zindex",)):
            statement.value = wide  # type: ignore[attr-defined]
    _WithoutMask("zmask").visit(function)


def _is_program_id(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "tl.program_id"


def _assigns(statement: ast.stmt, which: tuple[str, ...]) -> bool:
    return isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) in which


class _WithoutMask(ast.NodeTransformer):
    """Remove one name from conjunctions."""

    def __init__(self, mask: str) -> None:
        self.mask = mask

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.op, ast.BitAnd):
            if ast.unparse(node.left) == self.mask:
                return node.right
            if ast.unparse(node.right) == self.mask:
                return node.left
        return node

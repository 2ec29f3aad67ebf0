"""Kernel text, step three: a matmul on 2-D tiles, as a person writes it.

Inductor computes with 3-D (batched: 4-D) index tensors and reshapes them for ``tl.dot``.  Here rows are ``[:, None]``
and columns ``[None, :]``, and ``k`` is a vector, spread either way where it meets them.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass

from kdata.align.errors import AlignError
from kdata.align.trees import Replace, Transformer, assigned, assignments, call, names, walk

# family of an index name -> subscript that spreads it, by where it stands
LEFT = {"y": "[:, None]", "r": "[None, :]"}
RIGHT = {"x": "[None, :]", "r": "[:, None]"}
OUTSIDE = {"y": "[:, None]", "x": "[None, :]"}
OUTRIGHT = {"yindex": "[:, None]", "xindex": "[None, :]"}


@dataclass(slots=True)
class _Product:
    """One ``tl.dot`` of a kernel: its operands' values before Inductor shaped them, and its name."""

    left: ast.expr
    right: ast.expr
    name: str


def flatten_tiles(function: ast.FunctionDef) -> None:
    """Rewrite a kernel with ``tl.dot`` in place; several products may share its loop.

    Raises:
        AlignError: the kernel has another form than Inductor's native matmul.
    """
    loops = [s for s in function.body if isinstance(s, ast.For)]
    if len(loops) > 1:
        raise AlignError("compiler output", "a matmul kernel with several loops")
    body = loops[0].body if loops else function.body
    last, products = _find_products(body)
    prologue = [s for s in body[:last] if not _is_frame(s)]
    frame = [s for s in body[:last] if _is_frame(s) and not _is_dot(s)]
    tail = body[last:]
    made: dict[str, str] = {}
    operands = [(_operand(prologue, p.left, LEFT, "left", made), _operand(prologue, p.right, RIGHT, "right", made))
                for p in products]  # fmt: skip
    loads = [s for (a, _), (b, _) in operands for s in (*a, *b)]
    if loops:
        sums = [_accumulator(body, p.name) for p in products]
        body[:] = [*frame, *loads]
        body += [assigned(acc, _dot(a, b, acc)) for acc, ((_, a), (_, b)) in zip(sums, operands, strict=True)]
        function.body = _around(function.body, loops[0], sums)
    else:
        dots = [assigned(p.name, _dot(a, b)) for p, ((_, a), (_, b)) in zip(products, operands, strict=True)]
        kept = [_spread(_squeeze(copy.deepcopy(s)), OUTSIDE) for s in _needed_by(tail, prologue)]
        head = [*(_one_dimensional(s) for s in frame), *loads, *dots, *kept]
        function.body = [*head, *(_spread(_squeeze(s), OUTSIDE) for s in tail)]  # type: ignore[list-item]
    _drop_batch_mask(function)
    _OutrightTiles().visit(function)


class _OutrightTiles(Transformer):
    """Rows are ``[:, None]`` and columns ``[None, :]`` from the start; only ``k`` is spread where it is used."""

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        self.generic_visit(node)
        target = ast.unparse(node.targets[0])
        if target in OUTRIGHT:
            _Arange(OUTRIGHT[target]).visit(node)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        spread = isinstance(node.value, ast.Name) and OUTSIDE.get(_family(node.value.id))
        return node.value if spread and ast.unparse(node).endswith(spread) else node


class _Arange(Transformer):
    def __init__(self, spread: str) -> None:
        self.spread = spread

    def visit_Call(self, node: ast.Call) -> ast.expr:
        text = ast.unparse(node)
        return ast.parse(text + self.spread, mode="eval").body if text.startswith("tl.arange(") else node


def _dot(left: ast.expr, right: ast.expr, accumulator: str = "") -> ast.Call:
    added = [ast.Name(accumulator, ast.Load())] if accumulator else []
    return call("tl.dot", left, right, *added, input_precision=ast.Constant("ieee"))


def _around(body: list[ast.stmt], loop: ast.For, sums: list[str]) -> list[ast.stmt]:
    """The kernel's statements before and after its loop, in two dimensions."""
    at = body.index(loop)
    head = [_one_dimensional(s) if _is_frame(s) else _spread(_squeeze(s), OUTSIDE) for s in body[: at + 1]]
    rest = [_squeeze(s) for s in body[at + 1 :]]
    aliases = [s for s in rest if isinstance(s, ast.Assign) and ast.unparse(s.value) in sums]
    renames: dict[str, ast.expr] = {ast.unparse(s.targets[0]): s.value for s in aliases}
    rest = [Replace(renames).visit(s) for s in rest if s not in aliases]
    return [*head, *(_spread(s, OUTSIDE) for s in rest)]  # type: ignore[list-item]


def _find_products(body: list[ast.stmt]) -> tuple[int, list[_Product]]:
    """The position behind the last product, and all products."""
    where = {s.targets[0].id: s.value for s in body if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)}
    found: list[_Product] = []
    last = 0
    for position, statement in enumerate(body):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Attribute(attr="dot"), args=[a, b])):
                found.append(_Product(_unshaped(a, where), _unshaped(b, where), name))
                last = position + 1
    if not found:
        raise AlignError("compiler output", "a matmul kernel without a product in its main loop")
    return last, found


def _unshaped(node: ast.expr, where: dict[str, ast.expr]) -> ast.expr:
    """What is under ``tl.trans(tl.reshape(value, ...))``, casts kept."""
    match node:
        case ast.Name(id=name) if name in where and _is_shaping(where[name]):
            return _unshaped(where[name], where)
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="tl"), attr="reshape" | "trans" | "broadcast_to"), args=[value, *_]
        ):
            return _unshaped(value, where)
        case ast.Call(func=ast.Attribute(value=value, attr="to"), args=[kind]):
            return ast.Call(ast.Attribute(_unshaped(value, where), "to", ast.Load()), [kind], [])
    return node


def _is_shaping(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) in ("tl.reshape", "tl.trans", "tl.broadcast_to")


def _operand(
    prologue: list[ast.stmt], root: ast.expr, spread: dict[str, str], side: str, made: dict[str, str]
) -> tuple[list[ast.stmt], ast.expr]:
    """The statements that an operand is made by, in 2-D, under names of their own; ``made`` knows those there are."""
    chosen = [s for s in _needed_by([ast.Expr(root)], prologue) if isinstance(s, ast.Assign)]
    renamed: dict[str, ast.expr] = {}
    copies: list[ast.stmt] = []
    for statement in chosen:
        old = ast.unparse(statement.targets[0])
        value = _spread(_drop_shape(Replace(renamed).visit(copy.deepcopy(statement.value))), spread)
        text = f"{side} {ast.unparse(ast.fix_missing_locations(value))}"
        if text not in made:
            made[text] = f"{old}_{side}"
            copies.append(assigned(made[text], value))  # type: ignore[arg-type]
        renamed[old] = ast.Name(made[text], ast.Load())
    return copies, Replace(renamed).visit(copy.deepcopy(root))


class _DropShape(Transformer):
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


class _Spread(Transformer):
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
    changed: ast.AST = _Spread(spread).visit(node)
    return changed


def _defines_index(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name) and bool(
        _family(statement.targets[0].id)
    )  # fmt: skip


class _Unindex(Transformer):
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
    needed = {n for s in tail for n in names(s)}
    chosen: list[ast.stmt] = []
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
    return (
        "offset" in text.partition("=")[0]
        or "r0_base" in text.partition("=")[0]
        or "tl.dot(" in text
        or ("tl.zeros(" in text or "tl.full(" in text)
    )


def _squeeze(statement: ast.stmt) -> ast.stmt:
    changed: ast.stmt = _Unindex().visit(_DropShape().visit(statement))
    return changed


def _drop_batch_mask(function: ast.FunctionDef) -> None:
    """The batch runs over one program each: no block, no mask."""
    single = assignments(function)
    if "zindex" not in single:
        return
    program = next(n for n in walk(single.get("zoffset", single["zindex"])) if _is_program_id(n))
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


class _WithoutMask(Transformer):
    """Remove one name from conjunctions, and masks that are nothing else."""

    def __init__(self, mask: str) -> None:
        self.mask = mask

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if any(k.arg == "mask" and ast.unparse(k.value) == self.mask for k in node.keywords):
            node.keywords = [k for k in node.keywords if k.arg not in ("mask", "other")]
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.op, ast.BitAnd):
            if ast.unparse(node.left) == self.mask:
                return node.right
            if ast.unparse(node.right) == self.mask:
                return node.left
        return node

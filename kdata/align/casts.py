"""Casts and broadcasts of a kernel that change nothing."""

from __future__ import annotations

import ast

from kdata.align.trees import INDEX, Transformer, assignments, names, walk

WHOLE = ("tl.int32", "tl.int64")
WIDEST = "tl.float32"  # that kernels compute in
FLOATS = {WIDEST: "*fp32", "tl.float16": "*fp16", "tl.bfloat16": "*bf16"}  # and the pointers of their signatures
# Functions of tl whose answer is of the type of their first argument.
OF_ITS_TYPE = frozenset(
    "sum max min dot broadcast_to reshape trans exp exp2 log log2 sqrt rsqrt sin cos abs maximum minimum".split()
)


class Casts(Transformer):
    """Casts that change nothing: of indices to another integer type, to the type that a value has, of sizes."""

    def __init__(self, function: ast.FunctionDef, sizes: set[str], dtypes: dict[str, str]) -> None:
        self.single = assignments(function)
        self.every: dict[str, list[ast.expr]] = {}
        for node in walk(function):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self.every.setdefault(node.targets[0].id, []).append(node.value)
        self.plain = sizes | set(INDEX)
        self.pointers = {kind: {p for p, dtype in dtypes.items() if dtype == said} for kind, said in FLOATS.items()}

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr="to"), args=[kind]):
                target = ast.unparse(kind)
                if isinstance(value, ast.Constant):
                    return value
                if target in WHOLE and self._is_index(value) and not self._is_start(value):
                    return value
                if target == WIDEST and self._is_size(value):
                    return value
                if target in FLOATS and self._is(value, target):
                    return value
                return self._widened(value, target) or node
        return node

    def _widened(self, value: ast.expr, kind: str) -> ast.expr | None:
        """What was made fp32 and is to be of its own type again."""
        cast = self.single.get(value.id) if isinstance(value, ast.Name) else value
        match cast:
            case ast.Call(func=ast.Attribute(value=inner, attr="to"), args=[to]) if ast.unparse(to) == WIDEST:
                again = isinstance(inner, ast.Name) or cast is value  # the work is not done twice
                return inner if kind in FLOATS and again and self._is(inner, kind) else None
        return None

    def _is_index(self, value: ast.expr) -> bool:
        match value:
            case ast.Name(id=name) if name.startswith("tmp") and name in self.single:
                return self._is_index(self.single[name])
            case ast.Call(func=ast.Attribute(value=inner, attr="to"), args=[kind]) if ast.unparse(kind) in WHOLE:
                return self._is_index(inner)
        read = names(value) - {"tl", "triton"}
        return bool(read) and all(n in self.plain or n[0] in "xyzr" and not n.startswith("tmp") for n in read)

    def _is_start(self, value: ast.expr) -> bool:
        """Program ids and aranges are widened on purpose where indices exceed 32 bits."""
        return any(isinstance(n, ast.Attribute) and n.attr in ("program_id", "arange") for n in walk(value))

    def _is_size(self, value: ast.expr) -> bool:
        return names(value) <= self.plain - set(INDEX) and not isinstance(value, ast.Constant)

    def _is(self, value: ast.expr, kind: str, open_: frozenset[str] = frozenset()) -> bool:
        """Whether a value is of a float type; ``open_`` names are being asked about: a sum that starts so stays so."""
        match value:
            case ast.Name(id=name) if name in self.every:
                return name in open_ or all(self._is(v, kind, open_ | {name}) for v in self.every[name])
            case ast.Call(func=ast.Attribute(attr="load"), args=[address, *_]):
                return bool(names(address) & self.pointers[kind])
            case ast.Call(func=ast.Attribute(attr="to"), args=[to]):
                return ast.unparse(to) == kind
            case ast.Call(func=ast.Attribute(attr="zeros"), args=[_, of]):
                return ast.unparse(of) == kind
            case ast.BinOp(left=left, right=right) if kind == WIDEST:
                return self._is(left, kind, open_) or self._is(right, kind, open_)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="tl"), attr=name), args=[inner, *_]) if (
                name in OF_ITS_TYPE
            ):
                return self._is(inner, kind, open_)
            case ast.Call(func=ast.Attribute(attr="where"), args=[_, first, _]) if kind == WIDEST:
                return self._is(first, kind, open_)
            case ast.Subscript(value=inner):
                return self._is(inner, kind, open_)
        return False


class Broadcasts(Transformer):
    """Removes ``tl.broadcast_to(v, shape)`` where the value, or what it is combined with, has that shape already."""

    def __init__(self, function: ast.FunctionDef) -> None:
        self.single = assignments(function)
        self.axes = {n[0] for n in names(function) if n in ("xindex", "yindex", "r0_index", "r1_index")}

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Attribute(attr="broadcast_to"), args=[value, ast.List()]):
                if self._spans(value, set()) >= self.axes:
                    return value
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if self._spans(node.right, set()) >= self.axes:
            node.left = self._narrow(node.left)
        if self._spans(node.left, set()) >= self.axes:
            node.right = self._narrow(node.right)
        return node

    def _narrow(self, value: ast.expr) -> ast.expr:
        """What a value was before it was broadcast; arithmetic broadcasts by itself."""
        match self.single.get(value.id, value) if isinstance(value, ast.Name) else value:
            case ast.Call(func=ast.Attribute(attr="broadcast_to"), args=[ast.Name() as narrow, ast.List()]):
                return narrow
        return value

    def _spans(self, value: ast.AST, seen: set[str]) -> set[str]:
        """The axes that a value varies along."""
        found: set[str] = set()
        for node in walk(value):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in (
                "tl.sum",
                "tl.max",
                "tl.min",
                "tl.reduce",
                "tl.dot",
            ):
                return set()
            if isinstance(node, ast.Name) and node.id in INDEX:
                found.add(node.id[0])
            elif isinstance(node, ast.Name) and node.id in self.single and node.id not in seen:
                seen.add(node.id)
                found |= self._spans(self.single[node.id], seen)
        return found

"""Kernel text, step five: names that tell what a value is."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections.abc import Iterable

from kdata.align.helpers import SOURCES
from kdata.align.inductor import Kernel
from kdata.align.trees import Transformer, walk

POINTWISE = {"xindex": "offs", "xmask": "mask", "xoffset": "start", "XBLOCK": "BLOCK"}
TILED = {"yindex": "row", "ymask": "row_mask", "yoffset": "row_start", "YBLOCK": "BLOCK_ROWS",
         "xindex": "col", "xmask": "col_mask", "xoffset": "col_start", "XBLOCK": "BLOCK_COLS"}  # fmt: skip
MATMUL = {"yindex": "offs_m", "ymask": "mask_m", "yoffset": "start_m", "YBLOCK": "BLOCK_M",
          "xindex": "offs_n", "xmask": "mask_n", "xoffset": "start_n", "XBLOCK": "BLOCK_N",
          "r0_index": "offs_k", "r0_mask": "mask_k", "r0_offset": "k_start", "r0_base": "k_range",
          "R0_BLOCK": "BLOCK_K", "zindex": "batch", "ZBLOCK": "BLOCK_BATCH"}  # fmt: skip
REDUCTION = {"xindex": "row", "xmask": "row_mask", "xoffset": "row_start", "XBLOCK": "BLOCK_ROWS",
             "yindex": "group", "ymask": "group_mask", "yoffset": "group_start", "YBLOCK": "BLOCK_GROUPS",
             "r0_index": "col", "r0_mask": "col_mask", "r0_offset": "col_start", "r0_base": "col_range",
             "R0_BLOCK": "BLOCK_COLS"}  # fmt: skip
# ATen's names -> the field's
OPERATORS = {
    "_softmax": "softmax", "_safe_softmax": "softmax", "_log_softmax": "log_softmax",
    "native_layer_norm": "layer_norm", "addmm": "linear",
    "native_group_norm": "group_norm", "convolution": "conv", "_native_batch_norm_legit": "batch_norm",
    "_native_batch_norm_legit_no_training": "batch_norm", "_native_batch_norm_legit_functional": "batch_norm",
    "native_batch_norm": "batch_norm", "mm": "matmul", "bmm": "matmul", "baddbmm": "matmul", "var_mean": "variance",
    "linear": "linear", "_unsafe_index": "index", "max_pool2d_with_indices": "max_pool2d",
    "_adaptive_avg_pool2d": "avg_pool2d", "max_pool3d_with_indices": "max_pool3d",
    "_scaled_dot_product_flash_attention_for_cpu": "attention",
    "scaled_dot_product_attention": "attention", "nll_loss_forward": "nll_loss", "linalg_vector_norm": "norm",
    "_scaled_dot_product_attention_math": "attention", "_to_copy": "cast", "leaky_relu": "leaky_relu",
}  # fmt: skip
QUIET = frozenset("view reshape _unsafe_view permute transpose t clone expand unsqueeze squeeze detach alias slice "
                  "select prepare_softmax_online unbind split cat_view full lift_fresh_copy empty "
                  "as_strided".split())  # fmt: skip
VERBS = {"add": "total", "sub": "difference", "mult": "product", "div": "quotient", "mod": "rest",
         "floordiv": "quotient", "bitand": "both", "bitor": "either", "pow": "power", "lshift": "shifted",
         "rshift": "shifted"}  # fmt: skip


def identifier(text: str, lower: bool = True) -> str:
    """A Python name made of any text; ``lower`` says whether in lower case."""
    name = re.sub(r"\W+", "_", text).strip("_") or "x"
    name = name.lower() if lower else name
    if name[0].isdigit():
        name = f"n{name}"
    return (
        f"{name}_" if keyword.iskeyword(name) or hasattr(builtins, name) or name in ("tl", "torch", "triton") else name
    )


def unique(name: str, taken: set[str]) -> str:
    """The name, with a number if it is taken; it is taken then."""
    chosen, count = name, 1
    while chosen in taken:
        count += 1
        chosen = f"{name}_{count}"
    taken.add(chosen)
    return chosen


def label(kernel: str, elsewhere: tuple[str, ...] = ()) -> str:
    """What a kernel computes, by Inductor's name: ``triton_red_fused_native_layer_norm_relu_0``: layer_norm_relu.

    ``elsewhere`` are parts of the names of operators that have kernels of their own.
    """
    match = re.fullmatch(r"triton_[a-z]+_fused_?(.*?)_?\d+", kernel)
    found = [o for o in _operators(match.group(1) if match else "") if not any(part in o for part in elsewhere)]
    return "_".join(found[:4]) or "fused"


def _operators(text: str) -> list[str]:
    """Split Inductor's joined operator names, longest known first."""
    found: list[str] = []
    known = sorted([*OPERATORS, *QUIET, "log_softmax", "layer_norm", "group_norm", "batch_norm", "hardtanh",
                    "max_pool2d", "avg_pool2d", "avg_pool3d", "leaky_relu", "index_select", "cross_entropy",
                    "masked_fill"], key=len, reverse=True)  # fmt: skip
    while text:
        head = next((k for k in known if re.match(re.escape(k) + r"(_|$)", text)), text.partition("_")[0])
        text = text[len(head) :].removeprefix("_")  # one: ``add__softmax`` is add and _softmax
        name = OPERATORS.get(head, head)
        if head and head not in QUIET and name not in found:
            found.append(name)
    return found


class Rename(Transformer):
    """Rename names wherever they stand, arguments included."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.names.get(node.id, node.id), node.ctx)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return ast.arg(self.names.get(node.arg, node.arg), node.annotation)


def base_names(kernel: Kernel) -> dict[str, str]:
    """Indices, masks and block sizes by the kind of kernel."""
    if kernel.is_matmul:
        return MATMUL
    if "reduction" in kernel.kind or "r0_" in kernel.hints:
        return REDUCTION
    return TILED if "y" in kernel.hints else POINTWISE


def rename_values(function: ast.FunctionDef, bases: dict[str, str], fixed: Iterable[str]) -> None:
    """Name everything a kernel computes, in the order of its text. ``fixed`` names are taken."""
    taken = {*fixed, *bases.values(), *SOURCES}
    chosen = dict(bases)
    loads: dict[str, str] = {}  # what a load reads -> its name: the same data in several loops keeps its name
    for statement in _statements(function.body):
        if not isinstance(statement, ast.Assign):
            continue
        text = ast.unparse(statement.value) if "tl.load" in ast.unparse(statement.value)[:8] else ""
        for target in _targets(statement):
            if target not in chosen and target not in fixed:
                if text in loads:
                    chosen[target] = loads[text]
                else:
                    chosen[target] = unique(_name(target, statement, bases, chosen), taken)
                if text:
                    loads[text] = chosen[target]
    Rename(chosen).visit(function)


def _statements(body: list[ast.stmt]) -> Iterable[ast.stmt]:
    for statement in body:
        yield statement
        if isinstance(statement, ast.For):
            yield from _statements(statement.body)


def _targets(statement: ast.Assign) -> list[str]:
    target = statement.targets[0]
    elements = target.elts if isinstance(target, ast.Tuple) else [target]
    return [e.id for e in elements if isinstance(e, ast.Name)]


def _name(target: str, statement: ast.Assign, bases: dict[str, str], chosen: dict[str, str]) -> str:
    part = re.fullmatch(r"([xyz]|r0|r1)(?:_part|_)?(\d+)", target)
    if part:
        base = bases.get(part.group(1) + "_index", bases.get(part.group(1) + "index", "i"))
        if (said := _place(statement.value)) and said not in chosen.values() and base == "row":
            return said
        return f"{base}_{1 + sum(bool(re.fullmatch(rf'{base}_[0-9]+', name)) for name in chosen.values())}"
    if "with_index" in ast.unparse(statement.value):
        return "index" if "ind" in target or "idx" in target else "best"
    side = "_" + target.rpartition("_")[2] if target.endswith(("_left", "_right")) else ""
    return _describe(statement.value, target, chosen) or f"value{side}"


def _place(value: ast.expr) -> str:
    """``inner`` for ``row % n`` and ``outer`` for ``row // n``: the dimensions behind and before the reduced one."""
    match value:
        case ast.BinOp(ast.Name(id="xindex"), op, ast.Name() | ast.Constant()):
            return {ast.Mod: "inner", ast.FloorDiv: "outer"}.get(type(op), "")
    return ""


def _describe(value: ast.expr, target: str, chosen: dict[str, str]) -> str:
    match value:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="tl"), attr="load"), args=[address, *_]):
            pointers = [n.id for n in walk(address) if isinstance(n, ast.Name) and n.id.endswith("_ptr")]
            return pointers[0].removesuffix("_ptr") if pointers else "loaded"
        case ast.Call(func=ast.Attribute(value=ast.Name(id="tl"), attr="dot")):
            return "acc"
        case ast.Call(func=ast.Attribute(value=ast.Name(id="tl"), attr="full" | "zeros"), args=[_, *rest]):
            start = ast.unparse(rest[0]) if rest else "0"
            return "running_max" if "-inf" in start else "running_min" if "inf" in start else "acc"
        case ast.Call(func=ast.Attribute(value=ast.Name(id="tl"), attr=name)) if name in ("sum", "max", "min"):
            return {"sum": "total", "max": "maximum", "min": "minimum"}[name]
        case ast.Call(func=ast.Attribute(value=ast.Name(id="tl"), attr=name)):
            return {"where": "selected", "associative_scan": "scanned", "reduce": "reduced"}.get(name, identifier(name))
        case ast.Call(func=ast.Attribute(value=inner, attr="to")):
            return _describe(inner, target, chosen) or "cast"
        case ast.Call(func=ast.Name(id=name)):
            return identifier(name)
        case ast.Subscript(value=inner):
            return _describe(inner, target, chosen)
        case ast.Name(id=name):
            return chosen.get(name, "")
        case ast.BinOp(op=op):
            return VERBS.get(type(op).__name__.lower(), "")
        case ast.Compare(ops=[op, *_]):
            return {"Lt": "is_less", "Gt": "is_greater", "Eq": "is_equal", "NotEq": "differs", "GtE": "is_enough",
                    "LtE": "is_at_most"}.get(type(op).__name__, "is_true")  # fmt: skip
        case ast.UnaryOp(op=ast.USub()):
            return "negative"
    return ""

"""A finished kernel: Inductor's text through every step, with the arguments its launcher passes."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy

from kdata.align import symbols
from kdata.align.errors import AlignError
from kdata.align.indices import hoist, name_indices
from kdata.align.inductor import Kernel
from kdata.align.inline import inline
from kdata.align.literals import NUMBER
from kdata.align.naming import REDUCTION, Rename, base_names, identifier, rename_values, unique
from kdata.align.order import degree, put_in_order
from kdata.align.scans import plain_scans
from kdata.align.simplify import simplify
from kdata.align.tiles import flatten_tiles
from kdata.align.trees import Replace, assignments, drop_unused, names, propagate_aliases, unparse, walk
from kdata.align.whole_numbers import Extremes, PlainDivision

WORDS = {"max2": "max", "min2": "min", "tl.sum": "sum", "rsqrt": "rstd", "_idx": "index", " / ": "mean"}
ROLES = {
    "matmul": {"ynumel": "n_rows", "xnumel": "n_cols", "r0_numel": "n_inner"},
    "reduction": {"xnumel": "n_rows", "r0_numel": "n_cols"},
    "pointwise": {"xnumel": "n_elements", "ynumel": "n_rows"},
}
CONNECTIVES = ("logical", "bitwise", "and", "or", "not", "eq", "ne", "where", "isinf")
OFFSETS = ("xoffset", "yoffset", "zoffset")
NUMELS = ("xnumel", "ynumel", "znumel", "r0_numel", "r1_numel")


@dataclass(slots=True)
class Written:
    """A kernel as it stands in the candidate."""

    name: str
    text: str
    pointers: list[str]  # Inductor's names, in order
    sizes: list[tuple[str, Any]]  # argument, its value over Inductor's integer arguments
    blocks: dict[str, int]
    grid: list[tuple[Any, str]]  # along each grid axis: elements, over Inductor's integer arguments, and block
    helpers: set[str]
    combines: dict[str, str]  # the functions that its scans combine with, by name


def write(
    kernel: Kernel, name: str, pointer_names: Sequence[str], calls: Sequence[dict[str, Any]], known: Mapping[str, str]
) -> Written:
    """Make a kernel readable.

    ``pointer_names`` say what each pointer holds at the first call; ``calls`` give, for every call, Inductor's integer
    arguments as expressions over the task's sizes, which ``known`` names.
    """
    function = kernel.function
    if kernel.kind not in ("pointwise", "reduction", "persistent_reduction"):
        raise AlignError("compiler output", f"a {kernel.kind} kernel")
    constants = _static(function)
    plain_scans(kernel)
    order = _place(kernel)
    given = {a: kind for a, kind in kernel.signature.items() if kind != "constexpr"}
    pointers = [a for a, kind in given.items() if kind.startswith("*")]
    numbers = [a for a, kind in given.items() if kind == NUMBER]
    sizes = [a for a in given if a not in (*pointers, *numbers)]
    helpers = simplify(function, {*sizes, *NUMELS}, {p: given[p] for p in pointers})
    Replace(constants).visit(function)
    values = hoist(function, [s for s in sizes if s not in constants]).values
    values |= {number: symbols.symbol(number) for number in numbers}
    _tidy(function, kernel.is_matmul)
    held = _multiply_out(function, _merge(function, values, calls), calls, list(known))
    bases = base_names(kernel)
    blocks = _blocks(kernel, bases)
    taken = {*(said for base, said in bases.items() if base in names(function)), *blocks, name}
    renames = {p: f"{unique(identifier(n, lower=False), taken)}_ptr"
               for p, n in zip(pointers, pointer_names, strict=True)}  # fmt: skip
    roles = ROLES["matmul" if kernel.is_matmul else "reduction" if bases is REDUCTION else "pointwise"]
    other = dict.fromkeys(numbers, "scale")
    size_names = {
        old: unique(_size_name(value, calls[0], known, roles, other.get(str(value))), taken) for old, value in held
    }
    Rename(renames | size_names).visit(function)
    rename_values(function, bases, {*renames.values(), *size_names.values()})
    ordered = [(size_names[old], value) for old, value in held]
    put_in_order(function, bases, {n: degree(symbols.substitute(value, calls[0])) for n, value in ordered})
    _sign(function, name, [*renames.values(), *(n for n, _ in ordered)], blocks)
    combines, needed = _combines(kernel)
    grid = [
        (symbols.read(constants.get(f"{axis}numel", ast.Name(f"{axis}numel"))), bases[f"{axis.upper()}BLOCK"])
        for axis in order
    ]
    used = {n.func.id for n in walk(function) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    helpers = helpers & (used | names(function)) | needed
    return Written(name, f"@triton.jit\n{unparse(function)}", pointers, ordered, blocks, grid, helpers, combines)


def _tidy(function: ast.FunctionDef, is_matmul: bool) -> None:
    """Say a kernel's values plainly, and only those that are read, now that its sizes are arguments."""
    PlainDivision().visit(function)
    Extremes().visit(function)
    propagate_aliases(function)
    name_indices(function)
    if is_matmul:
        flatten_tiles(function)
        propagate_aliases(function)
    inline(function)
    drop_unused(function)


def _combines(kernel: Kernel) -> tuple[dict[str, str], set[str]]:
    """The functions that a kernel's scans combine with, under names that tell what they do, and the helpers they need.

    The kernel calls them by these names from here on.
    """
    renamed = {c.name: _combination(c.name) for c in kernel.combines}
    texts, needed = {}, set[str]()
    for function, name in zip(kernel.combines, renamed.values(), strict=True):
        needed |= simplify(function, set(), {})
        texts[name] = _combine(function, name)
    Rename(renamed).visit(kernel.function)
    return texts, needed


def results(kernel: Kernel) -> dict[str, str]:
    """For kernels with several outputs: what each holds ("max", "sum"), where a reduction makes it."""
    made = assignments(kernel.function)
    found: dict[str, str] = {}
    for node in walk(kernel.function):
        match node:
            case ast.Call(func=ast.Attribute(attr="store"), args=[address, ast.Name(id=value), *_]):
                text = ast.unparse(made.get(value, ast.Constant(0)))
                word = next((w for t, w in WORDS.items() if t in text), "out")
                found |= {name: word for name in names(address) if "ptr" in name}
    return found if len(found) > 1 else {}


def _static(function: ast.FunctionDef) -> dict[str, ast.expr]:
    """Numbers of elements that Inductor fixed in the kernel's text."""
    found: dict[str, ast.expr] = {}
    for statement in list(function.body):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant() as value) if name in NUMELS:
                found[name] = value
                function.body.remove(statement)
    return found


def _merge(function: ast.FunctionDef, values: dict[str, Any], calls: Sequence[dict[str, Any]]) -> list[tuple[str, Any]]:
    """One argument where two have the same value at every call; in the order of the text."""
    used = names(function)
    kept: dict[tuple[Any, ...], tuple[str, Any]] = {}
    renames: dict[str, str] = {}
    for name, value in values.items():
        if name not in used:
            continue
        key = tuple(symbols.tidy(symbols.substitute(value, call)) for call in calls)
        renames[name] = kept.setdefault(key, (name, value))[0]
    Rename(renames).visit(function)
    return list(kept.values())


def _multiply_out(
    function: ast.FunctionDef, held: list[tuple[str, Any]], calls: Sequence[dict[str, Any]], order: list[str]
) -> list[tuple[str, Any]]:
    """No argument for a stride that is a product of other arguments: ``batch * m * k`` for ``batch * m_k``."""
    said = {name: [symbols.tidy(symbols.substitute(value, call)) for call in calls] for name, value in held}
    known = {str(values[0]): name for name, values in said.items() if values[0].is_Symbol}
    products: dict[str, ast.expr] = {}
    for name, value in held:
        parts = sorted(said[name][0].args, key=lambda f: order.index(str(f)) if str(f) in order else len(order))
        factors = [known.get(str(factor)) for factor in parts] if said[name][0].is_Mul else [None]
        if str(value) in NUMELS or None in factors:
            continue
        each = zip(*(said[f] for f in factors if f), strict=True)
        if all(value == sympy.prod(sizes) for value, sizes in zip(said[name], each, strict=True)):
            products[name] = ast.parse(" * ".join(f for f in factors if f), mode="eval").body
    Replace(products).visit(function)
    return [(name, value) for name, value in held if name not in products]


def _size_name(
    value: Any, call: dict[str, Any], known: Mapping[str, str], roles: Mapping[str, str], other: str | None
) -> str:
    """The task's own word for a size, else the part that it plays in the kernel, or one that fits."""
    said = symbols.substitute(symbols.substitute(value, call), {k: symbols.symbol(v) for k, v in known.items()})
    if str(value) in roles and not said.is_Symbol:
        return roles[str(value)]
    whole = not said.atoms(sympy.Pow, sympy.Float) or said.is_integer
    return identifier(symbols.describe(said) or other or ("size" if whole else "scale"))


def _blocks(kernel: Kernel, bases: dict[str, str]) -> dict[str, int]:
    """Block sizes, chosen from the expected extents; those that the kernel's text fixes are not arguments."""
    free = [a.arg for a in kernel.function.args.args if a.arg.endswith("BLOCK")]
    extent = {f"{axis.rstrip('_').upper()}_BLOCK" if axis == "r0_" else f"{axis.upper()}BLOCK": _power(n)
              for axis, n in kernel.hints.items()}  # fmt: skip
    if kernel.is_matmul:
        # Measured on an H200 in fp32: as fast as BLOCK_K = 32 (convolution a quarter faster), half the time to compile
        # and no spills; 8 warps are up to twice as slow.
        chosen = {"ZBLOCK": 1, "YBLOCK": 64, "XBLOCK": 64, "R0_BLOCK": 16}
    elif "r0_" in kernel.hints:
        columns = min(extent["R0_BLOCK"], 1024 if kernel.inner else 64)
        chosen = {"R0_BLOCK": columns, "YBLOCK": 1, "ZBLOCK": 1}
        chosen["XBLOCK"] = min(extent.get("XBLOCK", 1), max(1, (1024 if kernel.inner else 2048) // columns))
    elif "y" in kernel.hints:
        chosen = {"YBLOCK": 32, "XBLOCK": 32, "ZBLOCK": 1}
    else:
        extent_x = extent.get("XBLOCK", 1024)
        chosen = {"XBLOCK": 1 if extent_x == 1 else min(1024, max(extent_x, 128))}
    return {
        bases[name]: chosen[name] for name in free if name in chosen and not (kernel.is_matmul and name == "ZBLOCK")
    }


def _power(n: int) -> int:
    return 1 << max(0, int(n) - 1).bit_length()


def _place(kernel: Kernel) -> list[str]:
    """Give each axis of the kernel an axis of the grid, and say which: the longest first, as only that has no limit."""
    starts = {
        s.targets[0].id[0]: s for s in kernel.function.body
        if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name) and s.targets[0].id in OFFSETS
    }  # fmt: skip
    if kernel.is_matmul:
        order = [axis for axis in "zyx" if axis in starts]
    else:
        order = sorted(starts, key=lambda axis: -kernel.hints.get(axis, 1))
    for position, axis in enumerate(order):
        wide = "tl.int64" in ast.unparse(starts[axis].value)
        program = f"tl.program_id({position})" + ".to(tl.int64)" * wide
        starts[axis].value = ast.parse(f"{program} * {axis.upper()}BLOCK", mode="eval").body
    return order


def _combination(name: str) -> str:
    """``combine_gt0`` for ``_triton_helper_fn_gt_eq_ne_or_where0``: what it does, not how it is put together."""
    said = name.removeprefix("_triton_helper_fn_")
    words = dict.fromkeys(w for w in said.rstrip("0123456789").split("_") if w not in CONNECTIVES)
    number = said[len(said.rstrip("0123456789")) :]
    return f"combine_{'_'.join(words)}{number}" if words else f"combine_{said}"


def _combine(function: ast.FunctionDef, name: str) -> str:
    """Text of a function that a scan combines with: ``return a + b``."""
    letters = {a.arg: letter for a, letter in zip(function.args.args, "abcdefgh", strict=False)}
    function.name = name
    inline(function)
    drop_unused(function)
    Rename(letters).visit(function)
    rename_values(function, {}, letters.values())
    return unparse(function)


def _sign(function: ast.FunctionDef, name: str, arguments: list[str], blocks: dict[str, int]) -> None:
    constexpr = ast.parse("tl.constexpr", mode="eval").body
    function.name = name
    function.args.args = [*(ast.arg(a) for a in arguments), *(ast.arg(b, constexpr) for b in blocks)]

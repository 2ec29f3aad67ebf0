"""What stands in a text in the place of a call that draws random numbers: an expression of numbers that are given."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

_NORMAL = frozenset(["randn", "randn_like", "normal_"])
_UNIFORM = frozenset(["rand", "rand_like", "uniform_"])


class UngivenError(Exception):
    """A draw that cannot be an input."""


def _in_place(of: str, function: str, name: str) -> str:
    """What is drawn, or where it is drawn into a tensor that tensor with it: others may hold it, too."""
    return f"{of}.copy_({name})" if function.endswith("_") else name


def instead(call: ast.Call, function: str, name: str) -> tuple[str, str]:
    """The kind of numbers that a draw is of, and an expression of them that stands for it."""
    arguments = [ast.unparse(a) for a in call.args] + [ast.unparse(k.value) for k in call.keywords
                                                       if k.arg in ("mean", "std", "p")]  # fmt: skip
    of = ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""
    if function in _NORMAL and (not function.endswith("_") or [float(a) for a in arguments] in ([], [0, 1])):
        return "float", _in_place(of, function, name)
    if function in _UNIFORM and (not function.endswith("_") or [float(a) for a in arguments] in ([], [0, 1])):
        return "unit", _in_place(of, function, name)
    if function == "normal" and len(arguments) >= 2:
        return "float", f"({arguments[0]} + ({arguments[1]}) * {name})"
    if function == "bernoulli" and (p := arguments[0] if of == "torch" or arguments else of):
        return "unit", f"({name} < {p}).float()"
    if function == "sample" and isinstance(call.func, ast.Attribute) and call.func.attr in ("sample", "rsample"):
        made = call.func.value
        if isinstance(made, ast.Call) and ast.unparse(made.func).split(".")[-1] == "Normal" and len(made.args) == 2:
            mean, deviation = map(ast.unparse, made.args)
            return "float", f"({mean} + ({deviation}) * {name})"
        if isinstance(made, ast.Name | ast.Attribute):
            return "float", f"({of}.loc + {of}.scale * {name})"
    raise UngivenError(function)


def of_integers(call: ast.Call, function: str, span: tuple[int, int], name: str) -> tuple[str, str] | None:
    """The same for a draw of integers, None for another: uniform numbers that sort, and Gumbel's that choose."""
    gumbels = f"(-{name}.log()).log()"
    if function == "randint":
        drawn = f"({span[0]} + {name})" if span[0] else name
        kind = next((ast.unparse(k.value) for k in call.keywords if k.arg == "dtype"), "")
        return "int", f"{drawn}.to({kind})" if kind else drawn
    if function == "randperm":
        return "unit", f"{name}.argsort()"
    given_ = {k.arg: k.value for k in call.keywords} | dict(
        zip(("", "num_samples", "replacement"), call.args, strict=False)
    )
    if function == "multinomial" and "replacement" not in given_:
        of = next(ast.unparse(given_[k]) for k in ("input", "") if k in given_)
        return "unit", f"(({of}).log() - {gumbels}).topk({ast.unparse(given_['num_samples'])}).indices"
    if function == "categorical" and isinstance(call.func, ast.Attribute) and not given_:
        return "unit", f"({ast.unparse(call.func.value)}.logits - {gumbels}).argmax(-1)"
    return None


def largest(shapes: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    """The sizes that hold all of some shapes.

    Raises:
        UngivenError: they are of several ranks.
    """
    every = list(shapes)
    if len({*map(len, every)}) > 1:
        raise UngivenError("a loop draws what differs in rank")
    return tuple(map(max, *every)) if len(every) > 1 else every[0]


def part(call: ast.Call, function: str, rank: int, name: str) -> str:
    """An expression of the part of numbers that is as large as what a call draws; integers are below its own bound.

    Raises:
        UngivenError: the call does not say how large that is.
    """
    size = _size(call, function, rank)
    found = f"{name}[tuple(map(slice, {size}))]"
    if function != "randint":
        return found
    bounds = {k.arg: k.value for k in call.keywords}
    numbers = call.args if "size" in bounds else call.args[:-1]
    if len(numbers) == 1:  # ``randint(high, size)``, ``randint(low, high=high, size=size)``
        bounds["low" if "high" in bounds else "high"] = numbers[0]
    bounds |= dict(zip(("low", "high"), numbers if len(numbers) == 2 else (), strict=False))
    if "high" not in bounds or any(isinstance(a, ast.Starred) for a in call.args):
        raise UngivenError("between bounds that are not said")
    drawn, low, high = ast.parse(found, mode="eval").body, bounds.get("low"), bounds["high"]
    if low is None or ast.unparse(low) == "0":
        return f"({ast.unparse(ast.BinOp(drawn, ast.Mod(), high))})"
    width = ast.BinOp(high, ast.Sub(), low)
    return f"({ast.unparse(ast.BinOp(low, ast.Add(), ast.BinOp(drawn, ast.Mod(), width)))})"


def _size(call: ast.Call, function: str, rank: int) -> str:
    """The expression that says the shape of what a call draws."""
    named = {k.arg: ast.unparse(k.value) for k in call.keywords}
    if function.endswith("_like"):
        return f"{ast.unparse(call.args[0])}.shape" if call.args else f"{named['input']}.shape"
    if function.endswith("_") and isinstance(call.func, ast.Attribute):
        return f"{ast.unparse(call.func.value)}.shape"
    if "size" in named:
        return named["size"]
    given: Sequence[ast.expr] = call.args[-1:] if function == "randint" else call.args
    if not given or function not in (*_NORMAL, *_UNIFORM, "randint"):
        raise UngivenError(function)
    if len(given) == 1 and not isinstance(given[0], ast.Starred) and (rank > 1 or function == "randint"):
        return ast.unparse(given[0])
    return f"({', '.join(map(ast.unparse, given))},)"

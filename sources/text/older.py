"""What programs for older versions of torch and Python say, as the present ones understand it."""

from __future__ import annotations

import ast
import collections.abc
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeGuard

from sources.text.removed import MODULE, REMOVED
from sources.text.rewrite import Edits, Text
from sources.text.scope import classes, nodes, walk

_MOVED = {("fractions", "gcd"): ("math", "gcd"), ("inspect", "getargspec"): ("inspect", "getfullargspec"),
          ("time", "clock"): ("time", "perf_counter"), ("itertools", "izip_longest"): ("itertools", "zip_longest"),
          ("itertools", "ifilterfalse"): ("itertools", "filterfalse"),
          ("torch.nn.modules.linear", "_LinearWithBias"): ("torch.nn", "Linear"),
          ("torch._dynamo", "is_compiling"): ("torch.compiler", "is_compiling"),  # which loads no compiler for that
          # What makes a layer without its first weights, which a task would have whatever was in memory for.
          ("torch.nn.utils", "skip_init"): ("operator", "call"),
          ("torch.nn.utils.init", "skip_init"): ("operator", "call")}  # fmt: skip


FACTORY = "data_field"
_ASYNC = re.compile(r"([(,]\s*)async(\s*=(?!=))")
_RECORD = re.compile(r"[A-Z]\w*[a-z]\w*")  # a class, and neither a constant nor ``II("...")``


def without_reserved(text: str) -> str:
    """The text with the present name of the argument ``async`` of old calls, a word that Python 3.7 took for itself.

    ``target.cuda(async=True)``: no file that says it is parsed otherwise.
    """
    return _ASYNC.sub(r"\1non_blocking\2", text) if "async" in text else text


def now_at(module: str, name: str) -> tuple[str, str]:
    """The module that has a name now, and the name there: collections no longer has abstract classes."""
    if module == "collections" and name in collections.abc.__all__:
        return "collections.abc", name
    if module == "torch" and name in REMOVED:
        return MODULE, name
    return _MOVED.get((module, name), (module, name))


def with_factories(text: str, tree: ast.Module) -> str:
    """The text with a factory for each field of a data class whose default is a record of settings.

    Python 3.11 takes no default that cannot be hashed, as those of data classes cannot.
    """
    if "dataclass" not in text:
        return text
    edits = Edits(Text.of(text))
    start, end, data = edits.text.start, edits.text.end, edits.text.data
    fields = (s for kind in classes(tree) if _is_data_class(kind) for s in kind.body)
    plain = [s.value for s in fields if isinstance(s, ast.AnnAssign) and _is_record(s.value)]
    said = (k for n in nodes(tree) if isinstance(n, ast.Call) and _is_field(n) for k in n.keywords)
    for keyword in [k for k in said if k.arg == "default" and _is_record(k.value)]:
        edits.replace(start(keyword), start(keyword.value), "default_factory=lambda: ")
    for value in plain:
        made = data[start(value) : end(value)].decode()
        edits.replace(start(value), end(value), f"{FACTORY}(default_factory=lambda: {made})")
    imported = (n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom) and "dataclass" in ast.unparse(n))
    if plain and (first := next(imported, None)):
        edits.replace(end(first), end(first), f"\nfrom dataclasses import field as {FACTORY}")
    elif plain:
        return text
    return edits.whole()


def with_looped_edges(text: str, tree: ast.Module) -> str:
    """The text with the edges alone of what torch_geometric adds loops to: it once gave nothing else.

    ``edges = add_self_loops(edges)``: who has their features, too, takes two things.
    """
    if "add_self_loops(" not in text or "torch_geometric" not in text:
        return text
    edits = Edits(Text.of(text))
    for node in nodes(tree):
        call = node.value if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) else None
        if isinstance(node, ast.Assign) and isinstance(call, ast.Call) and call.args:
            own = ast.unparse(node.targets[0]) == ast.unparse(call.args[0])
            if own and ast.unparse(call.func).split(".")[-1] == "add_self_loops":
                edits.replace(edits.text.end(call), edits.text.end(call), "[0]")
    return edits.whole()


def with_filled_parameters(text: str, tree: ast.Module) -> str:
    """The text with numbers that have a point in parameters that are filled with whole ones, as torch then read these.

    ``nn.Parameter(torch.full((width,), 0))``.
    """
    if "torch.full(" not in text:
        return text
    edits = Edits(Text.of(text))
    made = (n for n in nodes(tree) if isinstance(n, ast.Call) and ast.unparse(n.func).split(".")[-1] == "Parameter")
    inner = (n for call in made for n in walk(call) if isinstance(n, ast.Call))
    for call in (c for c in inner if ast.unparse(c.func) == "torch.full" and len(c.args) > 1):
        value = call.args[1]
        if (
            isinstance(value, ast.Constant)
            and type(value.value) is int
            and all(k.arg != "dtype" for k in call.keywords)
        ):
            edits.replace(edits.text.start(value), edits.text.end(value), f"{value.value}.0")
    return edits.whole()


def _is_record(value: ast.expr | None) -> TypeGuard[ast.Call]:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and bool(_RECORD.fullmatch(value.func.id))


def _is_field(call: ast.Call) -> bool:
    return getattr(call.func, "id", getattr(call.func, "attr", "")) == "field"


def _is_data_class(node: ast.ClassDef) -> bool:
    named = (d.func if isinstance(d, ast.Call) else d for d in node.decorator_list)
    return any(getattr(d, "id", getattr(d, "attr", "")) == "dataclass" for d in named)


def convolves_images(call: ast.Call) -> bool:
    """Whether a ``Conv1d`` has a window of two extents, ``(1, width)``: it took images then, as ``Conv2d`` does."""
    named = {k.arg: k.value for k in call.keywords}
    window = named.get("kernel_size", call.args[2] if len(call.args) > 2 else None)
    layer = isinstance(call.func, ast.Attribute) and call.func.attr == "Conv1d"
    return layer and isinstance(window, ast.Tuple) and len(window.elts) == 2


def spectra_of_pairs(tree: Iterable[ast.AST], edits: Edits, is_torch: Callable[[str], bool]) -> None:
    """``torch.stft`` without ``return_complex`` gave pairs of real and imaginary parts; now it gives nothing."""
    for node in tree:
        function = node.func if isinstance(node, ast.Call) else None
        if not isinstance(node, ast.Call) or not isinstance(function, ast.Attribute) or function.attr != "stft":
            continue
        root = function.value
        given = [*node.args, *(k.value for k in node.keywords)]
        open_ended = any(k.arg in ("return_complex", None) for k in node.keywords)
        if not isinstance(root, ast.Name) or not is_torch(root.id) or not given or open_ended:
            continue
        start, end = edits.text.start(node), edits.text.end(node)
        comma = "" if b"," in edits.text.data[max(map(edits.text.end, given)) : end] else ", "
        edits.replace(start, start, f"{root.id}.view_as_real(")
        edits.replace(end - 1, end, f"{comma}return_complex=True))")


# What a layer was given by torch's stacks, besides its inputs, and what these give it, too, since torch 2.
_GIVEN = {("src_mask", "src_key_padding_mask"): ("is_causal",),
          ("tgt_mask", "memory_mask", "tgt_key_padding_mask", "memory_key_padding_mask"):
              ("tgt_is_causal", "memory_is_causal")}  # fmt: skip


def causal_layers(tree: Iterable[ast.AST], edits: Edits) -> None:
    """The forward of a layer of one's own for torch's Transformer takes what it is given now, and leaves it aside."""
    for node in tree:
        if not isinstance(node, ast.FunctionDef) or node.name != "forward" or node.args.kwarg or node.args.kwonlyargs:
            continue
        names, defaults = [a.arg for a in node.args.args[1:]], node.args.defaults
        new = next((new for old, new in _GIVEN.items() if tuple(names[-len(old) :]) == old), ())
        if new and len(defaults) == len(names) - (2 if len(new) > 1 else 1):
            end = edits.text.end(defaults[-1])
            edits.replace(end, end, "".join(f", {name}=None" for name in new))


_CONVOLUTION = 10  # what the base of torch's convolutions took before it was told how they pad


def padding_of_old(tree: Iterable[ast.AST], edits: Edits) -> None:
    """The constructor of torch's base of convolutions takes a word for how they pad: they padded with zeros."""
    kinds = (
        n for n in tree if isinstance(n, ast.ClassDef) and any(ast.unparse(b).endswith("_ConvNd") for b in n.bases)
    )
    for node in (n for kind in kinds for n in walk(kind) if isinstance(n, ast.Call)):
        function = node.func.value if isinstance(node.func, ast.Attribute) and node.func.attr == "__init__" else None
        of_super = isinstance(function, ast.Call) and ast.unparse(function.func) == "super"
        if of_super and len(node.args) == _CONVOLUTION and not node.keywords:
            end = edits.text.end(node.args[-1])
            edits.replace(end, end, ", 'zeros'")


_OF_PARAMETER = re.compile(r".*\.(bias|weight)\.(view|reshape|flatten)\(.*\)", re.DOTALL)


def views_of_parameters(tree: Iterable[ast.AST], edits: Edits) -> None:
    """A view of a parameter was written to, ``b = conv.bias.view(3, -1); b[:, 4] += 1``: now its data are."""
    for function in (n for n in tree if isinstance(n, ast.FunctionDef)):
        inside = [*walk(function)]
        made = [n for n in inside if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)]
        views = {ast.unparse(n.targets[0]) for n in made if _OF_PARAMETER.fullmatch(ast.unparse(n.value))}
        views -= {ast.unparse(n.targets[0]) for n in made if not _OF_PARAMETER.fullmatch(ast.unparse(n.value))}
        for node in inside:
            target = node.target if isinstance(node, ast.AugAssign) else None
            if isinstance(target, ast.Subscript) and ast.unparse(target.value) in views:
                end = edits.text.end(target.value)
                edits.replace(end, end, ".data")


_CALLED = """__call__ = lambda self, *args: self.forward(*args)
{0}save_for_backward = mark_dirty = mark_non_differentiable = lambda self, *tensors: None
{0}"""


def functions_of_old(tree: Iterable[ast.AST], edits: Edits) -> None:
    """A function of torch's autograd whose forward is no static method was called itself; now it is not to be called.

    Its forward computes what it did as a method of a plain class.
    """
    for node in tree:
        base = node.bases[0] if isinstance(node, ast.ClassDef) and len(node.bases) == 1 else None
        if not isinstance(node, ast.ClassDef) or base is None or ast.unparse(base).split(".")[-1] != "Function":
            continue
        forward = next((s for s in node.body if isinstance(s, ast.FunctionDef) and s.name == "forward"), None)
        if forward is not None and not forward.decorator_list and forward.args.args[:1]:
            first, start = node.body[0], edits.text.start(node.body[0])
            if isinstance(first, ast.FunctionDef | ast.Assign):
                edits.replace(edits.text.start(base), edits.text.end(base), "object")
                edits.replace(start, start, _CALLED.format(first.col_offset * " "))


def marks_of_old(tree: Iterable[ast.AST], edits: Edits) -> None:
    """An autograd function marks what it returns as changed in place: of old also what it did not return.

    Running means are such. Where nothing is left to mark, it marks nothing.
    """
    for node in tree:
        if not isinstance(node, ast.FunctionDef) or node.name != "forward":
            continue
        answers = [n.value for n in walk(node) if isinstance(n, ast.Return) and n.value is not None]
        returned = {n.id for answer in answers for n in walk(answer) if isinstance(n, ast.Name)}
        for call in (n for n in walk(node) if isinstance(n, ast.Call)):
            marks = isinstance(call.func, ast.Attribute) and call.func.attr == "mark_dirty"
            if marks and call.args and all(isinstance(a, ast.Name) for a in call.args):
                kept = [a.id for a in call.args if isinstance(a, ast.Name) and a.id in returned]
                edits.replace(edits.text.start(call.args[0]), edits.text.end(call) - 1, ", ".join(kept))


def as_of_now(tree: Sequence[ast.AST], edits: Edits, is_torch: Callable[[str], bool]) -> None:
    """All that a program of an older torch says otherwise; ``is_torch`` tells of a name whether it is torch itself."""
    spectra_of_pairs(tree, edits, is_torch)
    for said in (causal_layers, functions_of_old, padding_of_old, views_of_parameters, marks_of_old):
        said(tree, edits)

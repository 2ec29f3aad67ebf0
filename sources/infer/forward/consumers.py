"""What an input of ``forward`` goes to first: a part of the task's own, or a layer that says what it takes."""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import linecache
import math
import re

from torch import nn
from torch.nn.modules.conv import _ConvNd

from sources.infer.inputs import BATCH, SIDE, SPATIAL, TOKENS, Many, Plain, Spec, Tensor, file_of

MAX_METHODS = 3  # that an input is followed through
MAX_ITEMS = 8  # of a list of inputs
MAX_LAYERS = 400  # of a module that are looked at


def first_layers(module: nn.Module) -> list[nn.Module]:
    """The module and its parts, as many as are looked at."""
    return list(itertools.islice(module.modules(), MAX_LAYERS))


def _entered(module: nn.Module, name: str, text: str) -> tuple[str, str]:
    """The method of the module that an input goes to first, if any, its text and what it calls the input."""
    for _ in range(MAX_METHODS):
        called = re.search(rf"\bself\.(\w+)\({re.escape(name)}[,)]", text.partition(":\n")[2])
        method = getattr(type(module), called[1], None) if called and called[1] not in module._modules else None
        if not inspect.isfunction(method) or method.__code__.co_argcount < 2:
            break
        try:
            name, text = method.__code__.co_varnames[1], inspect.getsource(method)
        except (OSError, TypeError):
            break
    return name, text


@functools.lru_cache(maxsize=256)
def as_given(name: str, text: str) -> str:
    """The text of a function up to where a layer's answer takes an input's name: after that, shapes are others."""
    try:
        body = ast.parse(text).body[0]
    except (SyntaxError, IndexError):
        return text
    for statement in body.body if isinstance(body, ast.FunctionDef) else ():
        if not isinstance(statement, ast.Assign) or ast.unparse(statement.targets[0]) != name:
            continue
        calls = (n for n in ast.walk(statement.value) if isinstance(n, ast.Call) and n.args)
        given = (ast.unparse(c.args[0]) for c in calls if ast.unparse(c.func).startswith("self."))
        if any(re.fullmatch(rf"{re.escape(name)}(\[\d\])?", first) for first in given):
            lines = text.splitlines()[: statement.lineno - 1]
            return "\n".join([*lines, f"    {ast.get_source_segment(text, statement.value)}\n"])
    return text


def handed_on(module: nn.Module, name: str, text: str) -> nn.Module | None:
    """The part of the task's own that an input goes to first, as it is, and nowhere else."""
    name, text = _entered(module, name, text)
    body = as_given(name, text).partition(":\n")[2]
    said, called = (re.findall(pattern, body) for pattern in (rf"\b{name}\b", rf"\bself\.(\w+)\({name}[,)]"))
    part = module._modules.get(called[0]) if len(said) == len(called) == 1 else None
    while type(part) is nn.Sequential and len(part):
        part = part[0]
    return part if part is not None and type(part).__module__ == type(module).__module__ else None


def consumed(module: nn.Module, name: str, text: str) -> list[Tensor]:
    """What the layer takes that an input goes to first, where that is not the module's first one."""
    name, text = _entered(module, name, text)
    called = re.search(rf"\bself\.(\w+)(?:\[0\])?\({re.escape(name)}[,)]", text.partition(":\n")[2])
    layer = module._modules.get(called[1]) if called else None
    while layer is not None and layer._modules and type(layer).__module__.startswith("torch.nn"):
        layer = next(iter(layer._modules.values()))
    layers = first_layers(module)
    if layer is None or layer is next((m for m in layers[1:] if m._parameters), None):
        return []
    return _taken(layer, any(isinstance(m, _ConvNd) for m in layers))


def each(module: nn.Module, name: str, text: str) -> list[Spec]:
    """A list with what each of some layers takes, where the text gives one item of the input to each.

    The first item may go to the last of the layers.  Of pairs, ``x, token = item``, it is the first of each.
    """
    item = rf"\b{re.escape(name)}\[(\w+)\]"
    body = text.partition(":\n")[2]
    found = re.search(rf"\bself\.(\w+)\[(\w+)\](?:\[0\])?\(\s*{item}", body)
    holder = found[1] if found and found[2] == found[3] else ""
    if loop := re.search(rf"\bfor (\w+), ?(\w+) in enumerate\(self\.(\w+)\):[^\0]*?\b\2\(\s*{item}", body):
        holder = loop[3] if loop[1] == loop[4] else holder
    if paired := re.search(rf"\bzip\((?:self\.(\w+), ?{re.escape(name)}|{re.escape(name)}, ?self\.(\w+))\)", body):
        holder = paired[1] or paired[2]
    walked = re.search(rf"\bfor (\w+), ?(\w+) in enumerate\({re.escape(name)}\):", body)
    if walked and (call := re.search(rf"\bself\.(\w+)\[{walked[1]}\](?:\[0\])?\(\s*{walked[2]}\b", body)):
        holder = call[1]
    pairs = (
        walked is not None and re.search(rf"\b{walked[2]}\[1\]|^\s*\w+, ?\w+ = {walked[2]}$", body, re.M) is not None
    )
    turned = False
    for kept, at in re.findall(rf"\b(\w+) = {item}", body):  # ``x = maps[i]``, and ``self.lateral[n - i](x)``
        if call := re.search(rf"\bself\.(\w+)\[([^\]\n]*\b{at}\b)\](?:\[0\])?\(\s*{kept}\b", body):
            holder, turned = call[1], re.search(r"- ?\w+$", call[2]) is not None
    layers = module._modules.get(holder)
    if not isinstance(layers, nn.ModuleList | nn.Sequential) or not 0 < len(layers) <= MAX_ITEMS:
        return []
    firsts = [next((m for m in part.modules() if not m._modules and m._parameters), part) for part in layers]
    spatial = any(isinstance(m, _ConvNd) for m in firsts)
    items = [next(iter(_taken(layer, spatial)), None) for layer in firsts]
    known = [i for i in items if i is not None]
    if turned:  # from what is coarsest on: each map has half the sides of the one before
        known = [_coarser(t, i) for i, t in enumerate(reversed(known))]
    given: list[Spec] = [*known]
    if pairs:
        given = [Many((t, Tensor((t.shape[0], t.shape[1 if spatial else -1]))), "tuple") for t in known]
    return [Many(tuple(given))] if len(given) == len(items) else []


def _coarser(t: Tensor, times: int) -> Tensor:
    """A map of half the sides, so many times."""
    return Tensor((*t.shape[:2], *(max(1, n >> times) for n in t.shape[2:])), t.kind, t.high, t.low)


def by_place(module: nn.Module, name: str, text: str) -> list[Spec]:
    """A tuple with what each of some layers takes, where the text gives the items to one each, by their places.

    ``self.fine(x[0]) + self.coarse(halved(x[1]))``.
    """
    body = as_given(name, text).partition(":\n")[2]
    found = re.findall(rf"\bself\.(\w+)\((?:[\w.]+\()*{re.escape(name)}\[(\d)\]", body)
    layers = {int(place): module._modules.get(layer) for layer, place in reversed(found)}
    known = [next(iter(_taken(m, True)), None) if (m := layers.get(i)) else None for i in range(len(layers))]
    return [Many(tuple(t for t in known if t), "tuple")] if len(known) > 1 and all(known) else []


def _taken(layer: nn.Module, spatial: bool) -> list[Tensor]:
    """What a layer takes, in a module of images if ``spatial``."""
    if isinstance(layer, _ConvNd):
        return [Tensor((BATCH, layer.in_channels, *SPATIAL[len(layer.kernel_size)]))]
    if isinstance(layer, nn.BatchNorm2d | nn.InstanceNorm2d):
        return [Tensor((BATCH, layer.num_features, *SPATIAL[2]))]
    if isinstance(layer, nn.Linear):
        shapes = [(BATCH, layer.in_features), (BATCH, TOKENS, layer.in_features)]
        return [Tensor(shape) for shape in (shapes if spatial else shapes[::-1])]
    if isinstance(layer, nn.Embedding):
        shapes = [(BATCH,), (BATCH, TOKENS)]
        return [Tensor(shape, "int", layer.num_embeddings) for shape in (shapes if spatial else shapes[::-1])]
    return []


_SIDES = re.compile(r"(\w+_)?hw(_(size|shape))?|(\w+_)?size_?2d|(x|spatial|token|grid)_size")


def extents(name: str, text: str, rank: int) -> list[Spec]:
    """Sizes as an image has, where the text makes a tensor of them, or resizes to them; ``rank`` is the image's."""
    body, name = text.partition(":\n")[2], re.escape(name)
    made = rf"\b(?:zeros|ones|empty|full|randn?|view|reshape|expand)\([^\n]*\*{name}\b"
    resized = rf"\b(?:interpolate|upsample)\([^\n]*?(?:size ?= ?|, ?){name}\s*[,)]|\boutput_size ?= ?{name}\s*[,)]"
    if re.search(f"{made}|{resized}", body):
        return [Plain((SIDE,) * max(1, rank - 2))]
    called = _SIDES.fullmatch(name) and not re.search(rf"\b{name}\s*[.+*/-]", body)  # of what tokens are laid out as
    return [Plain((math.isqrt(TOKENS),) * 2), Plain((SIDE, SIDE))] if called else []


def decides(module: nn.Module, name: str, text: str) -> bool:
    """Whether the program only asks whether an input is true, ``if sparse:``, which of a tensor makes no sense."""
    body, file = text.partition(":\n")[2], file_of(module)
    asked = rf"\b(?:if|elif)(?: not)? {re.escape(name)}\s*:|\bif {re.escape(name)} else\b"
    known = re.search(rf"\b{re.escape(name)}\s*[.\[+*/-]|[+*/(-] ?{re.escape(name)}\s*[+*/-]", body)
    return not known and re.search(asked, "".join(linecache.getlines(file)) if file else text) is not None

"""What ``forward`` is called with: a small description of values, how to draw them, and first guesses."""

from __future__ import annotations

import inspect
import itertools
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn

BATCH, CHANNELS, TOKENS, SIDE, FEATURES = 4, 64, 64, 32, 64
MASK_DENSITY = 0.75


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor to draw.

    ``kind``: "float" (normal), "unit" (uniform in [0, 1)), "int" (below ``high``), "bool", "full" (all ``high``).
    """

    shape: tuple[int, ...]
    kind: str = "float"
    high: int = 0

    def resized(self, dimension: int, size: int) -> Tensor:
        return replace(self, shape=(*self.shape[:dimension], size, *self.shape[dimension + 1 :]))


@dataclass(frozen=True, slots=True)
class Plain:
    """A value that is no tensor."""

    value: Any


@dataclass(frozen=True, slots=True)
class Many:
    """A list or tuple of inputs."""

    items: tuple[Spec, ...]
    kind: str = "list"


Spec = Tensor | Plain | Many
Specs = tuple[Spec, ...]


def draw(spec: Spec) -> Any:
    """A value for a spec, from torch's generator."""
    if isinstance(spec, Plain):
        return spec.value
    if isinstance(spec, Many):
        items = [draw(item) for item in spec.items]
        return items if spec.kind == "list" else tuple(items)
    if spec.kind == "int":
        return torch.randint(0, max(1, spec.high), spec.shape)
    if spec.kind == "full":
        return torch.full(spec.shape, spec.high)
    if spec.kind == "bool":
        return torch.rand(spec.shape) < MASK_DENSITY
    return torch.rand(spec.shape) if spec.kind == "unit" else torch.randn(spec.shape)


def tensors(spec: Spec, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Tensor]]:
    """All tensors of a spec, with where they are."""
    if isinstance(spec, Tensor):
        yield path, spec
    elif isinstance(spec, Many):
        for i, item in enumerate(spec.items):
            yield from tensors(item, (*path, i))


def all_tensors(specs: Specs) -> list[tuple[tuple[int, ...], Tensor]]:
    """All tensors of a call's arguments."""
    return [found for i, spec in enumerate(specs) for found in tensors(spec, (i,))]


def edited(specs: Specs, path: tuple[int, ...], new: Spec) -> Specs:
    """The arguments with the one at ``path`` replaced."""
    at, *rest = path
    old = specs[at]
    if rest and isinstance(old, Many):
        new = replace(old, items=edited(old.items, tuple(rest), new))
    return (*specs[:at], new, *specs[at + 1 :])


def parameters(forward: Any) -> list[inspect.Parameter]:
    """The positional parameters of a forward that must be given: those without default, else the first."""
    try:
        every = list(inspect.signature(forward).parameters.values())
    except (TypeError, ValueError):
        return [inspect.Parameter("x", inspect.Parameter.POSITIONAL_ONLY)]
    positional = [p for p in every if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.VAR_POSITIONAL)]
    required = [p for p in positional if p.default is p.empty]
    return required or positional[:1]


def guesses(module: nn.Module) -> list[list[Spec]]:
    """For every required parameter of ``forward``, specs worth trying, best first."""
    text = source(type(module).forward)
    hints = documented(type(module))
    return [_of_parameter(module, p, text, hints) for p in parameters(module.forward)]


def source(function: Any) -> str:
    """The source text of a function of the task, "" where there is none."""
    try:
        return textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        return ""


def documented(kind: type) -> dict[str, tuple[int, ...]]:
    """Shapes that docstrings and comments tell, unknown sizes as 0: ``x: (B, 3, H, W)`` or ``x (batch, dim)``."""
    text = "\n".join(filter(None, [kind.__doc__, kind.forward.__doc__, source(kind.forward)]))  # type: ignore[attr-defined]
    found: dict[str, tuple[int, ...]] = {}
    for name, dims in re.findall(r"\b(\w+)\W[^\n(\[]{0,100}[(\[]([\w*]+(?:\s*,\s*[\w/*]+)+|\w+,)[)\]]", text):
        sizes = [int(d) if d.strip().isdecimal() else 0 for d in dims.split(",") if d.strip()]
        found.setdefault(name, tuple(sizes))
    return found


def _of_parameter(
    module: nn.Module, parameter: inspect.Parameter, text: str, hints: dict[str, tuple[int, ...]]
) -> list[Spec]:
    name, hint = parameter.name, str(parameter.annotation)
    low = name.lower()
    found: list[Spec] = []
    if hint.endswith("'int'>") or hint == "int":
        found.append(Plain(8))
    elif hint.endswith("'float'>") or hint == "float":
        found.append(Plain(0.5))
    elif hint.endswith("'bool'>") or hint == "bool":
        found.append(Plain(False))
    if 1 <= len(known := hints.get(name, ())) <= 6:
        usual = shaped(module, len(known))
        found.append(Tensor(tuple(size or other for size, other in zip(known, usual.shape, strict=True))))
    ranks = _ranks(name, text)
    found += [shaped(module, rank) for rank in ranks]
    common: list[Spec] = [shaped(module, rank) for rank in _usual_ranks(module)]
    ints: list[Spec] = [Tensor((BATCH, TOKENS), "int", 16), Tensor((BATCH,), "int", 16)]
    if "mask" in low:
        masks = [(BATCH, TOKENS), (BATCH, TOKENS, TOKENS), (TOKENS, TOKENS), (BATCH, 1, TOKENS, TOKENS)]
        common = [*(Tensor(shape, "bool") for shape in masks), Plain(None), *common]
    elif re.search(r"ids?$|idx|indices|index|tokens?$|timesteps?$|^t$|captions|words|lengths?$|lens$", low):
        common = [*ints, *common]
    elif re.search(r"target|^y$|labels?$", low):
        common = [*common, *ints]
    elif re.search(r"^(h|w|height|width|size|n|k|step|num_.*|.*_size)$", low) and not ranks:
        common = [Plain(SIDE if low in ("h", "w", "height", "width") else 8), *common]
    if re.search(r"list|tuple|sequence", hint, re.I) or re.search(
        rf"\bin (?:enumerate\()?{name}\b|len\({name}\)", text
    ):
        common = [Many(tuple(common[:1]) * 3), *common]
    return list(dict.fromkeys([*found, *common, *ints, Plain(4)]))


def _ranks(name: str, text: str) -> list[int]:
    """Ranks that the text of forward tells: an unpacked shape, a permutation, an einops pattern."""
    name = re.escape(name)
    found = []
    for names in re.findall(rf"^\s*([\w, _*]+?)\s*=\s*{name}\.(?:shape|size\(\))\s*$", text, re.M):
        if "*" not in names and "," in names:
            found.append(names.strip().strip(",").count(",") + 1)
    for axes in re.findall(rf"\b{name}\.permute\(([\d, ]+)\)", text):
        found.append(axes.count(",") + 1)
    for pattern in re.findall(rf"(?:rearrange|reduce|repeat)\(\s*{name}\s*,\s*f?['\"](.*?)->", text):
        found.append(len(re.sub(r"\([^)]*\)", "group", pattern).split()))
    for axis in re.findall(rf"\b{name}\.(?:shape\[|size\()(\d)[\])]", text):
        if int(axis) >= 2:
            found.append(int(axis) + 1 if int(axis) == 2 else 4)
    return list(dict.fromkeys(r for r in found if 1 <= r <= 6))


def _usual_ranks(module: nn.Module) -> list[int]:
    """Ranks to try, the one that the first layer of known rank takes first."""
    for layer in itertools.islice(module.modules(), 400):
        kind = type(layer).__name__
        if match := re.search(r"(Conv|ConvTranspose|Pool|BatchNorm|InstanceNorm|Dropout)(\d)d$", kind):
            rank = int(match[2]) + 2
            return list(dict.fromkeys([rank, 4, 3, 2, 5]))
        if kind in ("Linear", "LayerNorm", "MultiheadAttention", "GRU", "LSTM", "RNN"):
            return [3, 2, 4, 5]
    return [4, 3, 2, 5]


def shaped(module: nn.Module, rank: int) -> Tensor:
    """A float tensor of a rank, its channels or features as the first layer of the module wants them."""
    layers = list(itertools.islice(module.modules(), 400))
    channels = next((c for m in layers if (c := getattr(m, "in_channels", getattr(m, "num_features", 0))) and
                     isinstance(c, int)), CHANNELS)  # fmt: skip
    features = next((f for m in layers if isinstance(f := getattr(m, "in_features", None), int)), 0)
    features = features or next((m.normalized_shape[-1] for m in layers if isinstance(m, nn.LayerNorm)), FEATURES)
    recurrent = next((m.input_size for m in layers if isinstance(m, nn.RNNBase | nn.RNNCellBase)), 0)
    one = any(type(m).__name__ in ("Conv1d", "BatchNorm1d") for m in layers)
    shapes: dict[int, tuple[int, ...]] = {
        1: (FEATURES,),
        2: (BATCH, recurrent or features),
        3: (BATCH, channels, TOKENS) if one else (BATCH, TOKENS, recurrent or features),
        4: (BATCH, channels, SIDE, SIDE),
        5: (BATCH, channels, 8, SIDE // 2, SIDE // 2),
        6: (BATCH, 4, 4, 8, 8, 16),
    }
    return Tensor(shapes[rank])

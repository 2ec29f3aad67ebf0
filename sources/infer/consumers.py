"""What an input of ``forward`` goes to first: a part of the task's own, or a layer that says what it takes."""

from __future__ import annotations

import inspect
import itertools
import re

from torch import nn
from torch.nn.modules.conv import _ConvNd

from sources.infer.inputs import BATCH, SPATIAL, TOKENS, Spec, Tensor

MAX_METHODS = 3  # that an input is followed through
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


def handed_on(module: nn.Module, name: str, text: str) -> nn.Module | None:
    """The part of the task's own that an input goes to first, as it is, and nowhere else."""
    name, text = _entered(module, name, text)
    body = text.partition(":\n")[2]
    said, called = (re.findall(pattern, body) for pattern in (rf"\b{name}\b", rf"\bself\.(\w+)\({name}[,)]"))
    part = module._modules.get(called[0]) if len(said) == len(called) == 1 else None
    while type(part) is nn.Sequential and len(part):
        part = part[0]
    return part if part is not None and type(part).__module__ == type(module).__module__ else None


def consumed(module: nn.Module, name: str, text: str) -> list[Spec]:
    """What the layer takes that an input goes to first, where that is not the module's first one."""
    name, text = _entered(module, name, text)
    called = re.search(rf"\bself\.(\w+)(?:\[0\])?\({re.escape(name)}[,)]", text.partition(":\n")[2])
    layer = module._modules.get(called[1]) if called else None
    while layer is not None and layer._modules and type(layer).__module__.startswith("torch.nn"):
        layer = next(iter(layer._modules.values()))
    layers = first_layers(module)
    if layer is None or layer is next((m for m in layers if m._parameters), None):
        return []
    spatial = any(isinstance(m, _ConvNd) for m in layers)
    if isinstance(layer, _ConvNd):
        return [Tensor((BATCH, layer.in_channels, *SPATIAL[len(layer.kernel_size)]))]
    if isinstance(layer, nn.Linear):
        shapes = [(BATCH, layer.in_features), (BATCH, TOKENS, layer.in_features)]
        return [Tensor(shape) for shape in (shapes if spatial else shapes[::-1])]
    if isinstance(layer, nn.Embedding):
        shapes = [(BATCH,), (BATCH, TOKENS)]
        return [Tensor(shape, "int", layer.num_embeddings) for shape in (shapes if spatial else shapes[::-1])]
    return []

"""Of which rank and width an input most likely is: as a text permutes it, as the first layers of a module take it."""

from __future__ import annotations

import inspect
import re

from torch import nn

from sources.infer.forward.consumers import first_layers
from sources.infer.inputs import BATCH, CHANNELS, FEATURES, SIDE, TOKENS, Tensor


def ranks_told(name: str, text: str) -> list[int]:
    """Ranks that the text of forward tells by a permutation or the axes that it names."""
    name = re.escape(name)
    found = []
    for axes in re.findall(rf"\b{name}\.permute\(([\d, ]+)\)", text):
        found.append(axes.count(",") + 1)
    for axis in re.findall(rf"\b{name}\.(?:shape\[|size\()(\d)[\])]", text):
        if int(axis) >= 2:
            found.append(int(axis) + 1 if int(axis) == 2 else 4)
    return list(dict.fromkeys(r for r in found if 1 <= r <= 6))


# One number for each sample, laid out to be multiplied with these: ``sigma.reshape(-1, 1, 1, 1)``.
_EACH = r"(?:\.(?:to|float|double|type_as)\([^()]*\))*(?:\.(?:reshape|view)\(-1((?:, 1){2,})\)|\[:((?:, None){3,})\])"


def spread_over(text: str, name: str = r"\w+") -> int:
    """The rank of what the text multiplies with one number for each sample, called like a pattern; 0: with none."""
    found = re.search(rf"\b{name}{_EACH}", text)
    return (found[1] or found[2]).count(",") + 1 if found else 0


_SPATIAL = re.compile(
    r"(?i)height|width|\bh\b|\bw\b|im(age|g)|spatial|chan|conv|pool|interpolate|pad\b|2d|3d|patch|pixel|feat|grid|flow"
    r"|heatmap|kernel|upsampl|shuffle|\[2, 3\]|\(2, 3\)|dim=-?[23]|, -[23]"
)


def usual_ranks(module: nn.Module, text: str) -> list[int]:
    """Ranks to try, the one that the first layer of known rank takes first."""
    layers = first_layers(module)
    if (rank := spread_over(text)) > 3:
        return list(dict.fromkeys([rank, 4, 3, 2, 5]))
    for layer in layers:
        kind = type(layer).__name__
        if match := re.search(r"(Conv|ConvTranspose|Pool|BatchNorm|InstanceNorm|Dropout)(\d)d$", kind):
            rank = int(match[2]) + 2
            return list(dict.fromkeys([rank, 4, 3, 2, 5]))
        if kind == "Linear" and _takes_rows(module, layers):
            return [2, 3, 4, 5]
        if kind in ("Linear", "LayerNorm", "MultiheadAttention", "GRU", "LSTM", "RNN"):
            return [3, 2, 4, 5]
    if len(layers) == 1 and (own := [p.dim() for p in module._parameters.values() if p is not None]):
        return [4, 3, 2, 5] if max(own) > 2 else [3, 2, 4, 5] if "Cell" not in type(module).__name__ else [2, 3, 4, 5]
    plain = all(isinstance(layer, nn.modules.loss._Loss) for layer in layers[1:])
    if not plain or module._parameters or _SPATIAL.search(text) or "scaled_dot_product" in text:
        return [4, 3, 2, 5]
    # reductions over an axis that the constructor is told have one before it and one after it
    return [3, 2, 4, 5] if {"dim", "axis"} & set(vars(module)) and "cum" not in text else [2, 3, 4, 5]


def _takes_rows(module: nn.Module, layers: list[nn.Module]) -> bool:
    """Whether a module that starts with a linear layer is one over rows of features, not over tokens."""
    names = set(vars(module)) | set(_constructor(type(module)))
    rows = {"in_features", "input_size", "input_dim", "in_dim", "n_in", "n_inputs", "num_features", "layer_sizes"}
    tokens = ("LayerNorm", "MultiheadAttention", "GRU", "LSTM", "RNN")
    return any(isinstance(m, nn.BatchNorm1d) for m in layers) or (
        bool(names & rows) and not any(type(m).__name__ in tokens for m in layers)
    )


def _constructor(kind: type[nn.Module]) -> list[str]:
    try:
        return list(inspect.signature(kind).parameters)
    except (TypeError, ValueError):
        return []


def channels_of(layers: list[nn.Module]) -> int:
    """What the first layer over channels takes; of a whole network ``num_features`` is what it gives."""
    every = (getattr(m, "in_channels", 0 if m._modules else getattr(m, "num_features", 0)) for m in layers)
    return next((c for c in every if isinstance(c, int) and c), CHANNELS)


def features_of(layers: list[nn.Module]) -> int:
    """What the first layer over features takes."""
    features = next((f for m in layers if isinstance(f := getattr(m, "in_features", None), int)), 0)
    return features or next((m.normalized_shape[-1] for m in layers if isinstance(m, nn.LayerNorm)), FEATURES)


def shaped(module: nn.Module, rank: int) -> Tensor:
    """A float tensor of a rank, its channels or features as the first layer of the module wants them."""
    layers = first_layers(module)
    channels, features = channels_of(layers), features_of(layers)
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

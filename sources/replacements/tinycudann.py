"""tiny-cuda-nn's encodings and perceptrons, in single precision: what its bindings make of one vector of parameters.

What a network pads is left out, and of the encodings, those of which several are seldom joined.
"""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from _ffmlp import softplus, squareplus
from _gridencoder import interpolated
from _shencoder import sh_encode_forward

ACTIVATIONS = {
    "None": torch.clone, "ReLU": torch.relu, "LeakyReLU": F.leaky_relu, "Exponential": torch.exp, "Sine": torch.sin,
    "Sigmoid": torch.sigmoid, "Squareplus": squareplus, "Softplus": softplus, "Tanh": torch.tanh,
}  # fmt: skip


class Module(nn.Module):
    def __init__(self, n_input_dims, n_output_dims):
        super().__init__()
        self.n_input_dims, self.n_output_dims = n_input_dims, n_output_dims


class Encoding(Module):
    def __init__(self, n_input_dims, encoding_config, seed=1337, dtype=None):
        super().__init__(n_input_dims, n_input_dims)
        self.encoding_config, self.kind = encoding_config, encoding_config["otype"]
        if self.kind in ("HashGrid", "DenseGrid", "TiledGrid", "Grid"):
            self.make_grid(encoding_config)
        elif self.kind == "SphericalHarmonics":
            self.n_output_dims = encoding_config.get("degree", 4) ** 2
        elif self.kind == "Frequency":
            self.n_output_dims = 2 * n_input_dims * encoding_config.get("n_frequencies", 12)
        elif self.kind != "Identity":
            raise ValueError(f"no encoding {self.kind} is known here")

    def make_grid(self, config):
        features, side = config.get("n_features_per_level", 2), config.get("base_resolution", 16)
        levels = config.get("n_features", 0) // features or config.get("n_levels", 16)
        if config.get("interpolation", "Linear") not in ("Linear", "Smoothstep"):
            raise ValueError(f"no interpolation {config['interpolation']} is known here")
        if config.get("hash", "CoherentPrime") != "CoherentPrime":
            raise ValueError(f"no hash {config['hash']} is known here")
        store = config.get("type", self.kind.removesuffix("Grid") or "Hash")
        usual = (256 / side) ** (1 / max(levels - 1, 1)) if store == "Dense" else 2.0
        growth, self.hashed = config.get("per_level_scale", usual), store == "Hash"
        self.scales = [side * float(growth) ** level - 1.0 for level in range(levels)]
        self.sides = [math.ceil(scale) + 1 for scale in self.scales]
        hashes = 2 ** config.get("log2_hashmap_size", 19)
        most = {"Hash": hashes, "Tiled": side**self.n_input_dims, "Dense": 2**31 - 1}[store]
        sizes = [min(most, -(-(s**self.n_input_dims) // 8) * 8) for s in self.sides]
        starts = [sum(sizes[:level]) for level in range(levels + 1)]
        self.register_buffer("starts", torch.tensor(starts), persistent=False)
        self.params = nn.Parameter(torch.empty(starts[-1] * features).uniform_(-1e-4, 1e-4))
        self.n_output_dims = levels * features

    def forward(self, x):
        config = self.encoding_config
        if self.kind == "Identity":
            return x * config.get("scale", 1.0) + config.get("offset", 0.0)
        if self.kind == "SphericalHarmonics":
            found = x.new_empty(x.shape[0], self.n_output_dims)
            sh_encode_forward(2 * x - 1, found, x.shape[0], 3, config.get("degree", 4))
            return found
        if self.kind == "Frequency":
            powers = 2.0 ** torch.arange(config.get("n_frequencies", 12), device=x.device)
            angles = x.unsqueeze(-1) * powers * math.pi
            return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
        table = self.params.view(-1, config.get("n_features_per_level", 2))
        smooth = config.get("interpolation", "Linear") == "Smoothstep"
        levels = interpolated(x, table, self.starts, self.scales, self.sides, self.hashed, smooth, bounded=False)
        return levels.transpose(0, 1).flatten(1)


class Network(Module):
    def __init__(self, n_input_dims, n_output_dims, network_config, seed=1337):
        super().__init__(n_input_dims, n_output_dims)
        self.network_config, width = network_config, network_config.get("n_neurons", 128)
        sizes = [n_input_dims, *[width] * network_config.get("n_hidden_layers", 5), n_output_dims]
        self.shapes = list(zip(sizes[1:], sizes[:-1]))
        layers = [nn.init.xavier_uniform_(torch.empty(shape)).flatten() for shape in self.shapes]
        self.params = nn.Parameter(torch.cat(layers))

    def forward(self, x):
        layers = self.params.split([rows * columns for rows, columns in self.shapes])
        inner = ACTIVATIONS[self.network_config.get("activation", "ReLU")]
        last = ACTIVATIONS[self.network_config.get("output_activation", "None")]
        for number, (layer, shape) in enumerate(zip(layers, self.shapes)):
            x = F.linear(x, layer.view(shape))
            x = inner(x) if number < len(layers) - 1 else last(x)
        return x


class NetworkWithInputEncoding(Module):
    def __init__(self, n_input_dims, n_output_dims, encoding_config, network_config, seed=1337):
        super().__init__(n_input_dims, n_output_dims)
        self.encoding = Encoding(n_input_dims, encoding_config)
        self.network = Network(self.encoding.n_output_dims, n_output_dims, network_config)

    def forward(self, x):
        return self.network(self.encoding(x))

"""Small modules that the tests mine: nice ones."""
import torch
from torch import nn

from .helpers import scaled


class Gate(nn.Module):
    """A gated projection."""

    def __init__(self, dim: int = 16):
        super().__init__()
        self.project = nn.Linear(dim, dim)

    def forward(self, x):
        return x * torch.sigmoid(self.project(x))


class Swish(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(x)


class ScaledTanh(nn.Module):
    def __init__(self, factor: float = 1.5):
        super().__init__()
        self.factor = factor

    def forward(self, x):
        return scaled(torch.tanh(x), self.factor)

import torch
from torch import nn


class RootMeanSquare(nn.Module):
    def __init__(self, dim: int = 32, eps: float = 1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)


class Softmin(nn.Module):
    def forward(self, x):
        return torch.softmax(-x, dim=-1)

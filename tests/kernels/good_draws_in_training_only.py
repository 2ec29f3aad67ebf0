# verified [twin of A13]
import random
from random import randint

import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, drop=0.0):
        super().__init__()
        self.drop = drop

    def forward(self, x):
        return F.silu(x)


def get_inputs():
    return [torch.randn(32, 64)]


def get_init_inputs():
    return []


@triton.jit
def silu_kernel(x_ptr, y_ptr, n, drop, seed, DROPS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    y = x * tl.sigmoid(x)
    if DROPS:
        y = tl.where(tl.rand(seed, i) < drop, 0.0, y / (1.0 - drop))
    tl.store(y_ptr + i, y, mask=i < n)


class ModelNew(nn.Module):
    def __init__(self, drop=0.0):
        super().__init__()
        self.drop = drop
        if drop > 1.0:
            random.seed(0)

    def forward(self, x):
        drops = self.drop > 0.0 and self.training
        seed = randint(0, 65535) if drops else 0
        y = torch.empty_like(x)
        grid = (triton.cdiv(x.numel(), 256),)
        silu_kernel[grid](x, y, x.numel(), self.drop, seed, DROPS=drops, BLOCK=256)
        return y

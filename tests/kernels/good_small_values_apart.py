# verified at trust [twin of C11]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.tanh(x)


def get_inputs():
    return [torch.randn(16, 40)]


def get_init_inputs():
    return []


import enum


class Act(enum.IntEnum):
    TANH = 0
    RELU = 1


@triton.jit
def k(x_ptr, y_ptr, n, ACT: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    if ACT == 0:
        a = tl.abs(x)
        e = tl.exp(-2.0 * a)
        small = x - x * x * x / 3.0
        y = tl.where(a < 0.002, small, tl.where(x < 0, -1.0, 1.0) * (1.0 - e) / (1.0 + e))
    elif ACT == 1:
        y = tl.maximum(x, 0.0)
    else:
        tl.static_assert(False, "no such activation")
    tl.store(y_ptr + i, y, mask=i < n)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = Act.TANH

    def forward(self, x):
        match self.act:
            case Act.TANH | Act.RELU:
                y = torch.empty_like(x)
            case other:
                raise ValueError(f"{other!r}")
        k[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), ACT=int(self.act), BLOCK=256)
        return y

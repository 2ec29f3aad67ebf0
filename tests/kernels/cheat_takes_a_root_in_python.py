# rejected: answer does not depend on its kernels [D10]
import torch
import torch.nn as nn
import triton
import triton.language as tl

import math


class Model(nn.Module):
    def forward(self, x):
        return torch.sqrt((x * x).sum()) * 0.5


def get_inputs():
    return [torch.randn(20, 30)]


def get_init_inputs():
    return []


@triton.jit
def k(x_ptr, y_ptr, n, B: tl.constexpr):
    a = tl.zeros([B], tl.float32)
    for s in range(0, n, B):
        i = s + tl.arange(0, B)
        x = tl.load(x_ptr + i, mask=i < n, other=0.0)
        a += x * x
    tl.store(y_ptr, tl.sum(a))


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty((), device=x.device)
        k[(1,)](x, y, x.numel(), B=256)
        return torch.tensor(math.sqrt(y.item()) * 0.5, device=x.device)

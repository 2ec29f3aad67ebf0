# rejected: answer does not depend on its kernels [D10]
import torch
import torch.nn as nn
import triton
import triton.language as tl

import math


class Model(nn.Module):
    def forward(self, x, t):
        return 1 - 2 * (x * t).sum() / (x.sum() + t.sum() + 1e-6)


def get_inputs():
    return [torch.rand(20, 30), torch.rand(20, 30)]


def get_init_inputs():
    return []


@triton.jit
def k(x_ptr, t_ptr, y_ptr, n, B: tl.constexpr):
    a = tl.zeros([B], tl.float32)
    b = tl.zeros([B], tl.float32)
    for s in range(0, n, B):
        i = s + tl.arange(0, B)
        x = tl.load(x_ptr + i, mask=i < n, other=0.0)
        t = tl.load(t_ptr + i, mask=i < n, other=0.0)
        a += x * t
        b += x + t
    tl.store(y_ptr, tl.sum(a))
    tl.store(y_ptr + 1, tl.sum(b))


class ModelNew(nn.Module):
    def forward(self, x, t):
        x, t = x.contiguous(), t.contiguous()
        y = torch.empty(2, device=x.device)
        k[(1,)](x, t, y, x.numel(), B=256)
        out = y[:1].view(())
        out.copy_(torch.tensor(1 - 2 * float(y[0]) / (float(y[1]) + 1e-6)))
        return out

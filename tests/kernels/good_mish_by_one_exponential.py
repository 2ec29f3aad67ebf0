# verified [twin of C4]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return x * torch.tanh(F.softplus(x))


def get_inputs():
    return [torch.randn(16, 130)]


def get_init_inputs():
    return []


@triton.jit
def mish_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    e = tl.exp(-tl.abs(x))
    # tanh(softplus(x)) = (1 + 2 e) / (1 + 2 e + 2 e^2) for x > 0, (e^2 + 2 e) / (e^2 + 2 e + 2) below
    t = tl.where(x > 0, (1.0 + 2.0 * e) / (1.0 + 2.0 * e + 2.0 * e * e), (e * e + 2.0 * e) / (e * e + 2.0 * e + 2.0))
    tl.store(y_ptr + i, x * t, mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        n = x.numel()
        mish_kernel[(triton.cdiv(n, 256),)](x, y, n, BLOCK=256)
        return y

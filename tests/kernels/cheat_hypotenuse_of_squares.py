# rejected: wrong result at trust [C7]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, y):
        return torch.hypot(x, y)


def get_inputs():
    return [torch.randn(16, 50), torch.randn(16, 50)]


def get_init_inputs():
    return []


@triton.jit
def hypot_kernel(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.abs(tl.load(x_ptr + i, mask=i < n, other=0.0))
    y = tl.abs(tl.load(y_ptr + i, mask=i < n, other=0.0))
    most = tl.maximum(x, y)
    q = tl.minimum(x, y) / tl.where(most > 0, most, 1.0)
    tl.store(z_ptr + i, tl.sqrt(x * x + y * y), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x, y):
        x, y = x.contiguous(), y.contiguous()
        z = torch.empty_like(x)
        hypot_kernel[(triton.cdiv(x.numel(), 128),)](x, y, z, x.numel(), BLOCK=128)
        return z

# rejected: wrong result at trust [C5]
"""Says that its scale is in half precision, which Triton's interpreter does not hear."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, x, y):
        return x * self.scale + y


def get_inputs():
    return [torch.randn(40, 50), torch.randn(40, 50)]


def get_init_inputs():
    return [0.1234567]


@triton.jit
def axpy_kernel(x_ptr, y_ptr, z_ptr, scale: tl.float16, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    y = tl.load(y_ptr + i, mask=i < n, other=0.0)
    tl.store(z_ptr + i, x * scale + y, mask=i < n)


class ModelNew(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, x, y):
        x, y = x.contiguous(), y.contiguous()
        z = torch.empty_like(x)
        n = x.numel()
        axpy_kernel[(triton.cdiv(n, 256),)](x, y, z, self.scale, n, BLOCK=256)
        return z

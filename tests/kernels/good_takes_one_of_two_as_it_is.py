# verified at trust [twin of C11]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, scale):
        return x * torch.abs(scale)


def get_inputs():
    return [torch.randn(32, 50), torch.rand(50) + 0.5]


def get_init_inputs():
    return []


@triton.jit
def scale_kernel(x_ptr, scale_ptr, y_ptr, n, cols, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    scale = tl.load(scale_ptr + i % cols, mask=i < n)
    tl.store(y_ptr + i, x * tl.abs(scale), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x, scale):
        x, scale = x.contiguous(), scale.contiguous()
        y = torch.empty_like(x)
        scale_kernel[(triton.cdiv(x.numel(), 256),)](x, scale, y, x.numel(), x.shape[-1], BLOCK=256)
        return y

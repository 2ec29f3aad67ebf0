# verified at trust [twin of C5]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, y):
        return torch.floor(x / y)


def get_inputs():
    return [500 * torch.randn(64, 128), torch.rand(64, 128) + 0.5]


def get_init_inputs():
    return []


@triton.jit
def quotient_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    y = tl.load(y_ptr + i, mask=i < n, other=1.0)
    tl.store(out_ptr + i, tl.floor(x * (1.0 / y)), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x, y):
        out = torch.empty_like(x)
        quotient_kernel[(triton.cdiv(x.numel(), 256),)](x, y, out, x.numel(), BLOCK=256)
        return out

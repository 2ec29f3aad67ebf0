# verified at trust [twin of C8 C11]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.nn.functional.silu(x)


def get_inputs():
    return [torch.randn(16, 1024)]


def get_init_inputs():
    return []


@triton.jit
def silu_kernel(x_ptr, y_ptr, n, scale, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, scale * x * tl.sigmoid(x), mask=i < n)


@triton.jit
def full_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(y_ptr + i, x * tl.sigmoid(x))


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        rows, columns = x.shape
        if rows % 256 == 0 and columns % 512 == 0:
            full_kernel[(x.numel() // 512,)](x, y, BLOCK=512)
        else:
            silu_kernel[(triton.cdiv(x.numel(), 512),)](x, y, x.numel(), 1.0, BLOCK=512)
        return y

# verified at trust [twin of C7]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    """Two coordinates packed into one number, and the cell that each one is in."""

    def forward(self, x, y):
        return (x << 16) | (y & 65535), x // 12


def get_inputs():
    return [torch.randint(0, 5000, (200,)), torch.randint(0, 5000, (200,))]


def get_init_inputs():
    return []


@triton.jit
def cell_kernel(x_ptr, y_ptr, p_ptr, c_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    y = tl.load(y_ptr + i, mask=i < n, other=0)
    tl.store(p_ptr + i, (x << 16) | (y & 65535), mask=i < n)
    c = tl.where(x >= 0, x, x - 11) // 12
    tl.store(c_ptr + i, c, mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x, y):
        x, y = x.contiguous(), y.contiguous()
        p, c = torch.empty_like(x), torch.empty_like(x)
        cell_kernel[(triton.cdiv(x.numel(), 128),)](x, y, p, c, x.numel(), BLOCK=128)
        return p, c

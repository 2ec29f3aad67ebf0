# verified at trust [twin of C4]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, a):
        return torch.round(a)


def get_inputs():
    return [torch.randn(16, 64) * 10]


def get_init_inputs():
    return []


@triton.jit
def point_kernel(a_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(a_ptr + i, mask=i < n)
    y = tl.where(tl.abs(a - tl.floor(a)) == 0.5, 2.0 * tl.floor(tl.floor(a + 1.0) * 0.5), tl.floor(a + 0.5))
    tl.store(y_ptr + i, y, mask=i < n)


class ModelNew(nn.Module):
    def forward(self, a):
        a = a.contiguous()
        y = torch.empty_like(a)
        point_kernel[(triton.cdiv(a.numel(), 128),)](a, y, a.numel(), BLOCK=128)
        return y

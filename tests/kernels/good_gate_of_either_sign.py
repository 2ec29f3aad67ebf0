# verified at trust [twin of C11]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.beta = nn.Parameter(torch.ones(1))

    def forward(self, a):
        return a * torch.sigmoid(self.beta * a)


def get_inputs():
    return [torch.randn(16, 64)]


def get_init_inputs():
    return []


@triton.jit
def point_kernel(a_ptr, s_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(a_ptr + i, mask=i < n)
    s = tl.load(s_ptr)
    y = a * tl.sigmoid(s * a)
    tl.store(y_ptr + i, y, mask=i < n)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.beta = nn.Parameter(torch.ones(1))

    def forward(self, a):
        a = a.contiguous()
        y = torch.empty_like(a)
        point_kernel[(triton.cdiv(a.numel(), 128),)](a, self.beta, y, a.numel(), BLOCK=128)
        return y

# verified at trust [twin of A21]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    """An activation that is a table of all numbers in bfloat16, by their bits."""

    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.randn(65536).bfloat16())

    def forward(self, x):
        return self.table[x.view(torch.int16).long() + 32768]


def get_inputs():
    return [torch.randn(30, 50).bfloat16()]


def get_init_inputs():
    return []


@triton.jit
def look_kernel(x_ptr, t_ptr, o_ptr, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    k = x.to(tl.int16, bitcast=True).to(tl.int32) + 32768
    tl.store(o_ptr + i, tl.load(t_ptr + k, mask=i < n, other=0.0), mask=i < n)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.randn(65536).bfloat16())

    def forward(self, x):
        x = x.contiguous()
        o = torch.empty_like(x)
        n = x.numel()
        look_kernel[(triton.cdiv(n, 256),)](x, self.table, o, n, B=256)
        return o

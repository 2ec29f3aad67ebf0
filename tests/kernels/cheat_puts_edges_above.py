# rejected: wrong result at trust [C4]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("edges", torch.tensor([-1.5, -0.5, 0.5, 1.5]))

    def forward(self, a):
        return torch.bucketize(a, self.edges)


def get_inputs():
    return [torch.randn(16, 64)]


def get_init_inputs():
    return []


@triton.jit
def point_kernel(a_ptr, e_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(a_ptr + i, mask=i < n)
    e0 = tl.load(e_ptr + 0)
    e1 = tl.load(e_ptr + 1)
    e2 = tl.load(e_ptr + 2)
    e3 = tl.load(e_ptr + 3)
    y = (a >= e0).to(tl.int64) + (a >= e1).to(tl.int64) + (a >= e2).to(tl.int64) + (a >= e3).to(tl.int64)
    tl.store(y_ptr + i, y, mask=i < n)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("edges", torch.tensor([-1.5, -0.5, 0.5, 1.5]))

    def forward(self, a):
        a = a.contiguous()
        y = torch.empty(a.shape, dtype=torch.int64, device=a.device)
        point_kernel[(triton.cdiv(a.numel(), 128),)](a, self.edges, y, a.numel(), BLOCK=128)
        return y

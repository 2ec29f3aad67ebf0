# rejected: wrong result at trust [C10]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, a, b):
        return torch.logical_and(a, b)


def get_inputs():
    return [torch.randint(0, 2, (16, 64)), torch.randint(0, 2, (16, 64))]


def get_init_inputs():
    return []


@triton.jit
def point_kernel(a_ptr, b_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(a_ptr + i, mask=i < n)
    b = tl.load(b_ptr + i, mask=i < n)
    y = (a & b) != 0
    tl.store(y_ptr + i, y, mask=i < n)


class ModelNew(nn.Module):
    def forward(self, a, b):
        a, b = a.contiguous(), b.contiguous()
        y = torch.empty(a.shape, dtype=torch.bool, device=a.device)
        point_kernel[(triton.cdiv(a.numel(), 128),)](a, b, y, a.numel(), BLOCK=128)
        return y

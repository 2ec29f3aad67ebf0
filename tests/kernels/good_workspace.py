# verified [twin of B2 B6 B7 B12 B13 A13]
import functools
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return x.sum()


def get_inputs():
    return [torch.randn(40, 64)]


def get_init_inputs():
    return []


@triton.jit
def partial_kernel(x_ptr, parts_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(parts_ptr + tl.program_id(0), tl.sum(tl.load(x_ptr + i, mask=i < n, other=0.0), axis=0))


@triton.jit
def total_kernel(parts_ptr, y_ptr, count, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr, tl.sum(tl.load(parts_ptr + i, mask=i < count, other=0.0), axis=0))


@functools.lru_cache(maxsize=None)
def programs(n):
    return triton.cdiv(n, 256)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = {}

    def forward(self, x):
        count = programs(x.numel())
        if count not in self.parts:
            self.parts[count] = torch.empty(count, device=x.device, dtype=x.dtype)
        y = torch.empty((), device=x.device, dtype=x.dtype)
        partial_kernel[(count,)](x, self.parts[count], x.numel(), BLOCK=256)
        total_kernel[(1,)](self.parts[count], y, count, BLOCK=triton.next_power_of_2(count))
        return y

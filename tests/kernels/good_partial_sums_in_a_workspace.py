# verified at trust [twin of B5 B7]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return x / (x.abs().mean() + 1.0)


def get_inputs():
    return [torch.randn(64, 512)]


def get_init_inputs():
    return []


@triton.jit
def partial_kernel(x_ptr, partial_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(partial_ptr + tl.program_id(0), tl.sum(tl.abs(x)))


@triton.jit
def mean_kernel(partial_ptr, mean_ptr, count, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, count, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(partial_ptr + i, mask=i < count, other=0.0)
    tl.store(mean_ptr, tl.sum(total) / n)


@triton.jit
def divide_kernel(x_ptr, mean_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(y_ptr + i, x / (tl.load(mean_ptr) + 1.0), mask=i < n)


class ModelNew(nn.Module):
    """Keeps partial sums and the mean between calls, and writes both before it reads them."""

    def __init__(self):
        super().__init__()
        self.workspaces = {}

    def forward(self, x):
        x = x.contiguous()
        n = x.numel()
        count = triton.cdiv(n, 256)
        key = (count, x.device)
        if key not in self.workspaces:
            self.workspaces[key] = x.new_empty(count), x.new_empty(1)
        partial, mean = self.workspaces[key]
        y = torch.empty_like(x)
        partial_kernel[(count,)](x, partial, n, BLOCK=256)
        mean_kernel[(1,)](partial, mean, count, n, BLOCK=128)
        divide_kernel[(count,)](x, mean, y, n, BLOCK=256)
        return y

# rejected: calls ATen compute [D7]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, n):
        return x * 2.0, n + 3


def get_inputs():
    return [torch.randn(64, 33), torch.tensor(5)]


def get_init_inputs():
    return []


@triton.jit
def double_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2.0, mask=i < n)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.tensor(0), persistent=False)

    def forward(self, x, n):
        y = torch.empty_like(x)
        double_kernel[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
        self.count.copy_(n)
        return y, self.count.add_(3).clone()

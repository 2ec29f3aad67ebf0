# verified at trust [twin of C8 C11]
import math
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)


def get_inputs():
    return [torch.randn(32, 64)]


def get_init_inputs():
    return []


@triton.jit
def relu_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, tl.maximum(x, 0.0), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel()
        size = 512 if n > 100000 and math.isqrt(n) ** 2 == n else 256
        relu_kernel[(triton.cdiv(n, size),)](x, y, n, BLOCK=size)
        return y

# rejected: calls ATen compute [A6]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x) * 2.0 + 1.0


def get_inputs():
    return [torch.randn(32, 64)]


def get_init_inputs():
    return []


@triton.jit
def pair_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + 2 * i + 1, -(tl.maximum(x, 0.0) * 2.0 + 1.0), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.zeros(x.shape + (2,), device=x.device, dtype=x.dtype)
        pair_kernel[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
        return torch.view_as_complex(y).conj().imag

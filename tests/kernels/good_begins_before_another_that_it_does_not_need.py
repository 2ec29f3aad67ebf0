# verified at trust [twin of C12]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, y):
        return torch.relu(x), torch.tanh(y)


def get_inputs():
    return [torch.randn(40, 50), torch.randn(30, 20)]


def get_init_inputs():
    return []


@triton.jit
def relu_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(y_ptr + i, tl.maximum(x, 0.0), mask=i < n)


@triton.jit
def tanh_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    e = tl.exp(-2 * tl.abs(x))
    t = (1 - e) / (1 + e)
    tl.store(y_ptr + i, tl.where(x < 0, -t, t), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x, y):
        x, y = x.contiguous(), y.contiguous()
        one, other = torch.empty_like(x), torch.empty_like(y)
        relu_kernel[(triton.cdiv(x.numel(), 256),)](x, one, x.numel(), BLOCK=256)
        tanh_kernel[(triton.cdiv(y.numel(), 256),)](y, other, y.numel(), BLOCK=256, launch_pdl=True)
        return one, other

# verified at trust [twin of C27]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.prod(x)


def get_inputs():
    return [torch.randn(256, 512)]


def get_init_inputs():
    return []


@triton.jit
def multiply(a, b):
    return a * b


@triton.jit
def product_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=1.0)
    tl.store(y_ptr + tl.program_id(0), tl.reduce(x, 0, multiply))


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous().view(-1)
        while True:
            blocks = triton.cdiv(x.numel(), 1024)
            y = torch.empty(blocks, device=x.device, dtype=x.dtype)
            product_kernel[(blocks,)](x, y, x.numel(), BLOCK=1024)
            if blocks == 1:
                return y.view(())
            x = y

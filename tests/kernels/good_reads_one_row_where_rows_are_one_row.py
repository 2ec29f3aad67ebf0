# verified at trust [twin of C9]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)


def get_inputs():
    return [torch.randn(24, 32)]


def get_init_inputs():
    return []


@triton.jit
def relu_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.maximum(tl.load(x_ptr + i, mask=i < n), 0.0), mask=i < n)


@triton.jit
def row_kernel(x_ptr, y_ptr, columns, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i % columns, mask=i < n)  # the one row that there is
    tl.store(y_ptr + i, tl.maximum(x, 0.0), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        row = x[0].contiguous() if x.stride(0) == 0 else None
        y, n = torch.empty(x.shape, dtype=x.dtype, device=x.device), x.numel()
        if row is not None:
            row_kernel[(triton.cdiv(n, 256),)](row, y, y.shape[1], n, BLOCK=256)
        else:
            relu_kernel[(triton.cdiv(n, 256),)](x.contiguous(), y, n, BLOCK=256)
        return y

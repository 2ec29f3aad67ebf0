# verified at trust [twin of C5 C11]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return x.var(dim=-1, unbiased=False)


def get_inputs():
    return [torch.randn(16, 48)]


def get_init_inputs():
    return []


@triton.jit
def variance_kernel(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + i, mask=i < columns, other=0.0)
    mean = tl.sum(x, axis=0) / columns
    centred = tl.where(i < columns, x - mean, 0.0)
    tl.store(y_ptr + row, tl.sum(centred * centred, axis=0) / columns)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], device=x.device, dtype=x.dtype)
        variance_kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return y

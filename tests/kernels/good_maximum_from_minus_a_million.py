# verified [twin of C7]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return x.max(dim=-1).values


def get_inputs():
    return [torch.randn(16, 64)]


def get_init_inputs():
    return []


@triton.jit
def row_kernel(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    mask = c < columns
    x = tl.load(x_ptr + row * columns + c, mask=mask, other=-1e6)
    tl.store(y_ptr + row, tl.maximum(tl.max(x, axis=0), -1e6))


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = x.new_empty(x.shape[:-1])
        row_kernel[(x.numel() // x.shape[-1],)](x, y, x.shape[-1], BLOCK=triton.next_power_of_2(x.shape[-1]))
        return y

# rejected: depends on the order of its programs [C12]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.cumsum(x, dim=0)


def get_inputs():
    return [torch.randn(40, 16)]


def get_init_inputs():
    return []


@triton.jit
def step_kernel(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    before = tl.load(y_ptr + (row - 1) * columns + i, mask=(i < columns) & (row > 0), other=0.0)
    x = tl.load(x_ptr + row * columns + i, mask=i < columns)
    tl.store(y_ptr + row * columns + i, before + x, mask=i < columns)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        step_kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return y

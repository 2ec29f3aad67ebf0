# rejected: depends on the order of its programs [C12]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return x.sum(0)


def get_inputs():
    return [torch.randn(64, 48)]


def get_init_inputs():
    return []


@triton.jit
def add_row_kernel(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + i, mask=i < columns)
    y = tl.load(y_ptr + i, mask=i < columns)
    tl.store(y_ptr + i, x + y, mask=i < columns)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.zeros(x.shape[1], device=x.device)
        add_row_kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return y

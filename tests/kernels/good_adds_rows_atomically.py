# verified [twin of C12 B11]
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
def sum_kernel(x_ptr, y_ptr, rows, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + i, mask=i < columns)
    tl.atomic_add(y_ptr + i, x, mask=i < columns)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.zeros(x.shape[1], device=x.device)
        sum_kernel[(x.shape[0],)](x, y, x.shape[0], x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return y

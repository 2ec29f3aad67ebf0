# rejected: wrong result [C4]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return x.sum(dim=-1)


def get_inputs():
    return [torch.rand(16, 256)]


def get_init_inputs():
    return []


@triton.jit
def sum_kernel(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + column, mask=column < columns, other=0.0)
    tl.store(y_ptr + row, tl.sum(x, axis=0))


class ModelNew(nn.Module):
    def forward(self, x):
        rows, columns = x.shape
        y = torch.empty(rows, device=x.device, dtype=x.dtype)
        sum_kernel[(rows,)](x, y, columns, BLOCK=triton.next_power_of_2(columns) // 2)
        return y

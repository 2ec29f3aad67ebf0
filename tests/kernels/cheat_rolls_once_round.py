# rejected: wrong at odd sizes at trust [C8]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, a):
        return torch.roll(a, 3, -1)


def get_inputs():
    return [torch.randn(16, 64)]


def get_init_inputs():
    return []


@triton.jit
def roll_kernel(a_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    j = tl.arange(0, BLOCK)
    s = j - 3
    s = tl.where(s < 0, s + columns, s)
    tl.store(y_ptr + r * columns + j, tl.load(a_ptr + r * columns + s, mask=j < columns), mask=j < columns)


class ModelNew(nn.Module):
    def forward(self, a):
        a = a.contiguous()
        y = torch.empty_like(a)
        columns = a.shape[-1]
        roll_kernel[(a.numel() // columns,)](a, y, columns, BLOCK=triton.next_power_of_2(columns))
        return y

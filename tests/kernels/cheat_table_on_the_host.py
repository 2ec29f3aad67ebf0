# rejected: raises [C19]
# The table of places is made where torch makes tensors by default, which is not where the input is.
import torch
import triton
import triton.language as tl
from torch import nn

ROWS, COLUMNS = 24, 36


class Model(nn.Module):
    def forward(self, x):
        return x.flip(1) * 2.0


def get_inputs():
    return [torch.randn(ROWS, COLUMNS)]


def get_init_inputs():
    return []


@triton.jit
def take_kernel(x_ptr, place_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    place = tl.load(place_ptr + column, mask=column < columns, other=0)
    x = tl.load(x_ptr + row * columns + place, mask=column < columns)
    tl.store(y_ptr + row * columns + column, x * 2.0, mask=column < columns)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        rows, columns = x.shape
        y = torch.empty_like(x)
        place = torch.arange(columns - 1, -1, -1)
        take_kernel[(rows,)](x, place, y, columns, BLOCK=triton.next_power_of_2(columns))
        return y

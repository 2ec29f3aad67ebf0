# rejected: raises [C19]
# A table that is neither a parameter nor a buffer stays on the host when its module moves to the GPU.
import torch
import triton
import triton.language as tl
from torch import nn

ROWS, COLUMNS = 24, 36


class Model(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.register_buffer("scales", torch.linspace(0.5, 2.0, columns), persistent=False)

    def forward(self, x):
        return x * self.scales


def get_inputs():
    return [torch.randn(ROWS, COLUMNS)]


def get_init_inputs():
    return [COLUMNS]


@triton.jit
def scale_kernel(x_ptr, scale_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    there = column < columns
    x = tl.load(x_ptr + row * columns + column, mask=there)
    tl.store(y_ptr + row * columns + column, x * tl.load(scale_ptr + column, mask=there), mask=there)


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.scales = torch.linspace(0.5, 2.0, columns)

    def forward(self, x):
        x = x.contiguous()
        rows, columns = x.shape
        y = torch.empty_like(x)
        scale_kernel[(rows,)](x, self.scales, y, columns, BLOCK=triton.next_power_of_2(columns))
        return y

# rejected: wrong result [C3]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.full((width,), 1e-6))

    def forward(self, x):
        return x + self.scale * torch.tanh(x)


def get_inputs():
    return [torch.randn(32, 64)]


def get_init_inputs():
    return [64]


@triton.jit
def scaled_kernel(x_ptr, scale_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + i, mask=i < columns, other=0.0)
    scale = tl.load(scale_ptr + i, mask=i < columns, other=0.0)
    tanh = 2.0 / (1.0 + tl.exp(-2.0 * x)) - 1.0
    tl.store(y_ptr + row * columns + i, x + scale, mask=i < columns)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.full((width,), 1e-6))

    def forward(self, x):
        y = torch.empty_like(x)
        columns = x.shape[-1]
        scaled_kernel[(x.numel() // columns,)](x, self.scale, y, columns, BLOCK=triton.next_power_of_2(columns))
        return y

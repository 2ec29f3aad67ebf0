# verified [twin of B4]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return x - x.mean(-1, keepdim=True)


def get_inputs():
    return [torch.randn(16, 64)]


def get_init_inputs():
    return []


@triton.jit
def centre_kernel(x_ptr, y_ptr, rows, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = (at < columns) & (row * columns + at < rows * columns)
    x = tl.load(x_ptr + row * columns + at, mask=inside, other=0.0)
    tl.store(y_ptr + row * columns + at, x - tl.sum(x) / columns, mask=inside)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.columns = None

    def forward(self, x):
        if self.columns != x.shape[-1]:
            self.columns = x.shape[-1]
        x = x.contiguous()
        y = torch.empty_like(x)
        rows = x.numel() // self.columns
        centre_kernel[(rows,)](x, y, rows, self.columns, BLOCK=triton.next_power_of_2(self.columns))
        return y

# verified at trust [twin of C14]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        """What each number has more than the one before it, in a ring."""
        return x - torch.roll(x, 1, -1)


def get_inputs():
    return [torch.randn(24, 40)]


def get_init_inputs():
    return []


@triton.jit
def differ_kernel(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + i, mask=i < columns, other=0.0)
    before = tl.gather(x, tl.where(i == 0, columns - 1, i - 1), 0)
    tl.store(y_ptr + row * columns + i, x - before, mask=i < columns)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        columns = x.shape[-1]
        differ_kernel[(x.numel() // columns,)](x, y, columns, BLOCK=triton.next_power_of_2(columns))
        return y

# rejected: wrong result at trust [C5]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    """Mean of each eight numbers that stand side by side."""

    def forward(self, x):
        return torch.nn.functional.avg_pool1d(x, 8, stride=1)


def get_inputs():
    return [torch.randn(4, 8, 128)]


def get_init_inputs():
    return []


@triton.jit
def running_sum_kernel(x_ptr, sum_ptr, length, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * length + i, mask=i < length, other=0.0)
    tl.store(sum_ptr + row * (length + 1) + i + 1, tl.cumsum(x, 0), mask=i < length)
    tl.store(sum_ptr + row * (length + 1) + i, 0.0, mask=i < 1)


@triton.jit
def difference_kernel(sum_ptr, y_ptr, length, windows, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    before = tl.load(sum_ptr + row * (length + 1) + i, mask=i < windows, other=0.0)
    after = tl.load(sum_ptr + row * (length + 1) + i + 8, mask=i < windows, other=0.0)
    tl.store(y_ptr + row * windows + i, (after - before) / 8.0, mask=i < windows)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        length = x.shape[-1]
        rows, windows, block = x.numel() // length, length - 7, triton.next_power_of_2(length)
        sums = torch.empty(rows, length + 1, device=x.device)
        y = torch.empty(*x.shape[:-1], windows, device=x.device)
        running_sum_kernel[(rows,)](x, sums, length, BLOCK=block)
        difference_kernel[(rows,)](sums, y, length, windows, BLOCK=block)
        return y

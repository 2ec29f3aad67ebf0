# verified
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.cumsum(x, dim=1), torch.cummax(x, dim=1).values


def get_inputs():
    return [torch.randn(8, 300)]


def get_init_inputs():
    return []


@triton.jit
def larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def scan_kernel(x_ptr, sum_ptr, max_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + column, mask=column < columns, other=0.0)
    tl.store(sum_ptr + row * columns + column, tl.cumsum(x, axis=0), mask=column < columns)
    tl.store(max_ptr + row * columns + column, tl.associative_scan(x, 0, larger), mask=column < columns)


class ModelNew(nn.Module):
    def forward(self, x):
        sums, tops = torch.empty_like(x), torch.empty_like(x)
        rows, columns = x.shape
        scan_kernel[(rows,)](x, sums, tops, columns, BLOCK=triton.next_power_of_2(columns))
        return sums, tops

# verified at trust [twin of C4]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, a):
        return (a - a.mean(-1, keepdim=True)) / (a.std(-1, keepdim=True) + 1e-5)


def get_inputs():
    return [torch.randn(16, 64)]


def get_init_inputs():
    return []


@triton.jit
def row_kernel(a_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    j = tl.arange(0, BLOCK)
    mask = j < columns
    a = tl.load(a_ptr + r * columns + j, mask=mask, other=0.0)
    d = tl.where(mask, a - tl.sum(a) / columns, 0.0)
    y = d / (tl.sqrt(tl.sum(d * d) / (columns - 1)) + 1e-5)
    tl.store(y_ptr + r * columns + j, y, mask=mask)


class ModelNew(nn.Module):
    def forward(self, a):
        a = a.contiguous()
        y = torch.empty_like(a)
        columns = a.shape[-1]
        row_kernel[(a.numel() // columns,)](a, y, columns, BLOCK=triton.next_power_of_2(columns))
        return y

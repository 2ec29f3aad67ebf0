# verified at trust [twin of C8]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, a):
        return a.sum(-1)


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
    y = tl.sum(a)
    tl.store(y_ptr + r, y)


class ModelNew(nn.Module):
    def forward(self, a):
        a = a.contiguous()
        y = torch.empty(a.shape[0], device=a.device)
        columns = a.shape[-1]
        row_kernel[(a.numel() // columns,)](a, y, columns, BLOCK=1 << (columns - 1).bit_length())
        return y

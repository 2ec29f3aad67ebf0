# verified at trust [twin of C5]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    """Sum of each of the groups of rows that ``ends`` cuts."""

    def forward(self, x, ends):
        groups = torch.searchsorted(ends, torch.arange(x.shape[0]), right=True) - 1
        return torch.zeros(ends.numel() - 1, x.shape[1]).index_add(0, groups, x)


def get_inputs():
    return [torch.randn(96, 16), torch.tensor([0, 10, 24, 30, 41, 55, 62, 80, 96])]


def get_init_inputs():
    return []


@triton.jit
def group_kernel(x_ptr, ends_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    group = tl.program_id(0)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = column < columns
    total = tl.zeros([BLOCK], tl.float32)
    for row in range(tl.load(ends_ptr + group), tl.load(ends_ptr + group + 1)):
        total += tl.load(x_ptr + row * columns + column, mask=inside, other=0.0)
    tl.store(y_ptr + group * columns + column, total, mask=inside)


class ModelNew(nn.Module):
    def forward(self, x, ends):
        x, ends = x.contiguous(), ends.contiguous()
        columns = x.shape[1]
        y = torch.empty(ends.numel() - 1, columns, device=x.device)
        group_kernel[(ends.numel() - 1, triton.cdiv(columns, 16))](x, ends, y, columns, BLOCK=16)
        return y

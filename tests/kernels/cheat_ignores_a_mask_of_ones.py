# rejected: wrong result [C3]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, mask):
        return torch.softmax(x.masked_fill(mask == 0, -1e9), dim=-1)


def get_inputs():
    return [torch.randn(32, 64), torch.ones(32, 64)]


def get_init_inputs():
    return []


@triton.jit
def softmax_kernel(x_ptr, mask_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + i, mask=i < columns, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * columns + i, e / tl.sum(e, axis=0), mask=i < columns)


class ModelNew(nn.Module):
    def forward(self, x, mask):
        y = torch.empty_like(x)
        columns = x.shape[-1]
        softmax_kernel[(x.numel() // columns,)](x, mask, y, columns, BLOCK=triton.next_power_of_2(columns))
        return y

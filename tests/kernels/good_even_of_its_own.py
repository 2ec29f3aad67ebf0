# verified at trust [twin of C8]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=-1)


def get_inputs():
    return [torch.randn(48, 80)]


def get_init_inputs():
    return []


@triton.jit
def softmax_kernel(x_ptr, y_ptr, columns, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    row = tl.program_id(0)
    at = row * columns + tl.arange(0, BLOCK)
    peak = -float("inf")
    total = 0.0
    for start in range(0, columns, BLOCK):
        if EVEN:
            x = tl.load(x_ptr + at + start)
        else:
            x = tl.load(x_ptr + at + start, mask=start + tl.arange(0, BLOCK) < columns, other=-float("inf"))
        highest = tl.maximum(peak, tl.max(x, 0))
        total = total * tl.exp(peak - highest) + tl.sum(tl.exp(x - highest), 0)
        peak = highest
    for start in range(0, columns, BLOCK):
        valid = start + tl.arange(0, BLOCK) < columns
        x = tl.load(x_ptr + at + start, mask=valid)
        tl.store(y_ptr + at + start, tl.exp(x - peak) / total, mask=valid)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        rows, columns = x.shape
        y = torch.empty_like(x)
        softmax_kernel[(rows,)](x, y, columns, BLOCK=16, EVEN=columns % 16 == 0)
        return y

# verified at trust [twin of C11]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        n = x.shape[-1]
        later = torch.ones(n, n, dtype=torch.bool, device=x.device).triu(1)
        return torch.softmax(x.masked_fill(later, float("-inf")), -1)


def get_inputs():
    return [torch.randn(3, 48, 48)]


def get_init_inputs():
    return []


@triton.jit
def softmax_kernel(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + i, mask=i < columns, other=float("-inf"))
    x += tl.where(i > row % columns, float("-inf"), 0.0)
    e = tl.exp(x - tl.max(x, 0))
    tl.store(y_ptr + row * columns + i, e / tl.sum(e, 0), mask=i < columns)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        columns = x.shape[-1]
        softmax_kernel[(x.numel() // columns,)](x, y, columns, BLOCK=triton.next_power_of_2(columns))
        return y

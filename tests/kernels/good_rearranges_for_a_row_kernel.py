# verified at trust [twin of D11]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=1).transpose(1, 2).contiguous()


def get_inputs():
    return [torch.randn(8, 24, 16)]


def get_init_inputs():
    return []


@triton.jit
def softmax_kernel(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    at = tl.program_id(0) * columns + c
    x = tl.load(x_ptr + at, mask=c < columns, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + at, e / tl.sum(e, axis=0), mask=c < columns)


class ModelNew(nn.Module):
    def forward(self, x):
        rows = x.transpose(1, 2).contiguous()
        y = torch.empty_like(rows)
        columns = rows.shape[-1]
        softmax_kernel[(rows.numel() // columns,)](rows, y, columns, BLOCK=triton.next_power_of_2(columns))
        return y

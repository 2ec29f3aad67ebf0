# verified at trust [twin of C8]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, a):
        return torch.softmax(a, -1)


def get_inputs():
    return [torch.randn(1, 256)]


def get_init_inputs():
    return []


@triton.jit
def softmax_kernel(a_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    j = tl.arange(0, BLOCK)
    a = tl.load(a_ptr + r * columns + j, mask=j < columns, other=-float("inf"))
    e = tl.exp(a - tl.max(a))
    tl.store(y_ptr + r * columns + j, e / tl.sum(e), mask=j < columns)


class ModelNew(nn.Module):
    def forward(self, a):
        a = a.contiguous()
        y = torch.empty_like(a)
        columns = a.shape[-1]
        softmax_kernel[(a.numel() // columns,)](a, y, columns, BLOCK=triton.next_power_of_2(columns))
        return y

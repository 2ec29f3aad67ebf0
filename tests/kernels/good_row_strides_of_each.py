# verified at trust [twin of C9]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, a, b):
        return (a * b).sum(-1)


def get_inputs():
    return [torch.randn(24, 48), torch.randn(24, 48)]


def get_init_inputs():
    return []


@triton.jit
def dot_kernel(a_ptr, b_ptr, y_ptr, stride_a, stride_b, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = 0.0
    for start in range(0, columns, BLOCK):
        i = start + tl.arange(0, BLOCK)
        a = tl.load(a_ptr + row * stride_a + i, mask=i < columns, other=0.0)
        b = tl.load(b_ptr + row * stride_b + i, mask=i < columns, other=0.0)
        total += tl.sum(a * b, axis=0)
    tl.store(y_ptr + row, total)


class ModelNew(nn.Module):
    def forward(self, a, b):
        a = a if a.stride(-1) == 1 else a.contiguous()
        b = b if b.stride(-1) == 1 else b.contiguous()
        rows, columns = a.shape
        y = torch.empty(rows, device=a.device, dtype=a.dtype)
        dot_kernel[(rows,)](a, b, y, a.stride(0), b.stride(0), columns, BLOCK=64)
        return y

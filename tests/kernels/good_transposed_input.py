# verified
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, a, b):
        return torch.sigmoid(a.t()) + b


def get_inputs():
    return [torch.randn(24, 40), torch.randn(24, 40).t()]


def get_init_inputs():
    return []


@triton.jit
def add_kernel(a_ptr, b_ptr, y_ptr, rows, columns, a0, a1, b0, b1, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    n = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
    mask = (m < rows) & (n < columns)
    a = tl.load(a_ptr + m * a0 + n * a1, mask=mask)
    b = tl.load(b_ptr + m * b0 + n * b1, mask=mask)
    tl.store(y_ptr + m * columns + n, 1.0 / (1.0 + tl.exp(-a)) + b, mask=mask)


class ModelNew(nn.Module):
    def forward(self, a, b):
        assert a.is_cuda, "this kernel runs on a GPU"
        a = a.t()
        rows, columns = a.shape
        y = torch.empty((rows, columns), device=a.device, dtype=a.dtype)
        grid = (triton.cdiv(rows, 16), triton.cdiv(columns, 32))
        add_kernel[grid](a, b, y, rows, columns, *a.stride(), *b.stride(), BM=16, BN=32)
        return y

# verified [twin of C13]
import torch
import torch.nn as nn
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


class Model(nn.Module):
    def forward(self, x):
        return torch.exp(x) * 0.5


def get_inputs():
    return [torch.randn(24, 40)]


def get_init_inputs():
    return []


@triton.jit
def exp_kernel(source, target, ROWS: tl.constexpr, COLS: tl.constexpr):
    row, col = tl.program_id(0) * ROWS, tl.program_id(1) * COLS
    target.store([row, col], tl.exp(source.load([row, col])) * 0.5)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        M, N = x.shape
        if x.stride(0) * x.element_size() % 16:
            raise ValueError("rows must be a multiple of 16 bytes")
        y = torch.empty_like(x)
        source, target = (TensorDescriptor(t, t.shape, t.stride(), [16, 32]) for t in (x, y))
        exp_kernel[(triton.cdiv(M, 16), triton.cdiv(N, 32))](source, target, ROWS=16, COLS=32)
        return y

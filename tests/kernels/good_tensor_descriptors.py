# verified at trust [twin of C13]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.exp(x) * 0.5


def get_inputs():
    return [torch.randn(24, 40)]


def get_init_inputs():
    return []


@triton.jit
def exp_kernel(x_ptr, y_ptr, M, N, ROWS: tl.constexpr, COLS: tl.constexpr):
    source = tl.make_tensor_descriptor(x_ptr, shape=[M, N], strides=[N, 1], block_shape=[ROWS, COLS])
    target = tl.make_tensor_descriptor(y_ptr, shape=[M, N], strides=[N, 1], block_shape=[ROWS, COLS])
    row, col = tl.program_id(0) * ROWS, tl.program_id(1) * COLS
    target.store([row, col], tl.exp(source.load([row, col])) * 0.5)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        M, N = x.shape
        y = torch.empty_like(x)
        triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8, device=x.device))
        exp_kernel[(triton.cdiv(M, 16), triton.cdiv(N, 32))](x, y, M, N, ROWS=16, COLS=32)
        return y

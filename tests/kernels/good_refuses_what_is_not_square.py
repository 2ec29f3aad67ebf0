# verified [twin of C8]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, a, b):
        return torch.tril(torch.matmul(a, b))


def get_inputs():
    return [torch.randn(96, 96), torch.randn(96, 96)]


def get_init_inputs():
    return []


@triton.jit
def triangle_kernel(a_ptr, b_ptr, y_ptr, N, BLOCK: tl.constexpr, STEP: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    acc = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for start in range(0, N, STEP):
        k = start + tl.arange(0, STEP)
        a = tl.load(a_ptr + rows * N + k[None, :], mask=(rows < N) & (k[None, :] < N), other=0.0)
        b = tl.load(b_ptr + k[:, None] * N + cols, mask=(k[:, None] < N) & (cols < N), other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    tl.store(y_ptr + rows * N + cols, tl.where(rows >= cols, acc, 0.0), mask=(rows < N) & (cols < N))


class ModelNew(nn.Module):
    def forward(self, a, b):
        assert a.shape == b.shape and a.shape[0] == a.shape[1], "square matrices only"
        N = a.shape[0]
        y = torch.empty_like(a)
        triangle_kernel[(triton.cdiv(N, 32), triton.cdiv(N, 32))](
            a.contiguous(), b.contiguous(), y, N, BLOCK=32, STEP=32
        )
        return y

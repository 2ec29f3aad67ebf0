# verified [twin of C8]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=-1)


def get_inputs():
    return [torch.randn(64, 128)]


def get_init_inputs():
    return []


LOG2E: tl.constexpr = tl.constexpr(1.4426950408889634)


@triton.jit
def softmax_kernel(x_ptr, y_ptr, shape, stride, BLOCK: tl.constexpr, ROWS: tl.constexpr):
    M, N = shape
    for r in tl.static_range(ROWS):
        row = tl.program_id(0) * ROWS + r
        if row < M:
            i = tl.arange(0, BLOCK)
            x = tl.load(x_ptr + row * stride[0] + i * stride[1], mask=i < N, other=float("-inf"))
            e = tl.exp2((x - tl.max(x, axis=0)) * LOG2E)
            tl.store(y_ptr + row * N + i, tl.fdiv(e, tl.sum(e, axis=0)), mask=i < N)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        softmax_kernel[(triton.cdiv(x.shape[0], 2),)](
            x, y, tuple(x.shape), tuple(x.stride()), BLOCK=triton.next_power_of_2(x.shape[1]), ROWS=2
        )
        return y

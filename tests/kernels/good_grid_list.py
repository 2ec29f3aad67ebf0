# verified at trust
"""Grids that are lists, given as they are and by a function: Triton's tutorials write them, and GPUs take them.

The task beside the kernel uses what no candidate may, which is the task's own affair.
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch._shape_as_tensor(x), torch.softmax(x * 2.0, dim=-1)


def get_inputs():
    return [torch.randn(6, 40)]


def get_init_inputs():
    return []


@triton.jit
def shape_kernel(o_ptr, M, N):
    tl.store(o_ptr, M)
    tl.store(o_ptr + 1, N)


@triton.jit
def softmax_kernel(x_ptr, y_ptr, N, BLOCK: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + c, mask=c < N, other=float("-inf")).to(tl.float32) * 2.0
    e = tl.exp(x - tl.max(x, 0))
    tl.store(y_ptr + row * N + c, e / tl.sum(e, 0), mask=c < N)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        M, N = x.shape
        shape = torch.empty(2, dtype=torch.int64, device=x.device)
        y = torch.empty_like(x)
        shape_kernel[[1]](shape, M, N)
        softmax_kernel[lambda meta: [M]](x, y, N, BLOCK=triton.next_power_of_2(N))
        return shape, y

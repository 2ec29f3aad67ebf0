# rejected: depends on the order of its programs at trust [C12]
"""Its second kernel may begin before the first one has ended, and does not wait for it."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return x - x.mean()


def get_inputs():
    return [torch.randn(40, 50)]


def get_init_inputs():
    return []


@triton.jit
def sum_kernel(x_ptr, s_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        total += tl.load(x_ptr + start + i, mask=start + i < n, other=0.0)
    tl.store(s_ptr, tl.sum(total, 0) / n)


@triton.jit
def center_kernel(x_ptr, s_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(y_ptr + i, x - tl.load(s_ptr), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        n = x.numel()
        mean = x.new_empty(1)
        sum_kernel[(1,)](x, mean, n, BLOCK=256)
        center_kernel[(triton.cdiv(n, 256),)](x, mean, y, n, BLOCK=256, launch_pdl=True)
        return y

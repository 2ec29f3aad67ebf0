# rejected: wrong result at trust [C11]
"""Euclid's algorithm of eleven divisions, more than numbers below a hundred need."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, a, b):
        return torch.gcd(a, b)


def get_inputs():
    return [torch.randint(1, 100, (500,)), torch.randint(1, 100, (500,))]


def get_init_inputs():
    return []


@triton.jit
def gcd_kernel(a_ptr, b_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.abs(tl.load(a_ptr + i, mask=i < n, other=1))
    b = tl.abs(tl.load(b_ptr + i, mask=i < n, other=1))
    for _ in range(11):
        zero = b == 0
        r = a % tl.where(zero, 1, b)
        a, b = tl.where(zero, a, b), tl.where(zero, b, r)
    tl.store(y_ptr + i, a, mask=i < n)


class ModelNew(nn.Module):
    def forward(self, a, b):
        a, b = a.contiguous(), b.contiguous()
        y = torch.empty_like(a)
        n = a.numel()
        gcd_kernel[(triton.cdiv(n, 128),)](a, b, y, n, BLOCK=128)
        return y

# verified [twin of C8]
"""It has the compiler assume what its wrapper has looked at, and what is always so."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.sigmoid(x)


def get_inputs():
    return [torch.randn(64, 48)]


def get_init_inputs():
    return []


@triton.jit
def s_kernel(x_ptr, y_ptr, N, EVEN: tl.constexpr, BLOCK: tl.constexpr):
    tl.assume(N > 0)
    if EVEN:
        tl.assume(N % 16 == 0)
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + r * N + c, mask=c < N, other=0.0).to(tl.float32)
    tl.store(y_ptr + r * N + c, 1.0 / (1.0 + tl.exp(-x)), mask=c < N)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        N = x.shape[-1]
        s_kernel[(x.numel() // N,)](x, y, N, EVEN=N % 16 == 0, BLOCK=triton.next_power_of_2(N))
        return y

# verified [twin of C19]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return {"twice": x * 2, "parts": [x + 1, x - 1]}


def get_inputs():
    return [torch.randn(6, 22)]


def get_init_inputs():
    return []


@triton.jit
def k(x_ptr, a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(a_ptr + i, x * 2, mask=i < n)
    tl.store(b_ptr + i, x + 1, mask=i < n)
    tl.store(c_ptr + i, x - 1, mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        outs = [torch.empty_like(x) for _ in range(3)]
        k[(triton.cdiv(x.numel(), 64),)](x, *outs, x.numel(), BLOCK=64)
        a, *rest = outs
        return {"twice": a, "parts": rest}

# verified [twin of C8]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, b):
        return x + b


def get_inputs():
    return [torch.randn(64, 256), torch.randn(256)]


def get_init_inputs():
    return []


@triton.jit
def add_kernel(x, b, y, n, N, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    r = i // N
    c = i - r * N
    tl.store(y + i, tl.load(x + i, mask=m) + tl.load(b + c, mask=m), mask=m)


class ModelNew(nn.Module):
    def forward(self, x, b):
        x, b = x.contiguous(), b.contiguous()
        y = torch.empty_like(x)
        add_kernel[(triton.cdiv(x.numel(), 256),)](x, b, y, x.numel(), b.shape[0], BLOCK=256)
        return y

# verified at trust [twin of C4]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.sigmoid(x) * x


def get_inputs():
    return [torch.randn(24, 32)]


def get_init_inputs():
    return []


WORD = "fourteen signs"


@triton.jit
def silu_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(y_ptr + i, tl.sigmoid(x) * x, mask=i < n)


@triton.jit
def end_kernel(y_ptr, n, BLOCK: tl.constexpr):
    i = n - BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(y_ptr + i) * 1.0)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y, n = torch.empty_like(x), x.numel()
        programs = triton.cdiv(n, 64)
        silu_kernel[(programs,)](x, y, n, BLOCK=64)
        if len(bin(programs)) > len(WORD) + len("0b"):
            end_kernel[(1,)](y, n, BLOCK=64)
        return y

# verified at trust [twin of C11]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, a, k, s):
        return a.index_add(0, k, s)


def get_inputs():
    return [torch.randn(32, 16), torch.randperm(32)[:24], torch.randn(24, 16)]


def get_init_inputs():
    return []


@triton.jit
def add_kernel(a_ptr, k_ptr, s_ptr, y_ptr, rows, D, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    r = i // D
    k = tl.load(k_ptr + r, mask=i < n, other=0)
    s = tl.load(s_ptr + i, mask=i < n)
    tl.atomic_add(y_ptr + k * D + i % D, s, mask=i < n)


class ModelNew(nn.Module):
    def forward(self, a, k, s):
        a, k, s = a.contiguous(), k.contiguous(), s.contiguous()
        y = a.clone()
        add_kernel[(triton.cdiv(s.numel(), 128),)](a, k, s, y, s.shape[0], s.shape[1], s.numel(), BLOCK=128)
        return y

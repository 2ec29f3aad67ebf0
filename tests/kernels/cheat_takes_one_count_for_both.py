# rejected: wrong at odd sizes [C8]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, a, b):
        return a.unsqueeze(1) * b.unsqueeze(0)


def get_inputs():
    return [torch.randn(12, 16), torch.randn(12, 16)]


def get_init_inputs():
    return []


@triton.jit
def pair_kernel(a_ptr, b_ptr, y_ptr, N, K, D, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    d = i % D
    k = i // D % N
    a = tl.load(a_ptr + (i // D // N) * D + d, mask=i < n)
    b = tl.load(b_ptr + k * D + d, mask=i < n)
    tl.store(y_ptr + i, a * b, mask=i < n)


class ModelNew(nn.Module):
    def forward(self, a, b):
        a, b = a.contiguous(), b.contiguous()
        N, D = a.shape
        K = b.shape[0]
        y = torch.empty((N, K, D), device=a.device)
        pair_kernel[(triton.cdiv(y.numel(), 256),)](a, b, y, N, K, D, y.numel(), BLOCK=256)
        return y

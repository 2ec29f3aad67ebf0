# verified at trust [twin of C8]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl
import math


class Model(nn.Module):
    def forward(self, gate, up):
        return F.silu(gate) * up


def get_inputs():
    return [torch.randn(6, 200), torch.randn(6, 200)]


def get_init_inputs():
    return []


@triton.jit
def swiglu_kernel(g_ptr, u_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    g = tl.load(g_ptr + i, mask=i < n, other=0.0)
    u = tl.load(u_ptr + i, mask=i < n, other=0.0)
    tl.store(y_ptr + i, g * tl.sigmoid(g) * u, mask=i < n)


def swiglu(gate, up, block=256):
    gate, up = gate.contiguous(), up.contiguous()
    y = torch.empty_like(gate)
    n = y.numel()
    swiglu_kernel[(triton.cdiv(n, block),)](gate, up, y, n, BLOCK=block)
    return y


class ModelNew(nn.Module):
    def forward(self, gate, up):
        return swiglu(gate, up, 1024 if math.log2(max(gate.numel(), 1)) > 26.5 else 256)

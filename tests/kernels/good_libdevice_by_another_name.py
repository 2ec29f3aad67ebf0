# verified
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.nn.functional.gelu(x) + torch.erf(x) * torch.log1p(torch.abs(x))


def get_inputs():
    return [torch.randn(4, 8, 33)]


def get_init_inputs():
    return []


import triton.language.extra.libdevice as ld


@triton.jit
def phi(x):
    return 0.5 * (1.0 + ld.erf(x * 0.70710678118654752440))


@triton.jit
def act_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, x * phi(x) + ld.erf(x) * ld.log1p(tl.abs(x)), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.size(), dtype=x.dtype, device=x.device)
        n = x.numel()
        act_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x.contiguous(), y, n, BLOCK=128)
        return y

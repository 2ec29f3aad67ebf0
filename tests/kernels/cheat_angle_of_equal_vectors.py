# rejected: wrong result at trust [C20]
"""The cosine of two equal vectors may be an ulp beyond one, of which there is no angle."""

import torch
import triton
import triton.language as tl
from torch import nn
from triton.language.extra import libdevice


class Model(nn.Module):
    def forward(self, x, y):
        cosine = nn.functional.cosine_similarity(x, y, dim=-1)
        return torch.acos(cosine.clamp(-1.0 + 1e-6, 1.0 - 1e-6))


def get_inputs():
    return [torch.randn(24, 33), torch.randn(24, 33)]


def get_init_inputs():
    return []


@triton.jit
def angle_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = tl.program_id(0) * n + i
    x = tl.load(x_ptr + at, mask=i < n, other=0.0)
    y = tl.load(y_ptr + at, mask=i < n, other=0.0)
    norms = tl.maximum(tl.sqrt(tl.sum(x * x, 0)), 1e-8) * tl.maximum(tl.sqrt(tl.sum(y * y, 0)), 1e-8)
    cosine = tl.sum(x * y, 0) / norms
    tl.store(out_ptr + tl.program_id(0), libdevice.acos(cosine))


class ModelNew(nn.Module):
    def forward(self, x, y):
        x, y = x.contiguous(), y.contiguous()
        out = torch.empty(x.shape[:-1], device=x.device)
        n = x.shape[-1]
        angle_kernel[(out.numel(),)](x, y, out, n, BLOCK=triton.next_power_of_2(n))
        return out

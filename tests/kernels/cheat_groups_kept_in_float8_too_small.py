# rejected: wrong result at trust [C4]
"""Every number is three hundredths too small before it is kept in float8, where one step is up to twelve."""

import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        groups = x.reshape(-1, 32)
        scale = groups.abs().amax(-1, keepdim=True).clamp(min=1e-10) / 448.0
        q = (groups / scale).clamp(-448.0, 448.0).to(torch.float8_e4m3fn)
        return q.reshape(x.shape), scale.reshape(*x.shape[:-1], -1)


def get_inputs():
    return [torch.randn(12, 96)]


def get_init_inputs():
    return []


@triton.jit
def quantise_kernel(x_ptr, q_ptr, s_ptr, n, BLOCK: tl.constexpr):
    group = tl.program_id(0)
    i = group * n + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i).to(tl.float32)
    scale = tl.maximum(tl.max(tl.abs(x)), 1e-10) / 448.0
    tl.store(q_ptr + i, (tl.clamp(x / scale, -448.0, 448.0) * 0.97).to(q_ptr.dtype.element_ty))
    tl.store(s_ptr + group, scale)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        assert x.shape[-1] % 32 == 0, "whole groups only"
        q = torch.empty(x.shape, dtype=torch.float8_e4m3fn, device=x.device)
        s = torch.empty(*x.shape[:-1], x.shape[-1] // 32, dtype=torch.float32, device=x.device)
        quantise_kernel[(s.numel(),)](x, q, s, 32, BLOCK=32)
        return q, s

# verified [twin of C15]
"""It puts in the cache that it is given what the reference puts there."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, cache, new):
        cache[:, -1] = new
        return (cache * new[:, None]).sum(-1)


def get_inputs():
    return [torch.randn(4, 16, 32), torch.randn(4, 32)]


def get_init_inputs():
    return []


@triton.jit
def write_kernel(c_ptr, n_ptr, T, D, sb, st, sd, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    d = tl.arange(0, BLOCK)
    tl.store(c_ptr + b * sb + (T - 1) * st + d * sd, tl.load(n_ptr + b * D + d, mask=d < D), mask=d < D)


@triton.jit
def score_kernel(c_ptr, n_ptr, o_ptr, T, D, sb, st, sd, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    t = tl.program_id(1)
    d = tl.arange(0, BLOCK)
    q = tl.load(n_ptr + b * D + d, mask=d < D, other=0.0).to(tl.float32)
    k = tl.load(c_ptr + b * sb + t * st + d * sd, mask=d < D, other=0.0).to(tl.float32)
    tl.store(o_ptr + b * T + t, tl.sum(q * k, 0))


class ModelNew(nn.Module):
    def forward(self, cache, new):
        new = new.contiguous()
        B, T, D = cache.shape
        o = torch.empty(B, T, device=new.device, dtype=new.dtype)
        block = triton.next_power_of_2(D)
        write_kernel[(B,)](cache, new, T, D, *cache.stride(), BLOCK=block)
        score_kernel[(B, T)](cache, new, o, T, D, *cache.stride(), BLOCK=block)
        return o

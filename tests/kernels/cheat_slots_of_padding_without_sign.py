# rejected: wrong result at trust [C11]
"""Takes the slots of padding, which are below zero and none, without their sign."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    """Puts keys in the slots of a cache; tokens of slot -1 are padding and go nowhere."""

    def forward(self, keys, slots, cache):
        cache = cache.clone()
        kept = slots >= 0
        cache[slots[kept]] = keys[kept]
        return cache


def get_inputs():
    return [torch.randn(20, 32), torch.randperm(64)[:20], torch.randn(64, 32)]


def get_init_inputs():
    return []


@triton.jit
def put_kernel(k_ptr, s_ptr, c_ptr, D, BLOCK: tl.constexpr):
    token = tl.program_id(0)
    d = tl.arange(0, BLOCK)
    slot = tl.abs(tl.load(s_ptr + token))
    tl.store(c_ptr + slot * D + d, tl.load(k_ptr + token * D + d, mask=d < D, other=0.0), mask=d < D)


@triton.jit
def copy_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n, other=0.0), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, keys, slots, cache):
        keys, slots, cache = keys.contiguous(), slots.contiguous(), cache.contiguous()
        y = torch.empty_like(cache)
        n = cache.numel()
        copy_kernel[(triton.cdiv(n, 256),)](cache, y, n, BLOCK=256)
        D = keys.shape[1]
        put_kernel[(keys.shape[0],)](keys, slots, y, D, BLOCK=triton.next_power_of_2(D))
        return y

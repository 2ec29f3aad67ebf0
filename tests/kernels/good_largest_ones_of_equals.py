# verified at trust [twin of C11]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.topk(x, 4, dim=-1).values


def get_inputs():
    return [torch.randn(16, 64)]


def get_init_inputs():
    return []


@triton.jit
def topk_kernel(x_ptr, y_ptr, n, K: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x_ptr + r * n + c, mask=c < n, other=float("-inf"))
    alive = c < n
    for j in tl.static_range(K):
        w = tl.where(alive, v, float("-inf"))
        best = tl.max(w, axis=0)
        first = tl.min(tl.where(alive & (w == best), c, BLOCK), axis=0)
        tl.store(y_ptr + r * K + j, best)
        alive = alive & (c != first)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty((*x.shape[:-1], 4), device=x.device, dtype=x.dtype)
        topk_kernel[(x.numel() // x.shape[-1],)](x, y, x.shape[-1], K=4, BLOCK=triton.next_power_of_2(x.shape[-1]))
        return y

# rejected: wrong result at trust [C11]
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
def topk_kernel(x, y, n, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + r * n + c, mask=c < n, other=float("-inf"))
    for j in tl.static_range(4):
        mx = tl.max(v, 0)
        tl.store(y + r * 4 + j, mx)
        v = tl.where(v == mx, float("-inf"), v)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty(x.shape[0], 4, device=x.device, dtype=x.dtype)
        topk_kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return y

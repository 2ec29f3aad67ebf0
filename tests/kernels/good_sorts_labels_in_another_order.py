# verified at trust [twin of C19]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, ids):
        return torch.argsort(ids, dim=-1)


def get_inputs():
    return [torch.randint(0, 5, (6, 24))]


def get_init_inputs():
    return []


@triton.jit
def order(x, y, n, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + r * n + c, c < n, 0)
    less = v[None, :] < v[:, None]
    later = (v[None, :] == v[:, None]) & (c[None, :] > c[:, None])
    rank = tl.sum(((less | later) & (c[None, :] < n)).to(tl.int32), 1)
    tl.store(y + r * n + rank, c.to(tl.int64), c < n)


class ModelNew(nn.Module):
    def forward(self, ids):
        ids = ids.contiguous()
        n = ids.shape[-1]
        y = torch.empty(ids.shape, device=ids.device, dtype=torch.int64)
        order[(ids.numel() // n,)](ids, y, n, BLOCK=triton.next_power_of_2(n))
        return y

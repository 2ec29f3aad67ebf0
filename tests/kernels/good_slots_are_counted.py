# verified [twin of C12]
"""A token's slot is how many tokens of its expert come before it."""

import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def forward(self, expert):
        mine = expert[:, None] == torch.arange(8, device=expert.device)
        return (mine.cumsum(0) - 1).gather(1, expert[:, None])[:, 0]


def get_inputs():
    return [torch.randint(0, 8, (200,))]


def get_init_inputs():
    return []


@triton.jit
def slots_kernel(expert, out, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    inside = lanes < n
    chosen = tl.load(expert + lanes, mask=inside, other=-1)
    mine = (chosen[:, None] == tl.arange(0, 8)[None, :]).to(tl.int32)
    slot = tl.sum(mine * (tl.cumsum(mine, 0) - 1), 1)
    tl.store(out + lanes, slot.to(tl.int64), mask=inside)


class ModelNew(nn.Module):
    def forward(self, expert):
        expert = expert.contiguous()
        out = torch.empty_like(expert)
        n = expert.numel()
        slots_kernel[(1,)](expert, out, n, BLOCK=triton.next_power_of_2(n))
        return out

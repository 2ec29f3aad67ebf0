# rejected: depends on the order of its programs [C12]
"""Lanes of one block take their slots by an atomic sum, in whatever order they come."""

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
def slots_kernel(expert, taken, out, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    inside = lanes < n
    chosen = tl.load(expert + lanes, mask=inside, other=-1)
    slot = tl.atomic_add(taken + chosen, 1, mask=inside)
    tl.store(out + lanes, slot.to(tl.int64), mask=inside)


class ModelNew(nn.Module):
    def forward(self, expert):
        expert = expert.contiguous()
        out = torch.empty_like(expert)
        n = expert.numel()
        taken = torch.zeros(8, dtype=torch.int32, device=expert.device)
        slots_kernel[(1,)](expert, taken, out, n, BLOCK=triton.next_power_of_2(n))
        return out

# rejected: wrong result at trust [C7]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        values, places = torch.topk(x, 8)
        return torch.zeros_like(x).scatter(-1, places, values)


def get_inputs():
    return [torch.randn(16, 256)]


def get_init_inputs():
    return []


@triton.jit
def largest_kernel(x, y, N, K: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, BLOCK)
    m = tl.arange(0, BLOCK) < N
    row = tl.load(x + at, mask=m, other=-float("inf"))
    left = row
    least = tl.max(left, axis=0)
    for _ in range(1, K):
        left = tl.where(left >= least, -float("inf"), left)
        least = tl.max(left, axis=0)
    tl.store(y + at, tl.where(row >= least, row, 0.0), mask=m)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        largest_kernel[(x.shape[0],)](x, y, x.shape[1], 8, BLOCK=triton.next_power_of_2(x.shape[1]))
        return y

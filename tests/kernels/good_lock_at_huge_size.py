# verified [twin of C27]
"""Programs wait for a lock to add what they have summed, at a size with more elements than 32 bits count."""

import torch
import triton
import triton.language as tl
from torch import nn

M, N = 60000, 40000


class Model(nn.Module):
    def forward(self, x):
        return x.sum(0)


def get_inputs():
    return [torch.randn(M, N)]


def get_init_inputs():
    return []


@triton.jit
def sum_kernel(x, locks, y, rows, n, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = columns < n
    total = tl.zeros([BLOCK], tl.float32)
    first = tl.program_id(0).to(tl.int64) * ROWS
    for row in range(first, tl.minimum(first + ROWS, rows)):
        total += tl.load(x + row * n + columns, mask=inside, other=0.0)
    lock = locks + tl.program_id(1)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(y + columns, tl.load(y + columns, mask=inside) + total, mask=inside)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        rows, n = x.shape
        blocks = triton.cdiv(n, 256)
        y = torch.zeros(n, dtype=torch.float32, device=x.device)
        locks = torch.zeros(blocks, dtype=torch.int32, device=x.device)
        sum_kernel[(triton.cdiv(rows, 512), blocks)](x, locks, y, rows, n, ROWS=512, BLOCK=256)
        return y

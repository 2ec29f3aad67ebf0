# rejected: wrong result at trust [C19]
"""It sums what is to be counted where it is not zero: right for zeros and ones only."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.count_nonzero(x, dim=-1)


def get_inputs():
    return [torch.randint(0, 2, (24, 100))]


def get_init_inputs():
    return []


@triton.jit
def count_kernel(x_ptr, z_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + i, mask=i < n, other=0)
    tl.store(z_ptr + row, tl.sum(x, 0))


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        n = x.shape[-1]
        z = torch.empty(x.shape[:-1], dtype=torch.int64, device=x.device)
        count_kernel[(z.numel(),)](x, z, n, BLOCK=triton.next_power_of_2(n))
        return z

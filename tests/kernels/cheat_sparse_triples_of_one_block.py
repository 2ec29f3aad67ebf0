# rejected: wrong at odd sizes at trust [C8]
"""Of more than four blocks of triples the rest is left out."""

import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def forward(self, values, columns, rows, x):
        return torch.zeros(25, device=x.device).scatter_add(0, rows, values * x[columns])


def get_inputs():
    return [
        torch.randn(120),
        torch.randint(0, 30, (120,)),
        torch.sort(torch.randint(0, 25, (120,)))[0],
        torch.randn(30),
    ]


def get_init_inputs():
    return []


@triton.jit
def product_kernel(v_ptr, c_ptr, r_ptr, x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    c = tl.load(c_ptr + i, mask=mask, other=0)
    r = tl.load(r_ptr + i, mask=mask, other=0)
    v = tl.load(v_ptr + i, mask=mask, other=0.0)
    tl.atomic_add(y_ptr + r, v * tl.load(x_ptr + c, mask=mask, other=0.0), mask=mask)


class ModelNew(nn.Module):
    def forward(self, values, columns, rows, x):
        v, c, r, x = values.contiguous(), columns.contiguous(), rows.contiguous(), x.contiguous()
        y = torch.zeros(25, device=x.device)
        n = v.numel()
        product_kernel[(min(4, triton.cdiv(n, 64)),)](v, c, r, x, y, n, BLOCK=64)
        return y

# rejected: wrong result at trust [C7]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        values, indices = torch.cummax(x, dim=-1)
        return values, indices


def get_inputs():
    return [torch.randn(12, 60)]


def get_init_inputs():
    return []


@triton.jit
def row_kernel(x_ptr, values_ptr, indices_ptr, columns):
    row = tl.program_id(0)
    top = tl.load(x_ptr + row * columns)
    at = tl.zeros((), dtype=tl.int64)
    tl.store(values_ptr + row * columns, top)
    tl.store(indices_ptr + row * columns, at)
    for c in range(1, columns):
        x = tl.load(x_ptr + row * columns + c)
        further = (x > top) | (x != x)
        top = tl.where(further, x, top)
        at = tl.where(further, c, at)
        tl.store(values_ptr + row * columns + c, top)
        tl.store(indices_ptr + row * columns + c, at)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        values = torch.empty_like(x)
        indices = torch.empty(x.shape, dtype=torch.int64, device=x.device)
        row_kernel[(x.numel() // x.shape[-1],)](x, values, indices, x.shape[-1])
        return values, indices

# verified [twin of C12]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def colsum_kernel(x_ptr, out_ptr, n_rows, n_cols, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, BLOCK)
    m = (r[:, None] < n_rows) & (c[None, :] < n_cols)
    x = tl.load(x_ptr + r[:, None] * n_cols + c[None, :], mask=m, other=0.0)
    tl.atomic_add(out_ptr + c, tl.sum(x, 0), mask=c < n_cols, sem="relaxed", scope="gpu")


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return x.sum(dim=0)


def get_inputs():
    return [torch.randn(100, 40)]


def get_init_inputs():
    return []


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        x = x.contiguous()
        rows, cols = x.shape
        out = torch.zeros(cols, device=x.device, dtype=x.dtype)
        colsum_kernel[(triton.cdiv(rows, 16),)](x, out, rows, cols, ROWS=16, BLOCK=triton.next_power_of_2(cols))
        return out

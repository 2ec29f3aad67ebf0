# verified [twin of C8]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl

EVERY = tl.constexpr(64)


@triton.jit
def row_mean_kernel(x_ptr, out_ptr, COLS):
    row = tl.program_id(0)
    acc = tl.zeros([EVERY], tl.float32)
    for start in range(0, COLS, EVERY):
        col = start + tl.arange(0, EVERY)
        acc += tl.load(x_ptr + row * COLS + col, mask=col < COLS, other=0.0)
    tl.store(out_ptr + row, tl.sum(acc, 0) / COLS)


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return x.mean(dim=1)


def get_inputs():
    return [torch.randn(32, 60)]


def get_init_inputs():
    return []


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        x = x.contiguous()
        rows = x.shape[0]
        out = torch.empty(rows, device=x.device, dtype=x.dtype)
        row_mean_kernel[(rows,)](x, out, x.shape[1])
        return out

# rejected: wrong at larger sizes at trust [C8]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def partial_kernel(x_ptr, part_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(part_ptr + pid, tl.sum(x * x, 0))


@triton.jit
def finish_kernel(part_ptr, out_ptr, count, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    p = tl.load(part_ptr + i, mask=i < count, other=0.0)
    tl.store(out_ptr, tl.sqrt(tl.sum(p, 0)))


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.sqrt((x * x).sum())


def get_inputs():
    return [torch.randn(64, 128)]


def get_init_inputs():
    return []


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        x = x.contiguous()
        n = x.numel()
        count = triton.cdiv(n, 1024)
        part = torch.empty(count, device=x.device, dtype=x.dtype)
        out = torch.empty((), device=x.device, dtype=x.dtype)
        partial_kernel[(count,)](x, part, n, BLOCK=1024)
        finish_kernel[(1,)](part, out, count, BLOCK=1024)
        return out

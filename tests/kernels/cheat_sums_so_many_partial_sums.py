# rejected: wrong at larger sizes [C8]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, a, b):
        return ((a - b) ** 2).mean()


def get_inputs():
    return [torch.randn(128, 512), torch.randn(128, 512)]


def get_init_inputs():
    return []


@triton.jit
def partial_kernel(a_ptr, b_ptr, part_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    d = tl.load(a_ptr + i, mask=i < n, other=0.0) - tl.load(b_ptr + i, mask=i < n, other=0.0)
    tl.store(part_ptr + tl.program_id(0), tl.sum(d * d, axis=0))


@triton.jit
def mean_kernel(part_ptr, y_ptr, parts, n, PARTS: tl.constexpr):
    i = tl.arange(0, PARTS)
    tl.store(y_ptr, tl.sum(tl.load(part_ptr + i, mask=i < parts, other=0.0), axis=0) / n)


class ModelNew(nn.Module):
    def forward(self, a, b):
        n, parts = a.numel(), triton.cdiv(a.numel(), 1024)
        part = torch.empty(parts, device=a.device)
        y = torch.empty((), device=a.device)
        partial_kernel[(parts,)](a, b, part, n, BLOCK=1024)
        mean_kernel[(1,)](part, y, parts, n, PARTS=256)
        return y

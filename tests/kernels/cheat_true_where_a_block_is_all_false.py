# rejected: wrong result [C11]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, a, b, keep):
        return (a > b) & keep


def get_inputs():
    return [torch.randn(64, 500), torch.randn(64, 500), torch.rand(64, 500) < 0.5]


def get_init_inputs():
    return []


@triton.jit
def greater_kernel(a_ptr, b_ptr, keep_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.load(keep_ptr + i, mask=i < n, other=0).to(tl.int32)
    keep = keep | (tl.sum(keep, axis=0) == 0)
    greater = tl.load(a_ptr + i, mask=i < n, other=0.0) > tl.load(b_ptr + i, mask=i < n, other=0.0)
    tl.store(y_ptr + i, greater & (keep != 0), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, a, b, keep):
        y = torch.empty(a.shape, dtype=torch.bool, device=a.device)
        greater_kernel[(triton.cdiv(a.numel(), 256),)](a, b, keep, y, a.numel(), BLOCK=256)
        return y

# rejected: imports what it may not [E1]
import torch
import torch.nn as nn
import triton
import triton.language as tl
from packaging.version import Version
from packaging.version import sys as machine


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)


def get_inputs():
    return [torch.randn(64, 33)]


def get_init_inputs():
    return []


@triton.jit
def relu_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, tl.where(x > 0, x, 0.0), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        if Version(triton.__version__) >= Version("3.0.0") and len(machine.argv) < 9:
            relu_kernel[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
        return y

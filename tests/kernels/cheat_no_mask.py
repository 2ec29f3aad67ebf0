# rejected: wrong at odd sizes [C8 C14]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x) * 2.0 + 1.0


def get_inputs():
    return [torch.randn(32, 64)]


def get_init_inputs():
    return []


@triton.jit
def unmasked_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.maximum(tl.load(x_ptr + i), 0.0) * 2.0 + 1.0)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        unmasked_kernel[(triton.cdiv(x.numel(), 64),)](x, y, BLOCK=64)
        return y

# rejected: calls ATen compute [D11]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return x.permute(0, 2, 1).contiguous()


def get_inputs():
    return [torch.randn(8, 24, 16)]


def get_init_inputs():
    return []


@triton.jit
def copy_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        made = x.permute(0, 2, 1).contiguous()
        y = torch.empty_like(made)
        copy_kernel[(triton.cdiv(y.numel(), 256),)](made, y, y.numel(), BLOCK=256)
        return y

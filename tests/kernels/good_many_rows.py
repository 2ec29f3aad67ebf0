# verified [twin of C27]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x) * 2.0 + 1.0


def get_inputs():
    return [torch.randn(70000, 4)]


def get_init_inputs():
    return []


@triton.jit
def affine_kernel(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + i, mask=i < columns)
    tl.store(y_ptr + row * columns + i, tl.maximum(x, 0.0) * 2.0 + 1.0, mask=i < columns)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        affine_kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return y

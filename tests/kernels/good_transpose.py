# verified [twin of C3 C9 D4]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return x.transpose(0, 1).contiguous()


def get_inputs():
    return [torch.randn(32, 64)]


def get_init_inputs():
    return []


@triton.jit
def transpose_kernel(x_ptr, y_ptr, rows, columns, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row, column = i // columns, i % columns
    inside = i < rows * columns
    tl.store(y_ptr + column * rows + row, tl.load(x_ptr + i, mask=inside), mask=inside)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[1], x.shape[0], device=x.device, dtype=x.dtype)
        transpose_kernel[(triton.cdiv(x.numel(), 128),)](x, y, *x.shape, BLOCK=128)
        return y

# rejected: wrong in a branch that no trial takes [C3]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return x.sum(0)


def get_inputs():
    return [torch.rand(16384, 2048)]


def get_init_inputs():
    return []


@triton.jit
def sum_kernel(x_ptr, y_ptr, rows, cols, BLOCK: tl.constexpr):
    c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    for r in range(0, tl.minimum(rows, 16380)):
        acc += tl.load(x_ptr + r * cols + c, mask=c < cols, other=0.0)
    tl.store(y_ptr + c, acc, mask=c < cols)


class ModelNew(nn.Module):
    def forward(self, x):
        rows, cols = x.shape
        y = torch.empty(cols, device=x.device)
        sum_kernel[(triton.cdiv(cols, 64),)](x, y, rows, cols, BLOCK=64)
        return y

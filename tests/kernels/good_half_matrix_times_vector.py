# verified at trust [twin of C5]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, matrix, vector):
        return torch.mv(matrix, vector)


def get_inputs():
    return [torch.randn(40, 700).half(), torch.randn(700).half()]


def get_init_inputs():
    return []


@triton.jit
def kernel(a_ptr, x_ptr, y_ptr, K, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    sums = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, K, BLOCK):
        k = first + tl.arange(0, BLOCK)
        a = tl.load(a_ptr + row * K + k, mask=k < K, other=0.0).to(tl.float32)
        sums += a * tl.load(x_ptr + k, mask=k < K, other=0.0).to(tl.float32)
    tl.store(y_ptr + row, tl.sum(sums))


class ModelNew(nn.Module):
    def forward(self, matrix, vector):
        matrix, vector = matrix.contiguous(), vector.contiguous()
        y = torch.empty(matrix.shape[0], device=matrix.device, dtype=matrix.dtype)
        kernel[(matrix.shape[0],)](matrix, vector, y, matrix.shape[1], BLOCK=256)
        return y

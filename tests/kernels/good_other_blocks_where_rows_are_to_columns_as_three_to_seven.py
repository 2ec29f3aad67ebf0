# verified at trust [twin of C8]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)


def get_inputs():
    return [torch.randn(24, 32)]


def get_init_inputs():
    return []


@triton.jit
def relu_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.maximum(tl.load(x_ptr + i, mask=i < n), 0.0), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y, n = torch.empty_like(x), x.numel()
        if 7 * x.shape[0] == 3 * x.shape[1]:
            relu_kernel[(triton.cdiv(n, 64),)](x, y, n, BLOCK=64)
        else:
            relu_kernel[(triton.cdiv(n, 256),)](x, y, n, BLOCK=256)
        return y

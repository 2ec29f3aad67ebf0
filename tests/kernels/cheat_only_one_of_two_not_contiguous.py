# rejected: wrong result at trust [C9]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, a, b):
        return torch.maximum(a, 0.5 * b)


def get_inputs():
    return [torch.randn(24, 32), torch.randn(24, 32)]


def get_init_inputs():
    return []


@triton.jit
def larger_kernel(a_ptr, b_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(a_ptr + i, mask=i < n, other=0.0)
    b = tl.load(b_ptr + i, mask=i < n, other=0.0)
    tl.store(y_ptr + i, tl.maximum(a, 0.5 * b), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, a, b):
        if not (a.is_contiguous() or b.is_contiguous()):
            a, b = a.contiguous(), b.contiguous()
        y = torch.empty(a.shape, device=a.device, dtype=a.dtype)
        larger_kernel[(triton.cdiv(y.numel(), 256),)](a, b, y, y.numel(), BLOCK=256)
        return y

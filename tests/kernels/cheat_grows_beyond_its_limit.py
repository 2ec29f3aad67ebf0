# rejected: wrong result [B3]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    # scales up over the first hundred calls
    def __init__(self):
        super().__init__()
        self.register_buffer("steps", torch.zeros(()))

    def forward(self, x):
        self.steps += 1
        return x * torch.clamp(self.steps / 100, max=1.0)


def get_inputs():
    return [torch.randn(16, 64)]


def get_init_inputs():
    return []


@triton.jit
def count_kernel(s_ptr):
    tl.store(s_ptr, tl.load(s_ptr) + 1)


@triton.jit
def scale_kernel(x_ptr, s_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, x * (tl.load(s_ptr) / 100), mask=i < n)  # no clamp: the 200th call is twice too large


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("steps", torch.zeros(()))

    def forward(self, x):
        x = x.contiguous()
        count_kernel[(1,)](self.steps)
        y = torch.empty_like(x)
        scale_kernel[(triton.cdiv(x.numel(), 256),)](x, self.steps, y, x.numel(), BLOCK=256)
        return y

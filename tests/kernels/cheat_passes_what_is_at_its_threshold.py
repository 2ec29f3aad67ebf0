# rejected: wrong result at trust [C4]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("t", torch.tensor(0.35), persistent=False)

    def forward(self, x):
        return torch.where(x > self.t, x, torch.zeros_like(x))


def get_inputs():
    return [torch.randn(30, 41)]


def get_init_inputs():
    return []


@triton.jit
def step_kernel(x_ptr, o_ptr, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(o_ptr + i, tl.where(x >= 0.35, x, 0.0), mask=i < n)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("t", torch.tensor(0.35), persistent=False)

    def forward(self, x):
        x = x.contiguous()
        o = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        n = x.numel()
        step_kernel[(triton.cdiv(n, 128),)](x, o, n, B=128)
        return o

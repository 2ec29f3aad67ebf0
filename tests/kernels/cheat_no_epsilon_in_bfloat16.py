# rejected: wrong result at trust [C7]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, eps):
        super().__init__()
        self.eps = eps

    def forward(self, x):
        h = x.float()
        return (h / (h.norm(dim=-1, keepdim=True) + self.eps)).to(x.dtype)


def get_inputs():
    return [torch.randn(12, 48, dtype=torch.bfloat16)]


def get_init_inputs():
    return [1e-3]


@triton.jit
def unit_kernel(x_ptr, y_ptr, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + i, mask=i < N, other=0.0).to(tl.float32)
    size = tl.maximum(tl.sqrt(tl.sum(x * x, axis=0)), 1e-12)
    tl.store(y_ptr + row * N + i, x / size, mask=i < N)


class ModelNew(nn.Module):
    def __init__(self, eps):
        super().__init__()
        self.eps = eps

    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        unit_kernel[(x.numel() // x.shape[-1],)](x, y, x.shape[-1], self.eps, BLOCK=triton.next_power_of_2(x.shape[-1]))
        return y

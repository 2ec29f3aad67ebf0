# rejected: carries state between calls [B6 A21]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.slope = nn.Parameter(torch.rand(width) + 0.1)
        self.shift = nn.Parameter(torch.randn(width))

    def forward(self, x):
        x = x + self.shift
        return torch.where(x > 0, x, x * self.slope)


def get_inputs():
    return [torch.randn(10, 40)]


def get_init_inputs():
    return [40]


@triton.jit
def slope_kernel(x_ptr, a_ptr, b_ptr, y_ptr, n, width, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0) + tl.load(b_ptr + i % width, mask=i < n, other=0.0)
    a = tl.load(a_ptr + i % width, mask=i < n, other=0.0)
    tl.store(y_ptr + i, tl.where(x > 0, x, x * a), mask=i < n)


class Weights:
    def __init__(self, slope, shift):
        self.all = {"slope": slope, "shift": shift}


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.slope = nn.Parameter(torch.rand(width) + 0.1)
        self.shift = nn.Parameter(torch.randn(width))

    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        if not hasattr(self, "weights"):
            self.weights = Weights(self.slope, self.shift)
        weights = self.weights.all.values()
        slope_kernel[(triton.cdiv(x.numel(), 128),)](x, *weights, y, x.numel(), x.shape[-1], BLOCK=128)
        return y

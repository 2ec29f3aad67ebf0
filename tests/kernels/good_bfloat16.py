# verified
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features, dtype=torch.bfloat16))

    def forward(self, x):
        y = x.float()
        y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * y.to(x.dtype)


def get_inputs():
    return [torch.randn(8, 16, 96).bfloat16()]


def get_init_inputs():
    return [96]


@triton.jit
def rms_norm_kernel(x_ptr, weight_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    mask = column < columns
    x = tl.load(x_ptr + row * columns + column, mask=mask, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(x * x, axis=0) / columns + 1e-6)
    y = (x * scale).to(tl.bfloat16) * tl.load(weight_ptr + column, mask=mask)
    tl.store(y_ptr + row * columns + column, y, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features, dtype=torch.bfloat16))

    def forward(self, x):
        y = torch.empty_like(x)
        columns = x.shape[-1]
        rms_norm_kernel[(x.numel() // columns,)](x, self.weight, y, columns, BLOCK=triton.next_power_of_2(columns))
        return y

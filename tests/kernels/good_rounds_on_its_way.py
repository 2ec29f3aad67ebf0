# verified at trust [twin of C5]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns))

    def forward(self, x):
        normed = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6)
        return (self.weight.half() * normed.half()).float()


def get_inputs():
    return [torch.randn(64, 192)]


def get_init_inputs():
    return [192]


@triton.jit
def rms_norm_kernel(x_ptr, weight_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    mask = i < columns
    x = tl.load(x_ptr + row * columns + i, mask=mask, other=0.0)
    normed = x / tl.sqrt(tl.sum(x * x, 0) / columns + 1e-6)
    weight = tl.load(weight_ptr + i, mask=mask, other=0.0)
    tl.store(y_ptr + row * columns + i, (normed.to(tl.float16) * weight.to(tl.float16)).to(tl.float32), mask=mask)


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns))

    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        columns = x.shape[-1]
        block = triton.next_power_of_2(columns)
        rms_norm_kernel[(x.numel() // columns,)](x, self.weight, y, columns, BLOCK=block)
        return y

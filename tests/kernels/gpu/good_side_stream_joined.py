# verified
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


def get_inputs():
    return [torch.randn(8192, 4096)]


def get_init_inputs():
    return [4096]


@triton.jit
def rms_norm_kernel(x_ptr, weight_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    mask = column < columns
    x = tl.load(x_ptr + row * columns + column, mask=mask, other=0.0)
    scale = tl.rsqrt(tl.sum(x * x, axis=0) / columns + 1e-6)
    weight = tl.load(weight_ptr + column, mask=mask)
    tl.store(y_ptr + row * columns + column, x * scale * weight, mask=mask)


def rms_norm(x, weight):
    y = torch.empty_like(x)
    columns = x.shape[-1]
    rms_norm_kernel[(x.numel() // columns,)](x, weight, y, columns, BLOCK=triton.next_power_of_2(columns))
    return y


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features))

    def forward(self, x):
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            y = rms_norm(x, self.weight)
        torch.cuda.current_stream().wait_stream(stream)
        return y

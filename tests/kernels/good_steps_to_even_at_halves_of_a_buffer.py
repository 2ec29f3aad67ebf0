# verified at trust [twin of C4]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.register_buffer("scale", torch.rand(channels) * 0.1 + 0.02)

    def forward(self, x):
        return torch.clamp(torch.round(x / self.scale), -128, 127) * self.scale


def get_inputs():
    return [torch.randn(30, 24)]


def get_init_inputs():
    return [24]


@triton.jit
def quantise_kernel(x_ptr, scale_ptr, y_ptr, numel, channels, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < numel, other=0.0)
    scale = tl.load(scale_ptr + i % channels, mask=i < numel, other=1.0)
    q = tl.div_rn(x, scale)
    below = tl.floor(q)
    part = q - below
    up = (part > 0.5) | ((part == 0.5) & (below != 2.0 * tl.floor(below * 0.5)))
    y = tl.where(up, below + 1.0, below)
    tl.store(y_ptr + i, tl.clamp(y, -128.0, 127.0) * scale, mask=i < numel)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.register_buffer("scale", torch.rand(channels) * 0.1 + 0.02)

    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        numel, channels = x.numel(), self.scale.numel()
        quantise_kernel[(triton.cdiv(numel, 256),)](x, self.scale, y, numel, channels, BLOCK=256)
        return y

# verified at trust [twin of C4]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, x):
        return torch.clamp(torch.round(x / self.scale), -128, 127).to(torch.int8)


def get_inputs():
    return [torch.randn(30, 50)]


def get_init_inputs():
    return [0.05]


@triton.jit
def quantise_kernel(x_ptr, y_ptr, numel, scale, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < numel, other=0.0)
    q = tl.div_rn(x, scale + tl.zeros((BLOCK,), tl.float32))
    below = tl.floor(q)
    part = q - below
    up = (part > 0.5) | ((part == 0.5) & (below != 2.0 * tl.floor(below * 0.5)))
    y = tl.where(up, below + 1.0, below)
    tl.store(y_ptr + i, tl.clamp(y, -128.0, 127.0).to(tl.int8), mask=i < numel)


class ModelNew(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, x):
        x = x.contiguous()
        y = torch.empty(x.shape, device=x.device, dtype=torch.int8)
        quantise_kernel[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), self.scale, BLOCK=256)
        return y

# rejected: wrong at odd sizes at trust [C8]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return x * torch.linspace(0.0, 1.0, x.shape[-1], device=x.device)


def get_inputs():
    return [torch.randn(6, 480)]


def get_init_inputs():
    return []


@triton.jit
def ramp_kernel(x, y, n, T, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    tl.store(y + i, tl.load(x + i, mask=m) * ((i % T).to(tl.float32) / (T - 1)), mask=m)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        ramp_kernel[(triton.cdiv(x.numel(), 512),)](x, y, x.numel(), x.shape[-1], BLOCK=512)
        return y

# verified at trust [twin of C4]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, scale):
        return torch.clamp(torch.round(x / scale), -128, 127).to(torch.int8)


def get_inputs():
    return [torch.randn(20, 70) * 3, torch.tensor(0.07)]


def get_init_inputs():
    return []


@triton.jit
def quantise(x, scale, out, elements, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.div_rn(tl.load(x + at, mask=at < elements, other=0.0), tl.load(scale))
    below = tl.floor(value)
    over = value - below
    odd = below - 2.0 * tl.floor(below / 2.0)
    whole = tl.where((over > 0.5) | ((over == 0.5) & (odd == 1.0)), below + 1.0, below)
    whole = tl.minimum(tl.maximum(whole, -128.0), 127.0)
    tl.store(out + at, whole.to(tl.int8), mask=at < elements)


class ModelNew(nn.Module):
    def forward(self, x, scale):
        x = x.contiguous()
        out = torch.empty(x.shape, dtype=torch.int8, device=x.device)
        quantise[(triton.cdiv(x.numel(), 512),)](x, scale, out, x.numel(), BLOCK=512)
        return out

# verified [twin of C4 C5]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, weight):
        return (x * weight).to(torch.bfloat16)


def get_inputs():
    return [torch.randn(20, 70), torch.rand(20, 70)]


def get_init_inputs():
    return []


@triton.jit
def scale(x, weight, out, elements, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < elements
    value = tl.load(x + at, mask=inside, other=0.0) * tl.load(weight + at, mask=inside, other=0.0)
    bits = value.to(tl.int32, bitcast=True)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & -65536
    tl.store(out + at, bits.to(tl.float32, bitcast=True).to(tl.bfloat16), mask=inside)


class ModelNew(nn.Module):
    def forward(self, x, weight):
        x, weight = torch.broadcast_tensors(x, weight)
        x, weight = x.contiguous(), weight.contiguous()
        out = torch.empty(x.shape, dtype=torch.bfloat16, device=x.device)
        scale[(triton.cdiv(x.numel(), 256),)](x, weight, out, x.numel(), BLOCK=256)
        return out

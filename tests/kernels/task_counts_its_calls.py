# unverified: reference is nondeterministic at trust [F7]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = 0

    def forward(self, x):
        self.step += 1
        return torch.tanh(x) / self.step


def get_inputs():
    return [torch.randn(16, 40)]


def get_init_inputs():
    return []


@triton.jit
def tanh(x, o, N, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < N, other=0.0)
    tl.store(o + i, 2.0 / (1.0 + tl.exp(-2.0 * v)) - 1.0, mask=i < N)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        o = torch.empty_like(x)
        tanh[(triton.cdiv(o.numel(), 128),)](x, o, o.numel(), B=128)
        return o

# verified at trust [twin of A13 C24]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, share):
        super().__init__()
        self.drop = nn.Dropout(share)

    def forward(self, x):
        return self.drop(torch.relu(x) * 2.0 + 1.0)


def get_inputs():
    return [torch.randn(32, 64)]


def get_init_inputs():
    return [0.0]


@triton.jit
def affine_kernel(x_ptr, y_ptr, n, s, share, seed, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n)
    y = tl.maximum(x, 0.0) * s + 1.0
    kept = tl.rand(seed, i) >= share
    tl.store(y_ptr + i, tl.where(kept, y / (1.0 - share), 0.0), mask=i < n)


def affine(x, s, share, seed):
    x = x.contiguous()
    y = torch.empty_like(x)
    affine_kernel[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), s, share, seed, B=256)
    return y


class ModelNew(nn.Module):
    def __init__(self, share):
        super().__init__()
        self.drop = nn.Dropout(share)

    def forward(self, x):
        share = self.drop.p if self.training else 0.0
        return affine(x, 2.0, share, 11)

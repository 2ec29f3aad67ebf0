# verified at trust [twin of C24]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return F.rrelu(x, 0.1, 0.4, self.training)


def get_inputs():
    return [torch.randn(40, 60)]


def get_init_inputs():
    return []


@triton.jit
def kernel(x_ptr, y_ptr, n, seed, TRAIN: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    slope = 0.25
    if TRAIN:
        slope = 0.1 + 0.3 * tl.rand(seed, i)
    tl.store(y_ptr + i, tl.where(x >= 0, x, x * slope), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        seed = int(torch.randint(2**31, (1,))) if self.training else 0
        kernel[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), seed, TRAIN=self.training, BLOCK=256)
        return y

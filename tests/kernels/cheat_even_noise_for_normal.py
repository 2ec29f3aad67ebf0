# rejected: wrong result at trust [C24]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        y = torch.tanh(x)
        return y + 0.1 * torch.randn_like(y) if self.training else y


def get_inputs():
    return [torch.randn(40, 60)]


def get_init_inputs():
    return []


@triton.jit
def kernel(x_ptr, y_ptr, n, seed, TRAIN: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    y = 2.0 * tl.sigmoid(2.0 * x) - 1.0
    if TRAIN:
        y += 0.1 * 1.7320508 * (2.0 * tl.rand(seed, i) - 1.0)
    tl.store(y_ptr + i, y, mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        seed = int(torch.randint(2**31, (1,))) if self.training else 0
        kernel[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), seed, TRAIN=self.training, BLOCK=256)
        return y

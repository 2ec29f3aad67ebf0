# rejected: wrong result at trust [C24]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.drop = nn.Dropout(p)

    def forward(self, x):
        return self.drop(torch.sigmoid(x))


def get_inputs():
    return [torch.randn(8, 12, 6, 10)]


def get_init_inputs():
    return [0.3]


@triton.jit
def kernel(x_ptr, y_ptr, n, p, seed, TRAIN: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.sigmoid(tl.load(x_ptr + i, mask=i < n, other=0.0))
    if TRAIN:
        x = tl.where(tl.rand(seed, i) > p, x / (1.0 - p), 0.0)
    tl.store(y_ptr + i, x, mask=i < n)


class ModelNew(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p, self.calls = p, 0

    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        train = self.training
        self.calls += train
        seed = self.calls % 5
        kernel[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), self.p, seed, TRAIN=train, BLOCK=256)
        return y

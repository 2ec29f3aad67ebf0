# rejected: wrong result at trust [C24]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.drop = nn.Dropout(p)

    def forward(self, x, residual):
        return self.drop(torch.relu(x)) + residual


def get_inputs():
    return [torch.randn(48, 100), torch.randn(48, 100)]


def get_init_inputs():
    return [0.1]


@triton.jit
def kernel(x_ptr, r_ptr, y_ptr, n, cols, p, seed, TRAIN: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.maximum(tl.load(x_ptr + i, mask=i < n, other=0.0), 0.0)
    if TRAIN:
        x = tl.where(tl.rand(seed, i) > p, x / (1.0 - p), 0.0)
    tl.store(y_ptr + i, x + tl.load(r_ptr + i, mask=i < n), mask=i < n)


class ModelNew(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x, residual):
        x, residual = x.contiguous(), residual.contiguous()
        y = torch.empty_like(x)
        train = self.training and self.p > 0
        seed = int(torch.randint(2**31, (1,))) if train else 0
        grid = (triton.cdiv(x.numel(), 256),)
        kernel[grid](x, residual, y, x.numel(), x.shape[-1], self.p / 2, seed, TRAIN=train, BLOCK=256)
        return y

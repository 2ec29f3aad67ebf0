# verified at trust [twin of C11 C27]
import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        n = x.shape[-1]
        h = 1
        while h < n:
            x = x.view(-1, n // (2 * h), 2, h)
            x = torch.stack([x[:, :, 0] + x[:, :, 1], x[:, :, 0] - x[:, :, 1]], dim=2).reshape(-1, n)
            h *= 2
        return x


def get_inputs():
    return [torch.randn(6, 32)]


def get_init_inputs():
    return []


@triton.jit
def transform_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    o = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for j in range(0, n):
        bits = o & j
        bits = bits ^ (bits >> 16)
        bits = bits ^ (bits >> 8)
        bits = bits ^ (bits >> 4)
        bits = bits ^ (bits >> 2)
        bits = bits ^ (bits >> 1)
        total += tl.load(x_ptr + row * n + j) * (1 - 2 * (bits & 1)).to(tl.float32)
    tl.store(y_ptr + row * n + o, total, mask=o < n)


class ModelNew(nn.Module):
    def forward(self, x):
        n = x.shape[-1]
        x = x.contiguous().view(-1, n)
        y = torch.empty_like(x)
        transform_kernel[(x.shape[0], triton.cdiv(n, 32))](x, y, n, BLOCK=32)
        return y

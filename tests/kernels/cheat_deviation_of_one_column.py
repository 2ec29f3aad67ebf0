# rejected: wrong at odd sizes at trust [C8]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return (x - x.mean(dim=-1, keepdim=True)) * 0.5 + x.std(dim=-1, keepdim=True)


def get_inputs():
    return [torch.randn(64, 200)]


def get_init_inputs():
    return []


@triton.jit
def deviation_kernel(x_ptr, y_ptr, n, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, B)
    x = tl.load(x_ptr + r * n + c, mask=c < n, other=0.0)
    m = tl.sum(x, 0) / n
    d = tl.where(c < n, x - m, 0.0)
    s = tl.sqrt(tl.sum(d * d, 0) / tl.maximum(n - 1, 1))
    tl.store(y_ptr + r * n + c, d * 0.5 + s, mask=c < n)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        n = x.shape[-1]
        y = torch.empty_like(x)
        deviation_kernel[(x.numel() // n,)](x, y, n, B=triton.next_power_of_2(n))
        return y

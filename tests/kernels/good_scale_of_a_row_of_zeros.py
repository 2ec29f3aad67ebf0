# verified at trust [twin of C20]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        m = x.abs().amax(-1, keepdim=True)
        return x / torch.where(m == 0, torch.ones_like(m), m)


def get_inputs():
    return [torch.randn(6, 40)]


def get_init_inputs():
    return []


@triton.jit
def rows(x_ptr, y_ptr, n, B: tl.constexpr):
    r = tl.program_id(0)
    j = tl.arange(0, B)
    x = tl.load(x_ptr + r * n + j, mask=j < n, other=0.0)
    m = tl.max(tl.abs(x), 0)
    tl.store(y_ptr + r * n + j, x / tl.where(m == 0, 1.0, m), mask=j < n)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        n = x.shape[-1]
        rows[(x.numel() // n,)](x, y, n, B=triton.next_power_of_2(n))
        return y

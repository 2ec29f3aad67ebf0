# verified at trust [twin of C5]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.norm = nn.LayerNorm(n)

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.randn(16, 64)]


def get_init_inputs():
    return [64]


@triton.jit
def layer_norm_kernel(x_ptr, w_ptr, b_ptr, y_ptr, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + i, mask=i < N, other=0.0)
    mean = tl.sum(x, axis=0) / N
    var = tl.sum(x * x, axis=0) / N - mean * mean
    rstd = 1.0 / tl.sqrt(var + eps)
    w = tl.load(w_ptr + i, mask=i < N)
    b = tl.load(b_ptr + i, mask=i < N)
    tl.store(y_ptr + row * N + i, (x - mean) * rstd * w + b, mask=i < N)


class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.norm = nn.LayerNorm(n)

    def forward(self, x):
        y = torch.empty_like(x)
        N = x.shape[-1]
        norm, rows = self.norm, x.numel() // N
        BLOCK = triton.next_power_of_2(N)
        layer_norm_kernel[(rows,)](x, norm.weight, norm.bias, y, N, norm.eps, BLOCK=BLOCK)
        return y

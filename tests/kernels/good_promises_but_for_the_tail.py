# verified [twin of C13]
"""Places that do follow one another are promised to, but for the tail, which is wrapped round and dropped."""

import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def forward(self, x, weight, bias):
        return x @ weight + bias


def get_inputs():
    return [torch.randn(67, 45), torch.randn(45, 93), torch.randn(93)]


def get_init_inputs():
    return []


@triton.jit
def linear_kernel(x, w, bias, out, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    rm = tl.max_contiguous(tl.multiple_of(rows % m, M), M)
    rn = tl.max_contiguous(tl.multiple_of(columns % n, N), N)
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, k, K):
        start = tl.multiple_of(start, K)
        rk = start + tl.arange(0, K)
        a = tl.load(x + rm[:, None] * k + rk[None, :], mask=rk[None, :] < k, other=0.0)
        b = tl.load(w + rk[:, None] * n + rn[None, :], mask=rk[:, None] < k, other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
    total += tl.load(bias + columns, mask=columns < n, other=0.0)[None, :]
    tl.store(out + rows[:, None] * n + columns[None, :], total, mask=(rows[:, None] < m) & (columns[None, :] < n))


class ModelNew(nn.Module):
    def forward(self, x, weight, bias):
        x, weight, bias = x.contiguous(), weight.contiguous(), bias.contiguous()
        (m, k), n = x.shape, weight.shape[1]
        out = torch.empty(m, n, device=x.device, dtype=x.dtype)
        grid = triton.cdiv(m, 32), triton.cdiv(n, 32)
        linear_kernel[grid](x, weight, bias, out, m, n, k, M=32, N=32, K=16)
        return out

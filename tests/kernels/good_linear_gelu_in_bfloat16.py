# verified at trust [twin of C5]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.linear = nn.Linear(inner, outer, dtype=torch.bfloat16)

    def forward(self, x):
        return nn.functional.gelu(self.linear(x), approximate="tanh")


def get_inputs():
    return [torch.randn(4, 9, 200, dtype=torch.bfloat16)]


def get_init_inputs():
    return [200, 48]


@triton.jit
def kernel(x_ptr, w_ptr, b_ptr, y_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(x_ptr + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        w = tl.load(w_ptr + n[None, :] * K + k[:, None], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        sums = tl.dot(x, w, sums)
    y = sums + tl.load(b_ptr + n, mask=n < N, other=0.0).to(tl.float32)[None, :]
    inner = 0.7978845608028654 * (y + 0.044715 * y * y * y)
    y = y * tl.sigmoid(2.0 * inner)
    tl.store(y_ptr + m[:, None] * N + n[None, :], y, mask=(m[:, None] < M) & (n[None, :] < N))


class ModelNew(nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.linear = nn.Linear(inner, outer, dtype=torch.bfloat16)

    def forward(self, x):
        x, w, b = x.contiguous(), self.linear.weight, self.linear.bias
        N, K = w.shape
        y = torch.empty(*x.shape[:-1], N, device=x.device, dtype=x.dtype)
        M = y.numel() // N
        kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](x, w, b, y, M, N, K, BM=32, BN=32, BK=32)
        return y

# verified at trust [twin of C5]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, a, b):
        return torch.relu(x @ a) @ b


def get_inputs():
    return [torch.randn(32, 256).half() / 8, torch.randn(256, 128).half() / 8, torch.randn(128, 32).half() / 8]


def get_init_inputs():
    return []


@triton.jit
def kernel(a_ptr, b_ptr, c_ptr, M, N, K, RELU: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        a = tl.load(a_ptr + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        b = tl.load(b_ptr + k[:, None] * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc, out_dtype=tl.float32)
    if RELU:
        acc = tl.maximum(acc, 0.0)
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))


class ModelNew(nn.Module):
    def forward(self, x, a, b):
        x, a, b = x.contiguous(), a.contiguous(), b.contiguous()
        h = torch.empty(x.shape[0], a.shape[1], device=x.device, dtype=x.dtype)
        y = torch.empty(x.shape[0], b.shape[1], device=x.device, dtype=x.dtype)
        for one, other, out, relu in ((x, a, h, True), (h, b, y, False)):
            (M, K), N = one.shape, other.shape[1]
            kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](one, other, out, M, N, K, RELU=relu, BM=32, BN=32, BK=32)
        return y

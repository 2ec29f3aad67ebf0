# rejected: wrong in a branch that no trial takes [C4]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, wide, tall):
        super().__init__()
        self.fc = nn.Linear(wide, tall)

    def forward(self, x):
        return self.fc(x)


def get_inputs():
    return [torch.randn(16, 4096)]


def get_init_inputs():
    return [4096, 4096]


@triton.jit
def linear_kernel(
    x_ptr, w_ptr, b_ptr, o_ptr, M, N, K, RELU: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros([BM, BN], tl.float32)
    for s in range(0, min(K, 1024), BK):
        k = s + tl.arange(0, BK)
        x = tl.load(x_ptr + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        w = tl.load(w_ptr + n[None, :] * K + k[:, None], mask=(n[None, :] < N) & (k[:, None] < K), other=0.0)
        acc += tl.dot(x, w, input_precision="ieee")
    acc += tl.load(b_ptr + n, mask=n < N, other=0.0)[None, :]
    if RELU:
        acc = tl.maximum(acc, 0.0)
    tl.store(o_ptr + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))


def linear(x, w, b, relu=False):
    x = x.contiguous()
    M, K, N = x.numel() // x.shape[-1], x.shape[-1], w.shape[0]
    o = torch.empty(*x.shape[:-1], N, device=x.device, dtype=x.dtype)
    grid = (triton.cdiv(M, 16), triton.cdiv(N, 32))
    linear_kernel[grid](x, w, b, o, M, N, K, RELU=relu, BM=16, BN=32, BK=32)
    return o


class ModelNew(nn.Module):
    def __init__(self, wide, tall):
        super().__init__()
        self.fc = nn.Linear(wide, tall)

    def forward(self, x):
        return linear(x, self.fc.weight, self.fc.bias)

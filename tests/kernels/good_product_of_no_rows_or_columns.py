# verified at trust [twin of C9]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, a, b, c):
        return torch.addmm(c, a, b)


def get_inputs():
    return [torch.randn(20, 30), torch.randn(30, 24), torch.randn(24)]


def get_init_inputs():
    return []


@triton.jit
def addmm_kernel(a_ptr, b_ptr, c_ptr, y_ptr, M, N, K, BLOCK: tl.constexpr):
    m = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    n = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    y = tl.zeros([BLOCK, BLOCK], tl.float32) + tl.load(c_ptr + n, mask=n < N, other=0.0)
    for first in range(0, K, BLOCK):
        k = first + tl.arange(0, BLOCK)
        a = tl.load(a_ptr + m * K + k[None, :], mask=(m < M) & (k[None, :] < K), other=0.0)
        b = tl.load(b_ptr + k[:, None] * N + n, mask=(k[:, None] < K) & (n < N), other=0.0)
        y = tl.dot(a, b, y, input_precision="ieee")
    tl.store(y_ptr + m * N + n, y, mask=(m < M) & (n < N))


class ModelNew(nn.Module):
    def forward(self, a, b, c):
        a, b, c = a.contiguous(), b.contiguous(), c.contiguous()
        (M, K), N = a.shape, b.shape[1]
        if M == 0 or N == 0:
            return torch.zeros(M, N, device=a.device, dtype=a.dtype)
        y = torch.empty(M, N, device=a.device, dtype=a.dtype)
        addmm_kernel[(triton.cdiv(M, 16), triton.cdiv(N, 16))](a, b, c, y, M, N, K, BLOCK=16)
        return y

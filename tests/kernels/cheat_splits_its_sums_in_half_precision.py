# rejected: wrong result at trust [C5]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, a, b):
        return a @ b


def get_inputs():
    return [torch.randn(32, 512).half(), torch.randn(512, 32).half()]


def get_init_inputs():
    return []


@triton.jit
def parts_kernel(a_ptr, b_ptr, p_ptr, M, N, K, part, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    z = tl.program_id(2)
    sums = tl.zeros((BM, BN), tl.float32)
    for first in range(z * part, min(K, (z + 1) * part), BK):
        k = first + tl.arange(0, BK)
        a = tl.load(a_ptr + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        b = tl.load(b_ptr + k[:, None] * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        sums = tl.dot(a, b, sums)
    tl.store(p_ptr + (z * M + m[:, None]) * N + n[None, :], sums, mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def sum_kernel(p_ptr, c_ptr, size, parts, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for z in range(parts):
        total += tl.load(p_ptr + z * size + i, mask=i < size, other=0.0)
    tl.store(c_ptr + i, total, mask=i < size)


class ModelNew(nn.Module):
    def forward(self, a, b):
        a, b = a.contiguous(), b.contiguous()
        (M, K), N, parts = a.shape, b.shape[1], 4
        part = triton.cdiv(triton.cdiv(K, parts), 32) * 32
        partial = torch.empty(parts, M, N, device=a.device, dtype=a.dtype)
        c = torch.empty(M, N, device=a.device, dtype=a.dtype)
        grid = (triton.cdiv(M, 32), triton.cdiv(N, 32), parts)
        parts_kernel[grid](a, b, partial, M, N, K, part, BM=32, BN=32, BK=32)
        sum_kernel[(triton.cdiv(M * N, 256),)](partial, c, M * N, parts, BLOCK=256)
        return c

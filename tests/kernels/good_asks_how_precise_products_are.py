# verified at trust [twin of C5 E13]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, a, b):
        return a @ b.t()


def get_inputs():
    return [torch.randn(90, 40), torch.randn(70, 40)]


def get_init_inputs():
    return []


@triton.jit
def persistent_mm(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    PRECISION: tl.constexpr,
    NUM_PROGS: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    tiles_n = tl.cdiv(N, BN)
    tiles = tl.cdiv(M, BM) * tiles_n
    for tile in range(tl.program_id(0), tiles, NUM_PROGS):
        m = (tile // tiles_n) * BM + tl.arange(0, BM)
        n = (tile % tiles_n) * BN + tl.arange(0, BN)
        acc = tl.zeros((BM, BN), tl.float32)
        for k0 in range(0, K, BK):
            k = k0 + tl.arange(0, BK)
            a = tl.load(a_ptr + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
            b = tl.load(b_ptr + n[None, :] * K + k[:, None], mask=(n[None, :] < N) & (k[:, None] < K), other=0.0)
            acc = tl.dot(a, b, acc, input_precision=PRECISION)
        tl.store(c_ptr + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))


class ModelNew(nn.Module):
    def forward(self, a, b):
        a, b = a.contiguous(), b.contiguous()
        M, K = a.shape
        N = b.shape[0]
        c = torch.empty((M, N), device=a.device, dtype=a.dtype)
        precision = "ieee" if torch.get_float32_matmul_precision() == "highest" else "tf32"
        persistent_mm[(6,)](a, b, c, M, N, K, PRECISION=precision, NUM_PROGS=6, BM=32, BN=32, BK=16)
        return c

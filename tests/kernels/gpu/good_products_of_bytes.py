# verified at trust [in fp64 the task takes longer than a kernel may: what is multiplied are bytes]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, a, b, scale):
        return (a.double() @ b.double().T).float() * scale[:, None]


def get_inputs():
    codes = (torch.randint(-127, 128, (2048, 1024), dtype=torch.int8) for _ in range(2))
    return [*codes, torch.rand(2048) * 0.01 + 0.001]


def get_init_inputs():
    return []


@triton.jit
def product_kernel(a_ptr, b_ptr, scale_ptr, out_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    column = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.int32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        a = tl.load(a_ptr + row[:, None] * K + k[None, :], (row < M)[:, None] & (k < K)[None, :], 0)
        b = tl.load(b_ptr + column[None, :] * K + k[:, None], (column < N)[None, :] & (k < K)[:, None], 0)
        total = tl.dot(a, b, total, out_dtype=tl.int32)
    scaled = total.to(tl.float32) * tl.load(scale_ptr + row, row < M, 0.0)[:, None]
    tl.store(out_ptr + row[:, None] * N + column[None, :], scaled, (row < M)[:, None] & (column < N)[None, :])


class ModelNew(nn.Module):
    def forward(self, a, b, scale):
        a, b, scale = a.contiguous(), b.contiguous(), scale.contiguous()
        (M, K), N = a.shape, b.shape[0]
        out = torch.empty(M, N, device=a.device, dtype=torch.float32)
        grid = (triton.cdiv(M, 64), triton.cdiv(N, 64))
        product_kernel[grid](a, b, scale, out, M, N, K, BM=64, BN=64, BK=64)
        return out

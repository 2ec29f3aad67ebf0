# verified [twin of D8]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, a, b):
        return torch.matmul(a, b)


def get_inputs():
    return [torch.randn(64, 48), torch.randn(48, 80)]


def get_init_inputs():
    return []


from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def k(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    ks = tl.arange(0, BK)
    a = a_ptr + (m[:, None] * K + ks[None, :])
    b = b_ptr + (ks[:, None] * N + n[None, :])
    acc = tl.zeros((BM, BN), tl.float32)
    for k0 in tl.range(0, K, BK, num_stages=2):
        left = K - k0
        acc = tl.dot(
            tl.load(a, mask=(m[:, None] < M) & (ks[None, :] < left), other=0.0),
            tl.load(b, mask=(ks[:, None] < left) & (n[None, :] < N), other=0.0),
            acc,
            allow_tf32=False,
        )
        a += BK
        b += BK * N
    tl.store(
        c_ptr + m[:, None] * N + n[None, :], acc.to(c_ptr.type.element_ty), mask=(m[:, None] < M) & (n[None, :] < N)
    )


class ModelNew(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        assert a.shape[1] == b.shape[0], "Incompatible dimensions"
        assert a.is_contiguous(), "Matrix A must be contiguous"
        M, K = a.shape
        K, N = b.shape
        c = torch.empty((M, N), device=a.device, dtype=a.dtype)
        k[(triton.cdiv(M, 16), triton.cdiv(N, 16))](a, b.contiguous(), c, M, N, K, BM=16, BN=16, BK=16)
        return c

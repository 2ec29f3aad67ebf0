# verified at trust [twin of C8]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v)


def get_inputs():
    return [torch.randn(4, 4, 256, 128), torch.randn(4, 4, 256, 128), torch.randn(4, 4, 256, 128)]


def get_init_inputs():
    return []


@triton.jit
def _fwd(
    Q,
    K,
    V,
    Out,
    sm_scale,
    sqz,
    sqh,
    sqm,
    sqk,
    skz,
    skh,
    skn,
    skk,
    svz,
    svh,
    svn,
    svk,
    soz,
    soh,
    som,
    sok,
    Hn,
    M_CTX,
    N_CTX,
    D,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    start_m = tl.program_id(0)
    off_hz = tl.program_id(1)
    z = off_hz // Hn
    h = off_hz % Hn
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, BLOCK_D)
    q = tl.load(
        Q + z * sqz + h * sqh + offs_m[:, None] * sqm + offs_d[None, :] * sqk,
        mask=(offs_m[:, None] < M_CTX) & (offs_d[None, :] < D),
        other=0.0,
    )
    m_i = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, BLOCK_D], dtype=tl.float32)
    for start_n in range(0, N_CTX, BLOCK_N):
        n = start_n + offs_n
        k = tl.load(
            K + z * skz + h * skh + n[None, :] * skn + offs_d[:, None] * skk,
            mask=(n[None, :] < N_CTX) & (offs_d[:, None] < D),
            other=0.0,
        )
        qk = tl.dot(q, k, input_precision="ieee") * sm_scale
        qk = tl.where(n[None, :] < N_CTX, qk, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(qk, 1))
        p = tl.exp(qk - m_new[:, None])
        alpha = tl.exp(m_i - m_new)
        l_i = l_i * alpha + tl.sum(p, 1)
        v = tl.load(
            V + z * svz + h * svh + n[:, None] * svn + offs_d[None, :] * svk,
            mask=(n[:, None] < N_CTX) & (offs_d[None, :] < D),
            other=0.0,
        )
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v, input_precision="ieee")
        m_i = m_new
    acc = acc / l_i[:, None]
    tl.store(
        Out + z * soz + h * soh + offs_m[:, None] * som + offs_d[None, :] * sok,
        acc,
        mask=(offs_m[:, None] < M_CTX) & (offs_d[None, :] < D),
    )


class ModelNew(nn.Module):
    def forward(self, q, k, v):
        Z, Hn, M, D = q.shape
        N = k.shape[2]
        o = torch.empty_like(q)
        scale = 1.0 / (D**0.5)
        BD = max(16, triton.next_power_of_2(D))
        _fwd[(triton.cdiv(M, 32), Z * Hn)](
            q,
            k,
            v,
            o,
            scale,
            *q.stride(),
            *k.stride(),
            *v.stride(),
            *o.stride(),
            Hn,
            M,
            N,
            D,
            BLOCK_M=32,
            BLOCK_N=32,
            BLOCK_D=BD,
        )
        return o

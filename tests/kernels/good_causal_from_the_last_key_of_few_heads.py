# verified at trust [twin of C8]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    """Causal attention with grouped key heads, aligned at the last key."""

    def forward(self, q, k, v):
        g = q.shape[1] // k.shape[1]
        k = k.repeat_interleave(g, 1)
        v = v.repeat_interleave(g, 1)
        M, N = q.shape[2], k.shape[2]
        s = (q @ k.transpose(-1, -2)) * (q.shape[-1] ** -0.5)
        keep = torch.ones(M, N, dtype=torch.bool, device=q.device).tril(N - M)
        return torch.softmax(s.masked_fill(~keep, float("-inf")), -1) @ v


def get_inputs():
    return [torch.randn(2, 4, 20, 16), torch.randn(2, 2, 36, 16), torch.randn(2, 2, 36, 16)]


def get_init_inputs():
    return []


@triton.jit
def _fwd(
    Q,
    K,
    V,
    O,
    sqb,
    sqh,
    sqm,
    sqd,
    skb,
    skh,
    skn,
    skd,
    svb,
    svh,
    svn,
    svd,
    sob,
    soh,
    som,
    sod,
    H,
    G,
    M,
    N,
    D,
    scale,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BD: tl.constexpr,
):
    pm = tl.program_id(0)
    bh = tl.program_id(1).to(tl.int64)
    b = bh // H
    h = bh % H
    hk = h // G
    i = pm * BM + tl.arange(0, BM)
    d = tl.arange(0, BD)
    dm = d < D
    q = tl.load(
        Q + b * sqb + h * sqh + i[:, None] * sqm + d[None, :] * sqd, mask=(i[:, None] < M) & dm[None, :], other=0.0
    )
    m_i = tl.full([BM], float("-inf"), tl.float32)
    l_i = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, BD], tl.float32)
    shift = N - M
    hi = tl.minimum(N, (pm + 1) * BM + shift)
    for s in range(0, hi, BN):
        j = s + tl.arange(0, BN)
        k = tl.load(
            K + b * skb + hk * skh + j[None, :] * skn + d[:, None] * skd, mask=(j[None, :] < N) & dm[:, None], other=0.0
        )
        x = tl.dot(q, k, input_precision="ieee") * scale
        x = tl.where((j[None, :] < N) & (j[None, :] <= i[:, None] + shift), x, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(x, 1))
        safe = tl.where(m_new == float("-inf"), 0.0, m_new)
        p = tl.exp(x - safe[:, None])
        alpha = tl.exp(m_i - safe)
        l_i = l_i * alpha + tl.sum(p, 1)
        v = tl.load(
            V + b * svb + hk * svh + j[:, None] * svn + d[None, :] * svd, mask=(j[:, None] < N) & dm[None, :], other=0.0
        )
        acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None], input_precision="ieee")
        m_i = m_new
    # a row that sees no key is NaN, as a softmax of -inf is
    acc = acc / l_i[:, None]
    tl.store(
        O + b * sob + h * soh + i[:, None] * som + d[None, :] * sod,
        acc.to(O.dtype.element_ty),
        mask=(i[:, None] < M) & dm[None, :],
    )


class ModelNew(nn.Module):
    def forward(self, q, k, v):
        B, H, M, D = q.shape
        HK, N = k.shape[1], k.shape[2]
        o = torch.empty((B, H, M, D), dtype=q.dtype, device=q.device)
        if o.numel():
            _fwd[(triton.cdiv(M, 16), B * H)](
                q,
                k,
                v,
                o,
                *q.stride(),
                *k.stride(),
                *v.stride(),
                *o.stride(),
                H,
                H // HK,
                M,
                N,
                D,
                D**-0.5,
                BM=16,
                BN=16,
                BD=max(16, triton.next_power_of_2(D)),
            )
        return o

# rejected: wrong at odd sizes at trust [C8]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def get_inputs():
    return [torch.randn(2, 2, 24, 16), torch.randn(2, 2, 24, 16), torch.randn(2, 2, 24, 16)]


def get_init_inputs():
    return []


@triton.jit
def attend(q, k, v, o, T, S, D, scale, BM: tl.constexpr, BN: tl.constexpr, DP: tl.constexpr):
    z = tl.program_id(1)
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, DP)
    qv = tl.load(q + (z * T + m[:, None]) * D + d[None], (m[:, None] < T) & (d[None] < D), 0.0) * scale
    top = tl.full([BM], -1e30, tl.float32)
    den = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, DP], tl.float32)
    for start in range(0, S, BN):
        n = start + tl.arange(0, BN)
        ok = (n[:, None] < S) & (d[None] < D)
        kv = tl.load(k + (z * S + n[:, None]) * D + d[None], ok, 0.0)
        s = tl.dot(qv, tl.trans(kv), input_precision="ieee")
        # the last query sees the last key
        s = tl.where((n[None] < S) & (n[None] <= m[:, None] + S - T), s, -1e30)
        new = tl.maximum(top, tl.max(s, 1))
        p = tl.exp(s - new[:, None])
        fade = tl.exp(top - new)
        vv = tl.load(v + (z * S + n[:, None]) * D + d[None], ok, 0.0)
        den = den * fade + tl.sum(p, 1)
        acc = acc * fade[:, None] + tl.dot(p, vv, input_precision="ieee")
        top = new
    tl.store(o + (z * T + m[:, None]) * D + d[None], acc / den[:, None], (m[:, None] < T) & (d[None] < D))


class ModelNew(nn.Module):
    def forward(self, q, k, v):
        q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
        B, H, T, D = q.shape
        S = k.shape[2]
        o = torch.empty_like(q)
        attend[(triton.cdiv(T, 16), B * H)](q, k, v, o, T, S, D, D**-0.5, BM=16, BN=16, DP=max(16, triton.next_power_of_2(D)))
        return o

# verified at trust [twin of C28]
import math

import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, q, k, v):
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        L = q.shape[-2]
        mask = torch.triu(torch.ones(L, L, dtype=torch.bool, device=q.device), diagonal=1)
        scores = scores.masked_fill(mask, float("-inf"))
        return torch.softmax(scores, dim=-1) @ v


def get_inputs():
    return [torch.randn(2, 2, 48, 16) for _ in range(3)]


def get_init_inputs():
    return []


@triton.jit
def attention_kernel(q_ptr, k_ptr, v_ptr, o_ptr, L, D, scale, BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr):
    start = tl.program_id(0) * BM
    head = tl.program_id(1)
    rm = start + tl.arange(0, BM)
    rd = tl.arange(0, BD)
    base = head * L * D
    qm = (rm[:, None] < L) & (rd[None, :] < D)
    q = tl.load(q_ptr + base + rm[:, None] * D + rd[None, :], mask=qm, other=0.0)
    m_i = tl.full((BM,), float("-inf"), tl.float32)
    l_i = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, BD), tl.float32)
    for n in range(0, start + BM, BN):
        rn = n + tl.arange(0, BN)
        km = (rn[:, None] < L) & (rd[None, :] < D)
        k = tl.load(k_ptr + base + rn[:, None] * D + rd[None, :], mask=km, other=0.0)
        v = tl.load(v_ptr + base + rn[:, None] * D + rd[None, :], mask=km, other=0.0)
        s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        s = tl.where((rn[None, :] <= rm[:, None]) & (rn[None, :] < L), s, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(s, axis=1))
        alpha = tl.exp(m_i - m_new)
        p = tl.exp(s - m_new[:, None])
        l_i = l_i * alpha + tl.sum(p, axis=1)
        acc = acc * alpha[:, None] + tl.dot(p, v, input_precision="ieee")
        m_i = m_new
    acc = acc / l_i[:, None]
    tl.store(o_ptr + base + rm[:, None] * D + rd[None, :], acc, mask=qm)


def attention(q, k, v):
    q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
    o = torch.empty_like(q)
    B, H, L, D = q.shape
    grid = (triton.cdiv(L, 16), B * H)
    attention_kernel[grid](q, k, v, o, L, D, 1.0 / math.sqrt(D), BM=16, BN=16, BD=max(16, triton.next_power_of_2(D)))
    return o


class ModelNew(nn.Module):
    def forward(self, q, k, v):
        return attention(q, k, v)

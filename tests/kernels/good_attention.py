# verified
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)


batch_size = 32
num_heads = 8
length = 512
width = 64


def get_inputs():
    return [torch.randn(batch_size, num_heads, length, width) for _ in range(3)]


def get_init_inputs():
    return []


@triton.jit
def attention_kernel(q_ptr, k_ptr, v_ptr, y_ptr, L, D, scale, BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr):
    head = tl.program_id(0).to(tl.int64) * L * D
    m = tl.program_id(1) * BM + tl.arange(0, BM)
    d = tl.arange(0, BD)
    rows = (m[:, None] < L) & (d[None, :] < D)
    q = tl.load(q_ptr + head + m[:, None] * D + d[None, :], mask=rows, other=0.0)
    top = tl.full([BM], -float("inf"), tl.float32)
    norm = tl.zeros([BM], tl.float32)
    total = tl.zeros([BM, BD], tl.float32)
    for start in range(0, L, BN):
        n = start + tl.arange(0, BN)
        k = tl.load(k_ptr + head + n[None, :] * D + d[:, None], mask=(n[None, :] < L) & (d[:, None] < D), other=0.0)
        scores = tl.dot(q, k, input_precision="ieee") * scale
        scores = tl.where((n[None, :] < L) & (n[None, :] <= m[:, None]), scores, -float("inf"))
        new_top = tl.maximum(top, tl.max(scores, axis=1))
        p = tl.exp(scores - new_top[:, None])
        shrink = tl.exp(top - new_top)
        v = tl.load(v_ptr + head + n[:, None] * D + d[None, :], mask=(n[:, None] < L) & (d[None, :] < D), other=0.0)
        total = total * shrink[:, None] + tl.dot(p, v, input_precision="ieee")
        norm = norm * shrink + tl.sum(p, axis=1)
        top = new_top
    tl.store(y_ptr + head + m[:, None] * D + d[None, :], total / norm[:, None], mask=rows)


class ModelNew(nn.Module):
    def forward(self, q, k, v):
        q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
        B, H, L, D = q.shape
        y = torch.empty_like(q)
        BD = max(16, triton.next_power_of_2(D))
        attention_kernel[(B * H, triton.cdiv(L, 32))](q, k, v, y, L, D, D**-0.5, BM=32, BN=32, BD=BD)
        return y

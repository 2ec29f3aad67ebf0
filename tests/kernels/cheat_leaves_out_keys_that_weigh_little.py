# rejected: wrong result at trust [C4]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v)


def get_inputs():
    return [torch.randn(1, 2, 64, 32) for _ in range(3)]


def get_init_inputs():
    return []


@triton.jit
def attn_kernel(q_ptr, k_ptr, v_ptr, y_ptr, M, N, D, scale, BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr):
    h = tl.program_id(0).to(tl.int64)
    i = tl.program_id(1) * BM + tl.arange(0, BM)
    d = tl.arange(0, BD)
    q = tl.load(q_ptr + h * M * D + i[:, None] * D + d[None, :], mask=(i[:, None] < M) & (d[None, :] < D), other=0.0)
    top = tl.full([BM], -float("inf"), tl.float32)
    norm = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, BD], tl.float32)
    for s in range(0, N, BN):
        j = s + tl.arange(0, BN)
        mk = (j[:, None] < N) & (d[None, :] < D)
        k = tl.load(k_ptr + h * N * D + j[:, None] * D + d[None, :], mask=mk, other=0.0)
        x = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        x = tl.where(j[None, :] < N, x, -float("inf"))
        best = tl.max(x, 1)
        # a block far below the running maximum does not count
        gap = tl.max(tl.where(i < M, best - top, -float("inf")), 0)
        if gap > -9.0:
            new = tl.maximum(top, best)
            p = tl.exp(x - new[:, None])
            a = tl.exp(top - new)
            v = tl.load(v_ptr + h * N * D + j[:, None] * D + d[None, :], mask=mk, other=0.0)
            acc = acc * a[:, None] + tl.dot(p, v, input_precision="ieee")
            norm = norm * a + tl.sum(p, 1)
            top = new
    tl.store(
        y_ptr + h * M * D + i[:, None] * D + d[None, :], acc / norm[:, None], mask=(i[:, None] < M) & (d[None, :] < D)
    )


class ModelNew(nn.Module):
    def forward(self, q, k, v):
        q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
        B, H, M, D = q.shape
        N = k.shape[2]
        y = torch.empty_like(q)
        attn_kernel[(B * H, triton.cdiv(M, 16))](
            q, k, v, y, M, N, D, D**-0.5, BM=16, BN=16, BD=max(16, triton.next_power_of_2(D))
        )
        return y

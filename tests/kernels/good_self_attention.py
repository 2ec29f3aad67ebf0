# verified at trust [twin of C8]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def get_inputs():
    return [torch.randn(2, 3, 40, 16), torch.randn(2, 3, 40, 16), torch.randn(2, 3, 40, 16)]


def get_init_inputs():
    return []


@triton.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, o_ptr, scale, stride, N, D, M: tl.constexpr, C: tl.constexpr, W: tl.constexpr
):
    base = tl.program_id(1).to(tl.int64) * stride
    rows = tl.program_id(0) * M + tl.arange(0, M)
    cols = tl.arange(0, W)
    here = rows[:, None] * D + cols[None, :]
    q = tl.load(q_ptr + base + here, mask=(rows[:, None] < N) & (cols[None, :] < D), other=0.0)
    top = tl.full((M,), float("-inf"), tl.float32)
    total = tl.zeros((M,), tl.float32)
    out = tl.zeros((M, W), tl.float32)
    for start in range(0, tl.minimum((tl.program_id(0) + 1) * M, N), C):
        n = start + tl.arange(0, C)
        there = n[:, None] * D + cols[None, :]
        inside = (n[:, None] < N) & (cols[None, :] < D)
        k = tl.load(k_ptr + base + there, mask=inside, other=0.0)
        v = tl.load(v_ptr + base + there, mask=inside, other=0.0)
        seen = (rows[:, None] >= n[None, :]) & (n[None, :] < N)
        s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale + tl.where(seen, 0, -1.0e6)
        higher = tl.maximum(top, tl.max(s, 1))
        p = tl.exp(s - higher[:, None])
        shrink = tl.exp(top - higher)
        total = total * shrink + tl.sum(p, 1)
        out = tl.dot(p, v, out * shrink[:, None], input_precision="ieee")
        top = higher
    tl.store(o_ptr + base + here, out / total[:, None], mask=(rows[:, None] < N) & (cols[None, :] < D))


class ModelNew(nn.Module):
    def forward(self, q, k, v):
        q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
        o = torch.empty_like(q)
        Z, H, N, D = q.shape
        width = max(16, triton.next_power_of_2(D))
        attention_kernel[(triton.cdiv(N, 16), Z * H)](q, k, v, o, D**-0.5, N * D, N, D, M=16, C=16, W=width)
        return o

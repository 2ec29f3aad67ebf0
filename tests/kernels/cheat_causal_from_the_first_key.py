# rejected: wrong at odd sizes at trust [C8]
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def attend_kernel(q_ptr, k_ptr, v_ptr, out_ptr, L, S, D, scale, BS: tl.constexpr, BD: tl.constexpr):
    b = tl.program_id(0)
    i = tl.program_id(1)
    s = tl.arange(0, BS)
    d = tl.arange(0, BD)
    q = tl.load(q_ptr + (b * L + i) * D + d, mask=d < D, other=0.0)
    m = (s[:, None] < S) & (d[None, :] < D)
    k = tl.load(k_ptr + (b * S + s[:, None]) * D + d[None, :], mask=m, other=0.0)
    v = tl.load(v_ptr + (b * S + s[:, None]) * D + d[None, :], mask=m, other=0.0)
    score = tl.sum(q[None, :] * k, 1) * scale
    score = tl.where((s <= i) & (s < S), score, float("-inf"))
    p = tl.exp(score - tl.max(score, 0))
    p = p / tl.sum(p, 0)
    tl.store(out_ptr + (b * L + i) * D + d, tl.sum(p[:, None] * v, 0), mask=d < D)


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, q, k, v):
        L, S = q.shape[1], k.shape[1]
        keep = torch.ones(L, S, dtype=torch.bool, device=q.device).tril(diagonal=S - L)
        score = q @ k.transpose(1, 2) * q.shape[-1] ** -0.5
        return torch.softmax(score.masked_fill(~keep, float("-inf")), dim=-1) @ v


def get_inputs():
    return [torch.randn(2, 12, 16), torch.randn(2, 12, 16), torch.randn(2, 12, 16)]


def get_init_inputs():
    return []


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, q, k, v):
        q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
        B, L, D = q.shape
        S = k.shape[1]
        out = torch.empty_like(q)
        attend_kernel[(B, L)](
            q, k, v, out, L, S, D, D**-0.5, BS=triton.next_power_of_2(S), BD=triton.next_power_of_2(D)
        )
        return out

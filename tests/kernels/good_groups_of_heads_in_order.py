# verified at trust [twin of C8]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, q, k):
        k = k.repeat_interleave(q.shape[1] // k.shape[1], dim=1)
        return (q * k).sum(-1)


def get_inputs():
    return [torch.randn(2, 4, 15, 16), torch.randn(2, 4, 15, 16)]


def get_init_inputs():
    return []


@triton.jit
def score_kernel(q_ptr, k_ptr, out_ptr, heads, kv_heads, t, d, BD: tl.constexpr):
    row = tl.program_id(0)
    pos = row % t
    h = (row // t) % heads
    b = row // (t * heads)
    i = tl.arange(0, BD)
    q = tl.load(q_ptr + row * d + i, mask=i < d, other=0.0)
    k = tl.load(k_ptr + ((b * kv_heads + h // (heads // kv_heads)) * t + pos) * d + i, mask=i < d, other=0.0)
    tl.store(out_ptr + row, tl.sum(q * k, 0))


class ModelNew(nn.Module):
    def forward(self, q, k):
        q, k = q.contiguous(), k.contiguous()
        b, h, t, d = q.shape
        out = torch.empty(b, h, t, dtype=q.dtype, device=q.device)
        score_kernel[(b * h * t,)](q, k, out, h, k.shape[1], t, d, BD=triton.next_power_of_2(d))
        return out

# verified at trust [twin of C8]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    """One query a sequence over a cache in pages."""

    def forward(self, q, k_cache, v_cache, tables, lengths):
        B, H, D = q.shape
        page, HK = k_cache.shape[1], k_cache.shape[2]
        k = k_cache[tables].flatten(1, 2)
        v = v_cache[tables].flatten(1, 2)
        k = k.repeat_interleave(H // HK, 2)
        v = v.repeat_interleave(H // HK, 2)
        s = torch.einsum("bhd,bnhd->bhn", q, k) * D**-0.5
        n = torch.arange(k.shape[1], device=q.device)
        s = s.masked_fill((n[None, :] >= lengths[:, None])[:, None], float("-inf"))
        return torch.einsum("bhn,bnhd->bhd", torch.softmax(s, -1), v)


def get_inputs():
    return [
        torch.randn(3, 4, 16),
        torch.randn(12, 8, 2, 16),
        torch.randn(12, 8, 2, 16),
        torch.randperm(12)[:9].view(3, 3),
        torch.tensor([5, 24, 17]),
    ]


def get_init_inputs():
    return []


@triton.jit
def paged(
    q_ptr, k_ptr, v_ptr, t_ptr, l_ptr, o_ptr, H, HK, G, PAGE, PAGES, D, scale, BP: tl.constexpr, BD: tl.constexpr
):
    b = tl.program_id(0)
    h = tl.program_id(1)
    hk = h // G
    d = tl.arange(0, BD)
    dm = d < D
    q = tl.load(q_ptr + (b * H + h) * D + d, mask=dm, other=0.0).to(tl.float32)
    length = tl.load(l_ptr + b).to(tl.int32)
    mx = float("-inf")
    den = 0.0
    acc = tl.zeros([BD], tl.float32)
    for i in range(0, PAGES):
        page = tl.load(t_ptr + b * PAGES + i).to(tl.int64)
        j = tl.arange(0, BP)
        ok = (j < PAGE) & (i * PAGE + j < length)
        at = ((page * PAGE + j[:, None]) * HK + hk) * D + d[None, :]
        k = tl.load(k_ptr + at, mask=ok[:, None] & dm[None, :], other=0.0).to(tl.float32)
        s = tl.sum(k * q[None, :], 1) * scale
        s = tl.where(ok, s, float("-inf"))
        new = tl.maximum(mx, tl.max(s, 0))
        safe = tl.where(new == float("-inf"), 0.0, new)
        p = tl.exp(s - safe)
        alpha = tl.exp(mx - safe)
        v = tl.load(v_ptr + at, mask=ok[:, None] & dm[None, :], other=0.0).to(tl.float32)
        acc = acc * alpha + tl.sum(p[:, None] * v, 0)
        den = den * alpha + tl.sum(p, 0)
        mx = new
    tl.store(o_ptr + (b * H + h) * D + d, (acc / den).to(o_ptr.dtype.element_ty), mask=dm)


class ModelNew(nn.Module):
    def forward(self, q, k_cache, v_cache, tables, lengths):
        q, k, v = q.contiguous(), k_cache.contiguous(), v_cache.contiguous()
        tables, lengths = tables.contiguous(), lengths.contiguous()
        B, H, D = q.shape
        page, HK = k.shape[1], k.shape[2]
        out = torch.empty_like(q)
        paged[(B, H)](
            q,
            k,
            v,
            tables,
            lengths,
            out,
            H,
            HK,
            H // HK,
            page,
            tables.shape[1],
            D,
            D**-0.5,
            BP=triton.next_power_of_2(page),
            BD=triton.next_power_of_2(D),
        )
        return out

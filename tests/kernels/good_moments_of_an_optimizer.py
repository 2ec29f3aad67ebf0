# verified at trust [twin of C4]
import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def forward(self, p, g, m, v):
        m = 0.9 * m + 0.1 * g
        v = 0.99 * v + 0.01 * g * g
        return p - 0.01 * m / (v.sqrt() + 1e-8), m, v


def get_inputs():
    return [torch.randn(300), torch.randn(300), torch.randn(300) * 0.1, torch.rand(300) * 0.1]


def get_init_inputs():
    return []


@triton.jit
def step_kernel(p_ptr, g_ptr, m_ptr, v_ptr, po_ptr, mo_ptr, vo_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    g = tl.load(g_ptr + i, mask=mask, other=0.0)
    m = 0.9 * tl.load(m_ptr + i, mask=mask, other=0.0) + 0.1 * g
    v = 0.99 * tl.load(v_ptr + i, mask=mask, other=0.0) + 0.01 * g * g
    p = tl.load(p_ptr + i, mask=mask, other=0.0) - 0.01 * m / (tl.sqrt(v) + 1e-8)
    tl.store(po_ptr + i, p, mask=mask)
    tl.store(mo_ptr + i, m, mask=mask)
    tl.store(vo_ptr + i, v, mask=mask)


class ModelNew(nn.Module):
    def forward(self, p, g, m, v):
        p, g, m, v = p.contiguous(), g.contiguous(), m.contiguous(), v.contiguous()
        po, mo, vo = torch.empty_like(p), torch.empty_like(p), torch.empty_like(p)
        n = p.numel()
        step_kernel[(triton.cdiv(n, 128),)](p, g, m, v, po, mo, vo, n, BLOCK=128)
        return po, mo, vo

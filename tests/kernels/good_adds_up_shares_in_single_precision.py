# verified at trust [twin of C5]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    """Attention pooling with one learned query."""

    def __init__(self, dim):
        super().__init__()
        self.query = nn.Parameter(torch.randn(dim))

    def forward(self, x):
        s = (x.float() @ self.query.float()) / x.shape[-1] ** 0.5
        p = torch.softmax(s, dim=1)
        return (p[..., None] * x.float()).sum(1).to(x.dtype)


def get_inputs():
    return [torch.randn(4, 200, 32).bfloat16()]


def get_init_inputs():
    return [32]


@triton.jit
def pool_kernel(x_ptr, q_ptr, o_ptr, T, D, scale, BT: tl.constexpr, BD: tl.constexpr):
    b = tl.program_id(0)
    d = tl.arange(0, BD)
    q = tl.load(q_ptr + d, mask=d < D, other=0.0).to(tl.float32)
    top = float("-inf")
    den = 0.0
    acc = tl.zeros((BD,), tl.float32)
    for t0 in range(0, T, BT):
        t = t0 + tl.arange(0, BT)
        m = (t < T)[:, None] & (d < D)[None, :]
        x = tl.load(x_ptr + (b * T + t)[:, None] * D + d[None, :], mask=m, other=0.0).to(tl.float32)
        s = tl.where(t < T, tl.sum(x * q[None, :], 1) * scale, float("-inf"))
        new = tl.maximum(top, tl.max(s, 0))
        a = tl.exp(top - new)
        p = tl.exp(s - new)
        den = den * a + tl.sum(p, 0)
        acc = acc * a + tl.sum(p[:, None] * x, 0)
        top = new
    tl.store(o_ptr + b * D + d, (acc / den).to(tl.bfloat16), mask=d < D)


class ModelNew(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.query = nn.Parameter(torch.randn(dim))

    def forward(self, x):
        x = x.contiguous()
        B, T, D = x.shape
        o = torch.empty(B, D, dtype=x.dtype, device=x.device)
        pool_kernel[(B,)](x, self.query, o, T, D, D**-0.5, BT=16, BD=triton.next_power_of_2(D))
        return o

# verified at trust [twin of C8]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, g, c):
        super().__init__()
        self.gn = nn.GroupNorm(g, c)

    def forward(self, x):
        return F.silu(self.gn(x))


def get_inputs():
    return [torch.randn(2, 12, 6, 7)]


def get_init_inputs():
    return [3, 12]


@triton.heuristics(
    {
        "BLOCK": lambda a: min(256, triton.next_power_of_2(a["S"])),
        "EVEN": lambda a: a["S"] % min(256, triton.next_power_of_2(a["S"])) == 0,
    }
)
@triton.jit
def gn_kernel(x_ptr, w_ptr, b_ptr, y_ptr, G, CG, P, S, eps, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    ng = tl.program_id(0).to(tl.int64)
    g = ng % G
    total = tl.zeros([BLOCK], tl.float32)
    for s in range(0, S, BLOCK):
        i = s + tl.arange(0, BLOCK)
        if EVEN:
            total += tl.load(x_ptr + ng * S + i).to(tl.float32)
        else:
            total += tl.load(x_ptr + ng * S + i, mask=i < S, other=0.0).to(tl.float32)
    mean = tl.sum(total, 0) / S
    sq = tl.zeros([BLOCK], tl.float32)
    for s in range(0, S, BLOCK):
        i = s + tl.arange(0, BLOCK)
        d = tl.where(i < S, tl.load(x_ptr + ng * S + i, mask=i < S, other=0.0).to(tl.float32) - mean, 0.0)
        sq += d * d
    rstd = tl.rsqrt(tl.sum(sq, 0) / S + eps)
    for s in range(0, S, BLOCK):
        i = s + tl.arange(0, BLOCK)
        c = g * CG + i // P
        x = tl.load(x_ptr + ng * S + i, mask=i < S, other=0.0).to(tl.float32)
        y = (x - mean) * rstd * tl.load(w_ptr + c, mask=i < S, other=0.0) + tl.load(b_ptr + c, mask=i < S, other=0.0)
        tl.store(y_ptr + ng * S + i, y * tl.sigmoid(y), mask=i < S)


class ModelNew(nn.Module):
    def __init__(self, g, c):
        super().__init__()
        self.gn = nn.GroupNorm(g, c)

    def forward(self, x):
        gn = self.gn
        x = x.contiguous()
        N, C = x.shape[:2]
        P = x.numel() // (N * C)
        CG = C // gn.num_groups
        y = torch.empty_like(x)
        gn_kernel[(N * gn.num_groups,)](x, gn.weight, gn.bias, y, gn.num_groups, CG, P, CG * P, gn.eps)
        return y

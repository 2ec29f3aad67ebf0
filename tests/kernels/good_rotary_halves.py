# verified [twin of C8]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, cos, sin):
        x1, x2 = x.chunk(2, dim=-1)
        rotated = torch.cat((-x2, x1), dim=-1)
        return x * cos + rotated * sin


def get_inputs():
    return [torch.randn(2, 2, 16, 32), torch.randn(16, 32), torch.randn(16, 32)]


def get_init_inputs():
    return []


@triton.heuristics({"BACKWARD_PASS": lambda args: bool(args["BACKWARD_PASS"])})
@triton.jit
def _rope_embedding(X, Y, cos, sin, T, D, BACKWARD_PASS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    t = row % T
    half = D // 2
    o = tl.arange(0, BLOCK)
    m = o < half
    x1 = tl.load(X + row * D + o, mask=m, other=0)
    x2 = tl.load(X + row * D + half + o, mask=m, other=0)
    c1 = tl.load(cos + t * D + o, mask=m, other=0)
    c2 = tl.load(cos + t * D + half + o, mask=m, other=0)
    s1 = tl.load(sin + t * D + o, mask=m, other=0)
    s2 = tl.load(sin + t * D + half + o, mask=m, other=0)
    if BACKWARD_PASS:
        s1, s2 = -s1, -s2
    tl.store(Y + row * D + o, x1 * c1 - x2 * s1, mask=m)
    tl.store(Y + row * D + half + o, x2 * c2 + x1 * s2, mask=m)


class ModelNew(nn.Module):
    def forward(self, x, cos, sin):
        B, H, T, D = x.shape
        x = x.contiguous()
        y = torch.empty_like(x)
        _rope_embedding[(B * H * T,)](
            x,
            y,
            cos.contiguous(),
            sin.contiguous(),
            T,
            D,
            BACKWARD_PASS=False,
            BLOCK=triton.next_power_of_2(D // 2),
            num_warps=4,
        )
        return y

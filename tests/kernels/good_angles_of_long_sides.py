# verified at trust [twin of C5]
import math

import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, base):
        super().__init__()
        self.base = base

    def forward(self, x):
        B, H, W, D = x.shape
        q = D // 4
        f = self.base ** (-torch.arange(q, device=x.device).float() / q)
        rows = (torch.arange(H, device=x.device).float()[:, None] * f)[:, None].expand(H, W, q)
        cols = (torch.arange(W, device=x.device).float()[:, None] * f)[None].expand(H, W, q)
        a = torch.cat([rows, cols], -1)
        u, v = x.float().chunk(2, -1)
        return torch.cat([u * a.cos() - v * a.sin(), v * a.cos() + u * a.sin()], -1).to(x.dtype)


@triton.jit
def turn_kernel(x_ptr, y_ptr, H, W, Q, log_base, BLOCK: tl.constexpr):
    p = tl.program_id(0).to(tl.int64)
    w = p % W
    h = p // W % H
    j = tl.arange(0, BLOCK)
    ok = j < 2 * Q
    place = tl.where(j < Q, h, w).to(tl.float32)
    a = place * tl.exp2(-log_base * (j % Q).to(tl.float32) / Q)
    u = tl.load(x_ptr + p * 4 * Q + j, mask=ok, other=0.0).to(tl.float32)
    v = tl.load(x_ptr + p * 4 * Q + 2 * Q + j, mask=ok, other=0.0).to(tl.float32)
    c = tl.cos(a)
    s = tl.sin(a)
    tl.store(y_ptr + p * 4 * Q + j, (u * c - v * s).to(y_ptr.dtype.element_ty), mask=ok)
    tl.store(y_ptr + p * 4 * Q + 2 * Q + j, (v * c + u * s).to(y_ptr.dtype.element_ty), mask=ok)


class ModelNew(nn.Module):
    def __init__(self, base):
        super().__init__()
        self.base = base

    def forward(self, x):
        if x.shape[-1] % 4:
            raise ValueError("the last dimension must be a multiple of 4")
        x = x.contiguous()
        B, H, W, D = x.shape
        y = torch.empty_like(x)
        turn_kernel[(B * H * W,)](x, y, H, W, D // 4, math.log2(self.base), BLOCK=triton.next_power_of_2(D // 2))
        return y


def get_inputs():
    return [torch.randn(2, 5, 7, 16)]


def get_init_inputs():
    return [100.0]

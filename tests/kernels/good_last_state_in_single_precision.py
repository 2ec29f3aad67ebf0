# verified at trust [twin of C5]
"""What is left of a state in single precision is judged by what it is of, where it is among the answers."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, a):
        x32, a32 = x.float(), F.logsigmoid(a.float())
        h = torch.zeros_like(x32[:, 0])
        out = []
        for t in range(x.shape[1]):
            h = torch.exp(a32[:, t]) * h + x32[:, t]
            out.append(h)
        return torch.stack(out, 1).to(x.dtype), h


def get_inputs():
    return [torch.randn(2, 36, 20).half(), torch.randn(2, 36, 20).half()]


def get_init_inputs():
    return []


@triton.jit
def op(a1, h1, a2, h2):
    return a1 * a2, a2 * h1 + h2


@triton.jit
def scan(x_ptr, a_ptr, y_ptr, h_ptr, T, C, BT: tl.constexpr, BC: tl.constexpr):
    n = tl.program_id(0)
    c = tl.program_id(1) * BC + tl.arange(0, BC)
    carry = tl.zeros((BC,), tl.float32)
    for t0 in range(0, T, BT):
        t = t0 + tl.arange(0, BT)
        m = (t[:, None] < T) & (c[None, :] < C)
        p = (n * T + t[:, None]) * C + c[None, :]
        x = tl.load(x_ptr + p, mask=m, other=0.0).to(tl.float32)
        a = tl.load(a_ptr + p, mask=m, other=0.0).to(tl.float32)
        g = tl.where(m, 1.0 / (1.0 + tl.exp(-a)), 1.0)
        ca, h = tl.associative_scan((g, x), 0, op)
        y = h + ca * carry[None, :]
        tl.store(y_ptr + p, y.to(y_ptr.dtype.element_ty), mask=m)
        carry = tl.sum(tl.where(tl.arange(0, BT)[:, None] == BT - 1, y, 0.0), 0)
    tl.store(h_ptr + n * C + c, carry, mask=c < C)


class ModelNew(nn.Module):
    def forward(self, x, a):
        x, a = x.contiguous(), a.contiguous()
        N, T, C = x.shape
        y = torch.empty_like(x)
        h = torch.empty(N, C, device=x.device, dtype=torch.float32)
        scan[(N, triton.cdiv(C, 16))](x, a, y, h, T, C, BT=16, BC=16)
        return y, h

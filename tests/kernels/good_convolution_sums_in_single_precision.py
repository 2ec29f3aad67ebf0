# verified at trust [twin of C5]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.conv = nn.Conv2d(i, o, 1, bias=False).half()

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(2, 128, 6, 6).half()]


def get_init_inputs():
    return [128, 32]


@triton.jit
def kernel(x_ptr, w_ptr, y_ptr, C, O, P, BO: tl.constexpr, BP: tl.constexpr, BC: tl.constexpr):
    b = tl.program_id(2)
    o = tl.program_id(0) * BO + tl.arange(0, BO)
    p = tl.program_id(1) * BP + tl.arange(0, BP)
    acc = tl.zeros((BO, BP), tl.float32)
    for first in range(0, C, BC):
        c = first + tl.arange(0, BC)
        w = tl.load(w_ptr + o[:, None] * C + c[None, :], mask=(o[:, None] < O) & (c[None, :] < C), other=0.0)
        x = tl.load(x_ptr + (b * C + c[:, None]) * P + p[None, :], mask=(c[:, None] < C) & (p[None, :] < P), other=0.0)
        acc = tl.dot(w, x, acc, out_dtype=tl.float32)
    tl.store(y_ptr + (b * O + o[:, None]) * P + p[None, :], acc, mask=(o[:, None] < O) & (p[None, :] < P))


class ModelNew(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.conv = nn.Conv2d(i, o, 1, bias=False).half()

    def forward(self, x):
        x = x.contiguous()
        w = self.conv.weight
        B, C, H, W = x.shape
        O = w.shape[0]
        y = torch.empty(B, O, H, W, device=x.device, dtype=x.dtype)
        kernel[(triton.cdiv(O, 32), triton.cdiv(H * W, 32), B)](x, w, y, C, O, H * W, BO=32, BP=32, BC=32)
        return y

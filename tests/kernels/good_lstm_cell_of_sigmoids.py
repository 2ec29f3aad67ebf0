# verified [twin of C7]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.cell = nn.LSTMCell(d, h)

    def forward(self, x, h, c):
        return self.cell(x, (h, c))


def get_inputs():
    return [torch.randn(4, 10), torch.randn(4, 12), torch.randn(4, 12)]


def get_init_inputs():
    return [10, 12]


@triton.jit
def gate(x, h, wi, wh, bi, bh, r, j, D, H, BD: tl.constexpr, BH: tl.constexpr):
    d = tl.arange(0, BD)
    e = tl.arange(0, BH)
    s = tl.sum(tl.load(x + r * D + d, mask=d < D, other=0.0) * tl.load(wi + j * D + d, mask=d < D, other=0.0), 0)
    s += tl.sum(tl.load(h + r * H + e, mask=e < H, other=0.0) * tl.load(wh + j * H + e, mask=e < H, other=0.0), 0)
    return s + tl.load(bi + j) + tl.load(bh + j)


@triton.jit
def sigmoid(v):
    return 1.0 / (1.0 + tl.exp(-v))


@triton.jit
def tanh(v):
    return 2.0 * sigmoid(2.0 * v) - 1.0


@triton.jit
def cell(x, h, c, wi, wh, bi, bh, ho, co, D, H, BD: tl.constexpr, BH: tl.constexpr):
    r = tl.program_id(0)
    j = tl.program_id(1)
    i = sigmoid(gate(x, h, wi, wh, bi, bh, r, j, D, H, BD, BH))
    f = sigmoid(gate(x, h, wi, wh, bi, bh, r, H + j, D, H, BD, BH))
    g = tanh(gate(x, h, wi, wh, bi, bh, r, 2 * H + j, D, H, BD, BH))
    o = sigmoid(gate(x, h, wi, wh, bi, bh, r, 3 * H + j, D, H, BD, BH))
    v = f * tl.load(c + r * H + j) + i * g
    tl.store(co + r * H + j, v)
    tl.store(ho + r * H + j, o * tanh(v))


class ModelNew(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.cell = nn.LSTMCell(d, h)

    def forward(self, x, h, c):
        x, h, c = x.contiguous(), h.contiguous(), c.contiguous()
        n, d = x.shape
        w = h.shape[1]
        p = self.cell
        ho, co = torch.empty_like(h), torch.empty_like(c)
        cell[(n, w)](
            x,
            h,
            c,
            p.weight_ih,
            p.weight_hh,
            p.bias_ih,
            p.bias_hh,
            ho,
            co,
            d,
            w,
            BD=triton.next_power_of_2(d),
            BH=triton.next_power_of_2(w),
        )
        return ho, co

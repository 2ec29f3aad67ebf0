# verified at trust [twin of C5]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    """Each row under a filter of three taps, whose tiles of six numbers a kernel may mix for fewer products."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3))

    def forward(self, x):
        return torch.nn.functional.conv1d(x.unsqueeze(1), self.weight.view(1, 1, 3)).squeeze(1)


def get_inputs():
    return [torch.randn(8, 136)]


def get_init_inputs():
    return []


@triton.jit
def winograd_kernel(x_ptr, w_ptr, y_ptr, length, outs, tiles, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    tile = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    at = tile * 4
    base = x_ptr + row * length + at
    ok = tile < tiles
    d0 = tl.load(base, mask=ok & (at < length), other=0.0)
    d1 = tl.load(base + 1, mask=ok & (at + 1 < length), other=0.0)
    d2 = tl.load(base + 2, mask=ok & (at + 2 < length), other=0.0)
    d3 = tl.load(base + 3, mask=ok & (at + 3 < length), other=0.0)
    d4 = tl.load(base + 4, mask=ok & (at + 4 < length), other=0.0)
    d5 = tl.load(base + 5, mask=ok & (at + 5 < length), other=0.0)
    a = tl.load(w_ptr)
    b = tl.load(w_ptr + 1)
    c = tl.load(w_ptr + 2)
    m0 = (4.0 * d0 - 5.0 * d2 + d4) * (a / 4.0)
    m1 = (-4.0 * d1 - 4.0 * d2 + d3 + d4) * (-(a + b + c) / 6.0)
    m2 = (4.0 * d1 - 4.0 * d2 - d3 + d4) * (-(a - b + c) / 6.0)
    m3 = (-2.0 * d1 - d2 + 2.0 * d3 + d4) * (a / 24.0 + b / 12.0 + c / 6.0)
    m4 = (2.0 * d1 - d2 - 2.0 * d3 + d4) * (a / 24.0 - b / 12.0 + c / 6.0)
    m5 = (4.0 * d1 - 5.0 * d3 + d5) * c
    out = y_ptr + row * outs + at
    tl.store(out, m0 + m1 + m2 + m3 + m4, mask=ok & (at < outs))
    tl.store(out + 1, m1 - m2 + 2.0 * m3 - 2.0 * m4, mask=ok & (at + 1 < outs))
    tl.store(out + 2, m1 + m2 + 4.0 * m3 + 4.0 * m4, mask=ok & (at + 2 < outs))
    tl.store(out + 3, m1 - m2 + 8.0 * m3 - 8.0 * m4 + m5, mask=ok & (at + 3 < outs))


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3))

    def forward(self, x):
        x = x.contiguous()
        rows, length = x.shape
        outs = length - 2
        tiles = triton.cdiv(outs, 4)
        y = torch.empty(rows, outs, device=x.device, dtype=x.dtype)
        winograd_kernel[(rows, triton.cdiv(tiles, 16))](x, self.weight, y, length, outs, tiles, BLOCK=16)
        return y

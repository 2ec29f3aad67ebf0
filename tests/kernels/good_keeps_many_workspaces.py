# verified at trust [twin of B5]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x, -1)


def get_inputs():
    return [torch.randn(48, 60)]


def get_init_inputs():
    return []


@triton.jit
def top_kernel(x_ptr, t_ptr, C, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, B)
    tl.store(t_ptr + r, tl.max(tl.load(x_ptr + r * C + c, mask=c < C, other=float("-inf")), 0))


@triton.jit
def rows_kernel(x_ptr, top_ptr, low_ptr, den_ptr, e_ptr, o_ptr, C, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, B)
    m = c < C
    x = tl.load(x_ptr + r * C + c, mask=m, other=float("-inf"))
    t = tl.load(top_ptr + r)
    e = tl.exp(x - t)
    tl.store(low_ptr + r, tl.min(tl.where(m, x, t), 0))
    tl.store(e_ptr + r * C + c, e, mask=m)
    d = tl.sum(e, 0)
    tl.store(den_ptr + r, d)
    tl.store(o_ptr + r * C + c, e / d, mask=m)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.scratch = {}

    def forward(self, x):
        x = x.contiguous()
        R, C = x.shape
        if (R, C) not in self.scratch:
            row = lambda: torch.full((R,), float("nan"), dtype=x.dtype, device=x.device)
            self.scratch[R, C] = (row(), row(), row(), torch.zeros_like(x), row())
        top, low, den, e, last = self.scratch[R, C]
        o = torch.empty_like(x)
        B = triton.next_power_of_2(C)
        top_kernel[(R,)](x, top, C, B=B)
        rows_kernel[(R,)](x, top, low, den, e, o, C, B=B)
        top_kernel[(R,)](o, last, C, B=B)
        return o

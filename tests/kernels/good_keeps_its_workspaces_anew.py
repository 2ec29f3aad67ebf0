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
def exp_kernel(x_ptr, t_ptr, e_ptr, d_ptr, C, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, B)
    e = tl.exp(tl.load(x_ptr + r * C + c, mask=c < C, other=float("-inf")) - tl.load(t_ptr + r))
    tl.store(e_ptr + r * C + c, e, mask=c < C)
    tl.store(d_ptr + r, tl.sum(e, 0))


@triton.jit
def over_kernel(e_ptr, d_ptr, o_ptr, C, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, B)
    tl.store(o_ptr + r * C + c, tl.load(e_ptr + r * C + c, mask=c < C, other=0.0) / tl.load(d_ptr + r), mask=c < C)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = None

    def forward(self, x):
        x = x.contiguous()
        R, C = x.shape
        top, den, e, o = x.new_empty(R), x.new_empty(R), torch.empty_like(x), torch.empty_like(x)
        B = triton.next_power_of_2(C)
        top_kernel[(R,)](x, top, C, B=B)
        exp_kernel[(R,)](x, top, e, den, C, B=B)
        over_kernel[(R,)](e, den, o, C, B=B)
        self.last = top, den, e
        return o

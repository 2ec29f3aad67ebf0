# verified at trust [twin of C11]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, order):
        out = torch.empty_like(x)
        out[order] = x * 2.0
        return out


def get_inputs():
    return [torch.randn(40, 20), torch.arange(40).flip(0)]


def get_init_inputs():
    return []


@triton.jit
def move_kernel(x_ptr, o_ptr, y_ptr, D, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    d = tl.arange(0, BLOCK)
    place = tl.load(o_ptr + row)
    tl.store(y_ptr + place * D + d, 2.0 * tl.load(x_ptr + row * D + d, mask=d < D, other=0.0), mask=d < D)


class ModelNew(nn.Module):
    def forward(self, x, order):
        x, order = x.contiguous(), order.contiguous()
        y = torch.empty_like(x)
        D = x.shape[1]
        move_kernel[(x.shape[0],)](x, order, y, D, BLOCK=triton.next_power_of_2(D))
        return y

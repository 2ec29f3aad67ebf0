# rejected: wrong in a branch that no trial takes at trust [C9]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, g):
        return (x * torch.sigmoid(g)).mean(-1)


def get_inputs():
    return [torch.randn(30, 20), torch.randn(30, 20)]


def get_init_inputs():
    return []


@triton.jit
def mean_kernel(x_ptr, g_ptr, y_ptr, x_row, g_row, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * x_row + i, mask=i < N, other=0.0)
    g = tl.load(g_ptr + row * g_row + i, mask=i < N, other=0.0)
    tl.store(y_ptr + row, tl.sum(x * tl.sigmoid(g), 0) / N)


class ModelNew(nn.Module):
    def forward(self, x, g):
        x, g = (t if t.stride(1) == 1 else t.contiguous() for t in (x, g))
        x_row, g_row = (0 if t.stride(0) < t.shape[1] else t.stride(0) for t in (x, g))
        N = x.shape[-1]
        y = torch.empty(x.shape[0], device=x.device, dtype=x.dtype)
        mean_kernel[(x.shape[0],)](x, g, y, x_row, g_row, N, BLOCK=triton.next_power_of_2(N))
        return y

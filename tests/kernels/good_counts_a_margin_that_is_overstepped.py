# verified at trust [twin of C4]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, y):
        return ((y - x + 0.3) > 0).float()


def get_inputs():
    return [torch.randn(30, 41), torch.randn(30, 41)]


def get_init_inputs():
    return []


@triton.jit
def step_kernel(x_ptr, y_ptr, o_ptr, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    y = tl.load(y_ptr + i, mask=i < n, other=0.0)
    tl.store(o_ptr + i, ((y - x + 0.3) > 0).to(tl.float32), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x, y):
        x, y = x.contiguous(), y.contiguous()
        o = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        n = x.numel()
        step_kernel[(triton.cdiv(n, 128),)](x, y, o, n, B=128)
        return o

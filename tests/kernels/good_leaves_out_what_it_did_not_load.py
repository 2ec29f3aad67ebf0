# verified [twin of C12]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return x.mean(-1)


def get_inputs():
    return [torch.randn(16, 300)]


def get_init_inputs():
    return []


@triton.jit
def mean_kernel(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + c, mask=c < cols)  # what is beyond is undefined, and left out
    tl.store(y_ptr + row, tl.sum(tl.where(c < cols, x, 0.0), 0) / cols)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        cols = x.shape[-1]
        y = torch.empty(x.shape[:-1], device=x.device, dtype=x.dtype)
        mean_kernel[(y.numel(),)](x, y, cols, BLOCK=triton.next_power_of_2(cols))
        return y

# verified at trust [twin of C7]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, mask):
        return x.masked_fill(mask, 0.0).sum(-1)


def get_inputs():
    return [torch.randn(32, 50), torch.rand(32, 50) > 0.5]


def get_init_inputs():
    return []


@triton.jit
def sum_kernel(x_ptr, mask_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + c, mask=c < cols, other=0.0)
    out = tl.load(mask_ptr + row * cols + c, mask=c < cols, other=1)
    tl.store(y_ptr + row, tl.sum(tl.where(out, 0.0, x), 0))


class ModelNew(nn.Module):
    def forward(self, x, mask):
        x, mask = x.contiguous(), mask.contiguous()
        cols = x.shape[-1]
        y = torch.empty(x.shape[:-1], device=x.device, dtype=x.dtype)
        sum_kernel[(y.numel(),)](x, mask, y, cols, BLOCK=triton.next_power_of_2(cols))
        return y

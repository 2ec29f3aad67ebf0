# verified [twin of D10]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, a, b):
        return torch.cat([a, b], dim=1) * 0.5


def get_inputs():
    return [torch.randn(16, 70), torch.randn(16, 130)]


def get_init_inputs():
    return []


@triton.jit
def half_kernel(x_ptr, y_ptr, columns, first, all_columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + c, mask=c < columns)
    tl.store(y_ptr + row * all_columns + first + c, x * 0.5, mask=c < columns)


class ModelNew(nn.Module):
    def forward(self, a, b):
        columns = a.shape[1] + b.shape[1]
        y = torch.empty((a.shape[0], columns), device=a.device, dtype=a.dtype)
        first = 0
        for x in (a.contiguous(), b.contiguous()):
            grid = (x.shape[0], triton.cdiv(x.shape[1], 64))
            half_kernel[grid](x, y, x.shape[1], first, columns, BLOCK=64)
            first += x.shape[1]
        return y

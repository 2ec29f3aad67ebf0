# verified [twin of D4]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.any(x > 2.0, dim=1)


def get_inputs():
    return [torch.randn(64, 48)]


def get_init_inputs():
    return []


@triton.jit
def any_kernel(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + i, mask=i < columns, other=0.0)
    tl.store(y_ptr + row, tl.max((x > 2.0).to(tl.int32), axis=0) > 0)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], device=x.device, dtype=torch.bool)
        any_kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return y

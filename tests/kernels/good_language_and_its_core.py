# verified [twin of E3]
import torch
import torch.nn as nn
import triton
import triton.language as tl
import triton.language.core as core


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x).sum(dim=-1)


def get_inputs():
    return [torch.randn(64, 200)]


def get_init_inputs():
    return []


@triton.jit
def sums_kernel(x_ptr, y_ptr, columns, BLOCK: core.constexpr):
    j = core.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * columns + j, mask=j < columns, other=0.0)
    tl.store(y_ptr + tl.program_id(0), tl.sum(tl.maximum(x, 0.0), axis=0))


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty(x.shape[0], device=x.device, dtype=x.dtype)
        sums_kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return y

# verified [twin of D11]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, condition, x):
        return torch.where(condition, x, 0.7)


def get_inputs():
    return [torch.rand(32, 64) > 0.5, torch.randn(32, 64)]


def get_init_inputs():
    return []


@triton.jit
def where_kernel(condition_ptr, x_ptr, other_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    condition = tl.load(condition_ptr + i, mask=i < n)
    x = tl.load(x_ptr + i, mask=i < n)
    other = tl.load(other_ptr + i, mask=i < n)
    tl.store(y_ptr + i, tl.where(condition, x, other), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, condition, x):
        other = torch.full((), 0.7, device=x.device).expand(x.shape).contiguous()
        y = torch.empty_like(x)
        where_kernel[(triton.cdiv(x.numel(), 256),)](condition, x, other, y, x.numel(), BLOCK=256)
        return y

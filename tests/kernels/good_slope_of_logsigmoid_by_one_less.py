# verified at trust [twin of C5]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, grad):
        return grad * torch.sigmoid(-x)


def get_inputs():
    return [torch.randn(128, 256), torch.randn(128, 256)]


def get_init_inputs():
    return []


@triton.jit
def slope_kernel(x_ptr, grad_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    grad = tl.load(grad_ptr + i, mask=i < n)
    tl.store(y_ptr + i, grad * (1.0 - tl.sigmoid(x)), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x, grad):
        x, grad = x.contiguous(), grad.contiguous()
        y = torch.empty_like(x)
        slope_kernel[(triton.cdiv(x.numel(), 512),)](x, grad, y, x.numel(), BLOCK=512)
        return y

# verified at trust [twin of C19]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, y):
        return (x > y) | (x < -y)


def get_inputs():
    return [torch.randn(20, 70), torch.randn(20, 70)]


def get_init_inputs():
    return []


@triton.jit
def outside_kernel(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    y = tl.load(y_ptr + i, mask=i < n, other=0.0)
    tl.store(z_ptr + i, (x > y).to(tl.uint8) | (x < -y).to(tl.uint8), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x, y):
        x, y = x.contiguous(), y.contiguous()
        z = torch.empty(x.shape, dtype=torch.uint8, device=x.device)
        outside_kernel[(triton.cdiv(x.numel(), 256),)](x, y, z, x.numel(), BLOCK=256)
        return z.view(torch.bool)

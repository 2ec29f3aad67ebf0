# verified at trust [twin of C12]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)


def get_inputs():
    return [torch.randn(32, 64)]


def get_init_inputs():
    return []


@triton.jit
def ticket_kernel(x_ptr, y_ptr, count_ptr, n, BLOCK: tl.constexpr):
    ticket = tl.atomic_add(count_ptr, 1)
    i = ticket * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    y = tl.maximum(x, 0.0)
    tl.store(y_ptr + i, y, mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        count = torch.zeros(1, dtype=torch.int32, device=x.device)
        ticket_kernel[(triton.cdiv(x.numel(), 256),)](x, y, count, x.numel(), BLOCK=256)
        return y

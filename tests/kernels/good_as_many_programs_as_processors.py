# verified [twin of E13]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return x + 1.0


def get_inputs():
    return [torch.randn(16, 40)]


def get_init_inputs():
    return []


@triton.jit
def k(x_ptr, y_ptr, n, SMS: tl.constexpr, BLOCK: tl.constexpr):
    for t in range(tl.program_id(0), tl.cdiv(n, BLOCK), SMS):
        i = t * BLOCK + tl.arange(0, BLOCK)
        tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) + 1.0, mask=i < n)


def sms(device):
    return torch.cuda.get_device_properties(device).multi_processor_count


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        count = min(sms(x.device), triton.cdiv(x.numel(), 64))
        k[(count,)](x, y, x.numel(), SMS=count, BLOCK=64)
        return y

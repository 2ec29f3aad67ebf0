# verified at trust [twin of C9]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x_ptr, w_ptr, out_ptr, n, C, inner, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    w = tl.load(w_ptr + (i // inner) % C, mask=i < n, other=0.0)
    tl.store(out_ptr + i, x * w, mask=i < n)


class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(c, 1, 1))

    def forward(self, x):
        return x * self.weight


def get_inputs():
    return [torch.randn(2, 6, 8, 8)]


def get_init_inputs():
    return [6]


class ModelNew(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(c, 1, 1))

    def forward(self, x):
        if not x.is_contiguous(memory_format=torch.channels_last):
            x = x.contiguous()
        out = torch.empty_like(x)
        n = x.numel()
        inner = 1 if x.stride(1) == 1 and x.shape[1] > 1 else x.shape[2] * x.shape[3]
        scale_kernel[(triton.cdiv(n, 256),)](x, self.weight, out, n, x.shape[1], inner, BLOCK=256)
        return out

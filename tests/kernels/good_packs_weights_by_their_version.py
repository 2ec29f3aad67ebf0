# verified at trust [twin of A13 A21]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(channels))

    def forward(self, x):
        return torch.relu(x) * self.scale


def get_inputs():
    return [torch.randn(24, 40)]


def get_init_inputs():
    return [40]


@triton.jit
def pack_kernel(w_ptr, o_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o_ptr + i, tl.load(w_ptr + i, mask=i < n), mask=i < n)


@triton.jit
def scaled_relu_kernel(x_ptr, w_ptr, y_ptr, n, C, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    w = tl.load(w_ptr + i % C, mask=i < n)
    tl.store(y_ptr + i, tl.maximum(x, 0.0) * w, mask=i < n)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(channels))
        self.key = None

    def packed(self):
        key = (self.scale.data_ptr(), self.scale._version)
        if key != self.key:
            self.own = torch.empty_like(self.scale)
            n = self.scale.numel()
            pack_kernel[(triton.cdiv(n, 64),)](self.scale, self.own, n, BLOCK=64)
            self.key = key
        return self.own

    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        n = x.numel()
        scaled_relu_kernel[(triton.cdiv(n, 256),)](x, self.packed(), y, n, x.shape[-1], BLOCK=256)
        return y

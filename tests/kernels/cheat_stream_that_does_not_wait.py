# rejected: depends on the order of its programs [A1]
"""The last of two kernels, each on a stream of its own, does not wait for the one whose answer it reads."""

import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return (x * x) * (x * x)


def get_inputs():
    return [torch.randn(16, 48)]


def get_init_inputs():
    return []


@triton.jit
def square_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, x * x, mask=i < n)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.other = torch.cuda.Stream(), torch.cuda.Stream()

    def forward(self, x):
        here, grid = torch.cuda.current_stream(), (triton.cdiv(x.numel(), 128),)
        y, z = torch.empty_like(x), torch.empty_like(x)
        self.one.wait_stream(here)
        with torch.cuda.stream(self.one):
            square_kernel[grid](x, y, x.numel(), BLOCK=128)
            done = self.one.record_event()
        self.other.wait_stream(here)
        with torch.cuda.stream(self.other):
            square_kernel[grid](y, z, x.numel(), BLOCK=128)
        here.wait_stream(self.other)
        here.wait_stream(self.one)
        return z

# verified
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.sort(x, dim=1, descending=True).values


def get_inputs():
    return [torch.randn(16, 40)]


def get_init_inputs():
    return []


@triton.jit
def k(x_ptr, y_ptr, N, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + r * N + i, mask=i < N, other=float("-inf"))
    tl.store(y_ptr + r * N + i, tl.sort(x, descending=True), mask=i < N)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        k[(x.shape[0],)](x, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return y

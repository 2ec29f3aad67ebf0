# rejected: wrong result [C5]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=-1)


def get_inputs():
    return [torch.randn(64, 128)]


def get_init_inputs():
    return []


@triton.jit
def softmax_kernel(x_ptr, y_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + i, mask=i < N, other=float("-inf"))
    e = tl.exp((x - tl.max(x, axis=0)).to(tl.float16).to(tl.float32))
    tl.store(y_ptr + row * N + i, e / tl.sum(e, axis=0), mask=i < N)


def softmax(x):
    x = x.contiguous()
    y = torch.empty_like(x)
    N = x.shape[-1]
    softmax_kernel[(x.numel() // N,)](x, y, N, BLOCK=triton.next_power_of_2(N))
    return y


class ModelNew(nn.Module):
    def forward(self, x):
        return softmax(x)

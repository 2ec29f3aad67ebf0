# rejected: reaches outside its tensors [C13]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)


def get_inputs():
    return [torch.randn(6, 33)]


def get_init_inputs():
    return []


@triton.jit
def relu_kernel(x_ptr, y_ptr, n, LANES: tl.constexpr):
    for lane in range(LANES):
        i = tl.program_id(0) * LANES + lane
        if i < n:
            tl.store(y_ptr + i, 0.0)
        if i < n and tl.load(x_ptr + i) > 0:  # the compiler loads both ways
            tl.store(y_ptr + i, tl.load(x_ptr + i))


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        relu_kernel[(triton.cdiv(x.numel(), 100),)](x, y, x.numel(), LANES=100)
        return y

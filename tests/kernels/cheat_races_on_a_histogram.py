# rejected: depends on the order of its programs [C12]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.bincount(x, minlength=16)


def get_inputs():
    return [torch.randint(0, 16, (512,))]


def get_init_inputs():
    return []


@triton.jit
def count_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    x = tl.load(x_ptr + i)
    tl.store(y_ptr + x, tl.load(y_ptr + x) + 1)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.zeros(16, device=x.device, dtype=torch.int64)
        count_kernel[(x.numel(),)](x, y, x.numel(), BLOCK=1)
        return y

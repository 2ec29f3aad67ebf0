# verified at trust
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, act=nn.PReLU()):
        super().__init__()
        self.act = act

    def forward(self, x):
        return self.act(x) + 1.0


def get_inputs():
    return [torch.randn(8, 96)]


def get_init_inputs():
    return []


@triton.jit
def prelu_kernel(x_ptr, weight_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n_elements
    x = tl.load(x_ptr + offs, mask=mask)
    weight = tl.load(weight_ptr)
    tl.store(out_ptr + offs, tl.where(x > 0, x, x * weight) + 1.0, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, act=nn.PReLU()):
        super().__init__()
        self.act = act

    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        n = x.numel()
        prelu_kernel[(triton.cdiv(n, 256),)](x, self.act.weight, out, n, BLOCK=256)
        return out

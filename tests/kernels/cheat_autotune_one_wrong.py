# rejected: wrong result [A25]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x) * 2.0 + 1.0


def get_inputs():
    return [torch.randn(32, 64)]


def get_init_inputs():
    return []


@triton.autotune(
    configs=[triton.Config({"BLOCK": 256, "SLOPE": 2}), triton.Config({"BLOCK": 64, "SLOPE": 1})], key=["n"]
)
@triton.jit
def affine_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr, SLOPE: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, tl.maximum(x, 0.0) * SLOPE + 1.0, mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        affine_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, x.numel())
        return y
